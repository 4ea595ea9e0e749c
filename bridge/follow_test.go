package bridge

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/types/known/structpb"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// scriptedFrames is a stream whose messages come at given times.
type scriptedFrames struct {
	ctx     context.Context
	script  []timedFrame
	current *sdkv1.RunStreamMessage
	err     error
}

type timedFrame struct {
	after time.Duration
	frame *sdkv1.RunStreamMessage // nil ends the stream
}

func (s *scriptedFrames) Receive() bool {
	after, frame := time.Hour*24*365, (*sdkv1.RunStreamMessage)(nil)
	if len(s.script) > 0 {
		after, frame = s.script[0].after, s.script[0].frame
		s.script = s.script[1:]
	}
	select {
	case <-time.After(after):
		s.current = frame
		return frame != nil
	case <-s.ctx.Done():
		s.err = s.ctx.Err()
		return false
	}
}

func (s *scriptedFrames) Msg() *sdkv1.RunStreamMessage { return s.current }
func (s *scriptedFrames) Err() error                   { return s.err }
func (s *scriptedFrames) Close() error                 { return nil }

type scriptedCalls struct {
	ctx       context.Context
	ended     Result // what the bridge knows of the run; not ended when zero
	cancelled int
}

func (s *scriptedCalls) life() context.Context { return s.ctx }

func (s *scriptedCalls) cancelRun(context.Context, string, string) error {
	s.cancelled++
	return nil
}

func (s *scriptedCalls) outcome(context.Context, string, string, bool) (Result, error) {
	if s.ended.Status.Ended() {
		return s.ended, nil
	}
	return Result{}, errors.New("still running")
}

func (s *scriptedCalls) failure(_ context.Context, _ string, err error) error { return err }

func frame(t *testing.T, kind string, body map[string]any) *sdkv1.RunStreamMessage {
	t.Helper()
	body["run_id"] = "r"
	m, err := structpb.NewStruct(body)
	if err != nil {
		t.Fatal(err)
	}
	return &sdkv1.RunStreamMessage{Envelope: &sdkv1.RunStreamMessage_SdkMessage{SdkMessage: &sdkv1.SdkMessage{Type: kind, Message: m}}}
}

func TestStall(t *testing.T) {
	t.Parallel()
	status := func(t *testing.T) *sdkv1.RunStreamMessage {
		return frame(t, "status", map[string]any{"status": "RUNNING"})
	}
	tool := func(t *testing.T, state string) *sdkv1.RunStreamMessage {
		return frame(t, "tool_call", map[string]any{"call_id": "c", "status": state})
	}
	keepalives := func(n int) []timedFrame {
		var all []timedFrame
		for range n {
			all = append(all, timedFrame{15 * time.Second, new(sdkv1.RunStreamMessage)})
		}
		return all
	}
	result := &sdkv1.RunStreamMessage{Envelope: &sdkv1.RunStreamMessage_Result{Result: &sdkv1.RunStreamResult{
		RunId: "r", Status: sdkv1.RunLifecycleStatus_RUN_LIFECYCLE_STATUS_FINISHED,
	}}}
	tests := []struct {
		name   string
		script func(t *testing.T) []timedFrame
		known  Result
		took   time.Duration
		stall  bool
	}{
		{"silence", func(t *testing.T) []timedFrame { return []timedFrame{{0, status(t)}} }, Result{}, 2 * time.Minute, true},
		{"silence from the start", func(*testing.T) []timedFrame { return nil }, Result{}, 2 * time.Minute, true},
		{"silence, but the run has ended", func(t *testing.T) []timedFrame { return []timedFrame{{0, status(t)}} }, Result{Status: RunFinished}, 2 * time.Minute, false},
		{"just in time", func(t *testing.T) []timedFrame {
			return []timedFrame{{0, status(t)}, {2*time.Minute - 1, status(t)}, {2*time.Minute - 1, result}, {0, nil}}
		}, Result{}, 4*time.Minute - 2, false},
		{"keepalives count", func(t *testing.T) []timedFrame {
			return append(append([]timedFrame{{0, status(t)}}, keepalives(39)...), timedFrame{time.Second, result}, timedFrame{0, nil})
		}, Result{}, 39*15*time.Second + time.Second, false},
		{"nothing but keepalives", func(t *testing.T) []timedFrame {
			return append([]timedFrame{{0, status(t)}}, keepalives(100)...)
		}, Result{}, 10 * time.Minute, true},
		{"a tool works in silence", func(t *testing.T) []timedFrame {
			return []timedFrame{{0, tool(t, "running")}, {9 * time.Minute, tool(t, "completed")}, {time.Minute, result}, {0, nil}}
		}, Result{}, 10 * time.Minute, false},
		{"a tool never ends", func(t *testing.T) []timedFrame { return []timedFrame{{0, tool(t, "running")}} }, Result{}, 10 * time.Minute, true},
		{"silence after a tool", func(t *testing.T) []timedFrame {
			return []timedFrame{{0, tool(t, "running")}, {time.Minute, tool(t, "error")}}
		}, Result{}, 3 * time.Minute, true},
		{"no end after the result", func(*testing.T) []timedFrame { return []timedFrame{{0, result}} }, Result{}, farewell, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				calls := &scriptedCalls{ctx: ctx, ended: tt.known}
				released := false
				run := newRun("a", calls, func() { released = true }, 2*time.Minute, 10*time.Minute)
				began := time.Now()
				run.follow(func(ctx context.Context) (frames, error) {
					return &scriptedFrames{ctx: ctx, script: tt.script(t)}, nil
				})
				_, err := run.Wait(ctx)
				if errors.Is(err, ErrStalled) != tt.stall || (err != nil) != tt.stall {
					t.Errorf("wait = %v, want a stall: %t", err, tt.stall)
				}
				if took := time.Since(began); took != tt.took {
					t.Errorf("it took %s, want %s", took, tt.took)
				}
				if want := tt.stall && run.ID() != ""; (calls.cancelled == 1) != want {
					t.Errorf("cancelled %d times, want it: %t", calls.cancelled, want)
				}
				if !released {
					t.Error("the agent is still taken")
				}
			})
		})
	}
}

// A run is read to its end though nobody reads its events; what was lost is said.
func TestUnreadEvents(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const events, kept = 100, 10
		script := make([]timedFrame, events, events+1)
		for i := range script {
			script[i].frame = frame(t, "thinking", map[string]any{"text": strconv.Itoa(i)})
		}
		script = append(script, timedFrame{0, nil})
		calls := &scriptedCalls{ctx: t.Context(), ended: Result{Status: RunFinished}}
		run := newRun("a", calls, func() {}, time.Minute, time.Hour)
		run.events.maxEvents = kept
		run.follow(func(ctx context.Context) (frames, error) {
			return &scriptedFrames{ctx: ctx, script: script}, nil
		})
		var got []Payload
		for e, err := range run.Events(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if e.RunID != "r" {
				t.Errorf("event = %+v", e)
			}
			got = append(got, e.Payload)
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
	for _, raw := range []string{"1234", "1234", "123456789012", "1"} {
		b.push(Event{Raw: []byte(raw)})
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
			got = append(got, "gap of "+string(rune('0'+gap.Events)))
		} else {
			got = append(got, string(e.Raw))
		}
	}
	if len(got) != 2 || got[0] != "gap of 3" || got[1] != "1" {
		t.Errorf("events = %q", got)
	}
}
