package bridge

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

const finishedStatus = sdkv1.RunLifecycleStatus_RUN_LIFECYCLE_STATUS_FINISHED

func TestStall(t *testing.T) {
	t.Parallel()
	status := func(t *testing.T) *frame {
		return sdkMessage(t, "status", map[string]any{"run_id": "r", "status": "RUNNING"})
	}
	tool := func(t *testing.T, state string) *frame {
		return sdkMessage(t, "tool_call", map[string]any{"run_id": "r", "call_id": "c", "status": state})
	}
	result := func(t *testing.T) *frame { return wireFrame(t, resultEnvelope(finishedStatus, "text")) }
	then := func(after time.Duration, f *frame) timedFrame { return timedFrame{after: after, frame: f} }
	keepalives := func(n int) []timedFrame {
		var all []timedFrame
		for range n {
			all = append(all, then(15*time.Second, new(frame)))
		}
		return all
	}
	const minute = time.Minute
	tests := []struct {
		name     string
		send     func(t *testing.T) []timedFrame
		observed func(t *testing.T) [][]timedFrame
		gets     []answer
		took     time.Duration
		stall    bool
		status   RunStatus
		calls    map[string]int
	}{
		{
			name: "silence, and the record brings nothing either", gets: running(),
			send:     func(t *testing.T) []timedFrame { return []timedFrame{then(0, status(t))} },
			observed: func(*testing.T) [][]timedFrame { return make([][]timedFrame, 20) },
			took:     10 * minute, stall: true, calls: map[string]int{"ping": 5, "observe ": 4, "cancel": 1},
		},
		{
			name: "silence, and the record goes on", gets: running(),
			send: func(t *testing.T) []timedFrame { return []timedFrame{then(0, status(t))} },
			observed: func(t *testing.T) [][]timedFrame {
				return [][]timedFrame{{then(0, status(t)), then(minute, tool(t, "running")), then(9*minute, result(t)), {}}}
			},
			took: 12 * minute, status: RunFinished, calls: map[string]int{"ping": 1, "observe ": 1, "cancel": 0},
		},
		{
			name: "silence from the start", gets: running(),
			send: func(*testing.T) []timedFrame { return nil },
			took: 2*minute + 375*time.Millisecond, stall: true, calls: map[string]int{"list": 3, "ping": 0, "cancel": 0},
		},
		{
			name: "silence, but the run has ended and cannot be observed", gets: []answer{{result: Result{Status: RunFinished}}},
			send: func(t *testing.T) []timedFrame { return []timedFrame{then(0, status(t))} },
			took: 2 * minute, status: RunFinished, calls: map[string]int{"observe ": 1, "cancel": 0},
		},
		{
			name: "silence, but the record knows the end", gets: []answer{{result: Result{Status: RunFinished}}},
			send:     func(t *testing.T) []timedFrame { return []timedFrame{then(0, status(t))} },
			observed: func(t *testing.T) [][]timedFrame { return [][]timedFrame{{then(0, status(t)), then(0, result(t)), {}}} },
			took:     2 * minute, status: RunFinished, calls: map[string]int{"observe ": 1, "cancel": 0},
		},
		{
			name: "just in time",
			send: func(t *testing.T) []timedFrame {
				return []timedFrame{then(0, status(t)), then(2*minute-1, status(t)), then(2*minute-1, result(t)), {}}
			},
			took: 4*minute - 2, status: RunFinished, calls: map[string]int{"ping": 0},
		},
		{
			name: "keepalives count",
			send: func(t *testing.T) []timedFrame {
				return append(append([]timedFrame{then(0, status(t))}, keepalives(39)...), then(time.Second, result(t)), timedFrame{})
			},
			took: 39*15*time.Second + time.Second, status: RunFinished, calls: map[string]int{"ping": 0},
		},
		{
			name: "nothing but keepalives", gets: running(),
			send: func(t *testing.T) []timedFrame {
				return append([]timedFrame{then(0, status(t))}, keepalives(100)...)
			},
			took: 10 * minute, stall: true, calls: map[string]int{"ping": 1, "observe ": 0, "cancel": 1},
		},
		{
			name: "nothing but keepalives after the end", gets: []answer{{result: Result{Status: RunFinished}}},
			send: func(t *testing.T) []timedFrame {
				return append([]timedFrame{then(0, status(t))}, keepalives(100)...)
			},
			observed: func(t *testing.T) [][]timedFrame {
				return [][]timedFrame{{then(0, status(t)), then(minute, result(t)), {}}}
			},
			took: 11 * minute, status: RunFinished, calls: map[string]int{"observe ": 1, "cancel": 0},
		},
		{
			name: "a tool works in silence",
			send: func(t *testing.T) []timedFrame {
				return []timedFrame{then(0, tool(t, "running")), then(9*minute, tool(t, "completed")), then(minute, result(t)), {}}
			},
			took: 10 * minute, status: RunFinished, calls: map[string]int{"ping": 0},
		},
		{
			name: "a tool never ends", gets: running(),
			send: func(t *testing.T) []timedFrame { return []timedFrame{then(0, tool(t, "running"))} },
			took: 10 * minute, stall: true, calls: map[string]int{"ping": 1, "observe ": 0, "cancel": 1},
		},
		{
			name: "silence after a tool", gets: running(),
			send: func(t *testing.T) []timedFrame {
				return []timedFrame{then(0, tool(t, "running")), then(minute, tool(t, "error"))}
			},
			// The one observation that the bridge lets be begins again with the run.
			observed: func(t *testing.T) [][]timedFrame {
				return [][]timedFrame{{then(0, tool(t, "running")), then(0, tool(t, "error"))}}
			},
			took: 5*minute + 125*time.Millisecond, stall: true, calls: map[string]int{"ping": 2, "observe ": 2, "wait": 1, "cancel": 1},
		},
		{
			name: "no end after the result",
			send: func(t *testing.T) []timedFrame { return []timedFrame{then(0, result(t))} },
			took: farewell, status: RunFinished, calls: map[string]int{"ping": 0},
		},
		{
			name: "done without a result", gets: []answer{{result: Result{Status: RunExpired}}},
			send: func(t *testing.T) []timedFrame {
				return []timedFrame{then(0, status(t)), then(0, wireFrame(t, doneEnvelope()))}
			},
			took: farewell, status: RunExpired, calls: map[string]int{"observe ": 1, "wait": 1, "get": 1},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				calls := &scriptedCalls{ctx: ctx, sends: [][]timedFrame{tt.send(t)}, gets: tt.gets}
				if tt.observed != nil {
					calls.observations = tt.observed(t)
				}
				run := newScriptedRun(calls)
				released := false
				run.release = func() { released = true }
				began := time.Now()
				run.follow(calls.send)
				result, err := run.Wait(ctx)
				if errors.Is(err, ErrStalled) != tt.stall || (err != nil) != tt.stall || result.Status != tt.status {
					t.Errorf("wait = %+v, %v, want a stall: %t", result, err, tt.stall)
				}
				if took := time.Since(began); took != tt.took {
					t.Errorf("it took %s, want %s", took, tt.took)
				}
				for call, want := range tt.calls {
					if got := calls.count(call); got != want {
						t.Errorf("%d calls of %q, want %d; all: %q", got, call, want, calls.log)
					}
				}
				if !released {
					t.Error("the agent is still taken")
				}
			})
		})
	}
}

// A bridge that answers nothing at all is an error of its own, and ended if it is
// ours; nobody waits for it longer than for one call.
func TestDeadBridge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		calls := &scriptedCalls{
			ctx:       t.Context(),
			sends:     [][]timedFrame{{{frame: sdkMessage(t, "status", map[string]any{"run_id": "r"})}}},
			pingTakes: time.Minute, pingErr: &Error{Op: "ping", Code: "deadline_exceeded"},
		}
		run := newScriptedRun(calls)
		began := time.Now()
		run.follow(calls.send)
		_, err := run.Wait(t.Context())
		if !errors.Is(err, ErrStalled) || !errors.Is(err, ErrUnavailable) || ClassOf(err) != ClassRetry {
			t.Errorf("wait = %v, want ErrStalled and ErrUnavailable", err)
		}
		if took := time.Since(began); took != 3*time.Minute {
			t.Errorf("it took %s", took)
		}
		if calls.count("condemn") != 1 || calls.count("cancel") != 0 || calls.count("observe ") != 0 {
			t.Errorf("calls = %q", calls.log)
		}
	})
}

// However long a tool of this program takes, the run is not given up for it; the
// budgets begin when it is done.
func TestOwnToolMayTakeLong(t *testing.T) {
	t.Parallel()
	for _, open := range []bool{true, false} { // whether the bridge tells of the call
		synctest.Test(t, func(t *testing.T) {
			script := []timedFrame{{frame: sdkMessage(t, "status", map[string]any{"run_id": "r", "status": "RUNNING"})}}
			if open {
				script = append(script, timedFrame{frame: sdkMessage(t, "tool_call", map[string]any{"call_id": "c", "status": "running"})})
			}
			calls := &scriptedCalls{ctx: t.Context(), sends: [][]timedFrame{script}, gets: running()}
			run := newScriptedRun(calls)
			began := time.Now()
			run.follows.watch.working = func() bool { return time.Since(began) < 5*time.Hour }
			run.follow(calls.send)
			_, err := run.Wait(t.Context())
			if took := time.Since(began); !errors.Is(err, ErrStalled) || took < 5*time.Hour || took > 5*time.Hour+10*time.Minute {
				t.Errorf("wait = %v after %s, want ErrStalled when the tool was done for a while", err, took)
			}
		})
	}
}

// A run is read to its end though nobody reads its events; what was lost is said.
func TestUnreadEvents(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const events, kept = 100, 10
		script := make([]timedFrame, events, events+2)
		for i := range script {
			script[i].frame = sdkMessage(t, "thinking", map[string]any{"run_id": "r", "text": strconv.Itoa(i)})
		}
		script = append(script, timedFrame{frame: wireFrame(t, resultEnvelope(finishedStatus, ""))}, timedFrame{})
		calls := &scriptedCalls{ctx: t.Context(), sends: [][]timedFrame{script}}
		run := newScriptedRun(calls)
		run.events.maxEvents = kept
		run.follow(calls.send)
		got, err := received(t, run)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 1+kept || got[0] != (Gap{Events: events - kept}) || got[1] != (Thinking{Text: strconv.Itoa(events - kept)}) {
			t.Errorf("events = %v, want a gap of %d and the last %d", got, events-kept, kept)
		}
	})
}

func TestBufferIsBoundedInBytes(t *testing.T) {
	t.Parallel()
	b := newEventBuffer()
	b.maxBytes = 10
	for i, size := range []int{4, 4, 12, 1} {
		b.push(Event{Offset: strconv.Itoa(i), raw: make(object, size)})
	}
	b.close()
	var got []string
	for {
		e, ok, err := b.next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		if gap, ok := e.Payload.(Gap); ok {
			got = append(got, "gap of "+strconv.Itoa(gap.Events))
		} else {
			got = append(got, e.Offset)
		}
	}
	if len(got) != 2 || got[0] != "gap of 3" || got[1] != "3" {
		t.Errorf("events = %q", got)
	}
}

// A reader that is a little behind all the time costs no memory that grows.
func TestBufferIsReused(t *testing.T) {
	t.Parallel()
	b := newEventBuffer()
	for i := range 100_000 {
		b.push(Event{Offset: strconv.Itoa(i)})
		if i < 10 {
			continue
		}
		if e, ok, err := b.next(t.Context()); !ok || err != nil || e.Offset != strconv.Itoa(i-10) {
			t.Fatalf("event %d = %+v, %t, %v", i-10, e, ok, err)
		}
	}
	if cap(b.events) > 100 {
		t.Errorf("the buffer has grown to %d events", cap(b.events))
	}
}
