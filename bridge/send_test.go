package bridge

import (
	"context"
	"errors"
	"net"
	"reflect"
	"testing"
	"testing/synctest"
	"time"
)

// TestOneSendOneRun goes through the ways in which a Send breaks before it has
// brought anything of the run.
func TestOneSendOneRun(t *testing.T) {
	t.Parallel()
	refusedWith := func(err error) []timedFrame { return []timedFrame{{err: err}} }
	limited := func(after time.Duration) *Error {
		e := answered("resource_exhausted", "RATE_LIMIT_EXCEEDED")
		e.RetryAfter = after
		return e
	}
	dial := &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	tests := []struct {
		name  string
		sends func(t *testing.T) [][]timedFrame
		// observed is what the record says of a run that was found.
		observed bool
		unnamed  bool // its first message does not name it
		since    []string
		want     []error // nil for a run that is well
		not      []error
		sent     int
		listed   int
		took     time.Duration
	}{
		{
			name: "busy in the bridge, twice", sent: 3, took: 125*time.Millisecond + 250*time.Millisecond,
			sends: func(t *testing.T) [][]timedFrame {
				busy := refusedWith(answered("failed_precondition", "AGENT_BUSY"))
				return [][]timedFrame{busy, busy, wholeRun(t)}
			},
		},
		{
			name: "busy for ever", sent: 4, took: 875 * time.Millisecond, want: []error{ErrAgentBusy}, not: []error{ErrUnknownOutcome},
			sends: func(*testing.T) [][]timedFrame {
				busy := refusedWith(answered("failed_precondition", "AGENT_BUSY"))
				return [][]timedFrame{busy, busy, busy, busy, busy}
			},
		},
		{
			name: "a rate limit", sent: 2, took: 5 * time.Second,
			sends: func(t *testing.T) [][]timedFrame {
				return [][]timedFrame{refusedWith(limited(5 * time.Second)), wholeRun(t)}
			},
		},
		{
			name: "a rate limit for an hour", sent: 1, want: []error{ErrRateLimited},
			sends: func(t *testing.T) [][]timedFrame {
				return [][]timedFrame{refusedWith(limited(time.Hour)), wholeRun(t)}
			},
		},
		{
			name: "no room, after keepalives", sent: 2, took: 15*time.Second + 125*time.Millisecond,
			sends: func(t *testing.T) [][]timedFrame {
				return [][]timedFrame{{{after: 15 * time.Second, frame: new(frame)}, {err: answered("resource_exhausted", "")}}, wholeRun(t)}
			},
		},
		{
			name: "a message without the run's name, then no room", sent: 1, listed: 1, since: []string{"r"}, observed: true, unnamed: true,
			sends: func(t *testing.T) [][]timedFrame {
				return [][]timedFrame{{unnamed(t), {err: answered("resource_exhausted", "")}}, wholeRun(t)}
			},
		},
		{
			name: "invalid", sent: 1, want: []error{ErrInvalid}, not: []error{ErrUnknownOutcome},
			sends: func(t *testing.T) [][]timedFrame {
				return [][]timedFrame{refusedWith(answered("invalid_argument", "VALIDATION_ERROR")), wholeRun(t)}
			},
		},
		{
			name: "the bridge has an error, and no run", sent: 1, listed: 1, want: []error{ErrInternal}, not: []error{ErrUnknownOutcome},
			sends: func(t *testing.T) [][]timedFrame {
				return [][]timedFrame{refusedWith(answered("internal", "")), wholeRun(t)}
			},
		},
		{
			name: "the bridge has an error, and a run", sent: 1, listed: 1, since: []string{"r"}, observed: true,
			sends: func(t *testing.T) [][]timedFrame {
				return [][]timedFrame{refusedWith(answered("unavailable", "")), wholeRun(t)}
			},
		},
		{
			name: "the connection breaks, and the run appears", sent: 1, listed: 2, since: []string{"", "r"}, observed: true, took: 125 * time.Millisecond,
			sends: func(t *testing.T) [][]timedFrame { return [][]timedFrame{refusedWith(errCut), wholeRun(t)} },
		},
		{
			name: "the connection breaks, and no run appears", sent: 1, listed: 3, took: 375 * time.Millisecond,
			want:  []error{ErrUnknownOutcome},
			sends: func(t *testing.T) [][]timedFrame { return [][]timedFrame{refusedWith(errCut), wholeRun(t)} },
		},
		{
			name: "the stream ends in order", sent: 1, listed: 3, took: 375 * time.Millisecond,
			want:  []error{ErrUnknownOutcome},
			sends: func(t *testing.T) [][]timedFrame { return [][]timedFrame{refusedWith(nil), wholeRun(t)} },
		},
		{
			name: "the bridge is not reached", sent: 1, want: []error{ErrInternal}, not: []error{ErrUnknownOutcome},
			sends: func(t *testing.T) [][]timedFrame { return [][]timedFrame{refusedWith(dial), wholeRun(t)} },
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				calls := &scriptedCalls{ctx: ctx, sends: tt.sends(t), since: tt.since}
				if tt.observed {
					calls.observations = [][]timedFrame{wholeRun(t)}
				}
				if tt.unnamed {
					calls.observations[0][0] = unnamed(t)
				}
				run := newScriptedRun(calls)
				began := time.Now()
				go run.follow(calls.send)
				run, err := run.await(ctx)
				if err == nil {
					var got []Payload
					if got, err = received(t, run); !reflect.DeepEqual(got, []Payload{Thinking{Text: "one"}, Thinking{Text: "two"}}) {
						t.Errorf("events = %v", got)
					}
					if result, _ := run.Wait(ctx); result.Status != RunFinished || result.RunID != "r" || run.ID() != "r" {
						t.Errorf("result = %+v", result)
					}
				}
				if (err != nil) != (tt.want != nil) {
					t.Errorf("error = %v, want %v", err, tt.want)
				}
				for _, want := range tt.want {
					if !errors.Is(err, want) {
						t.Errorf("error = %v, want %v", err, want)
					}
				}
				for _, not := range tt.not {
					if errors.Is(err, not) {
						t.Errorf("error = %v is %v", err, not)
					}
				}
				if calls.count("send") != tt.sent || calls.count("list") != tt.listed {
					t.Errorf("calls = %q, want %d sends and %d lists", calls.log, tt.sent, tt.listed)
				}
				if took := time.Since(began); took != tt.took {
					t.Errorf("it took %s, want %s", took, tt.took)
				}
			})
		})
	}
}

// unnamed is the first message of wholeRun without the run's name.
func unnamed(t *testing.T) timedFrame {
	t.Helper()
	return timedFrame{frame: sdkMessage(t, "thinking", map[string]any{"text": "one"})}
}

// wholeRun is a run of two thoughts from its beginning to its end.
func wholeRun(t *testing.T) []timedFrame {
	t.Helper()
	thought := func(text string) timedFrame {
		return timedFrame{frame: sdkMessage(t, "thinking", map[string]any{"run_id": "r", "text": text})}
	}
	return []timedFrame{
		thought("one"), thought("two"),
		{frame: wireFrame(t, resultEnvelope(finishedStatus, "text"))}, {frame: wireFrame(t, doneEnvelope())}, {},
	}
}

// Whoever gives up while a refused Send waits for its next try has sent nothing.
func TestNobodyWaitsForTheNextTry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limited := answered("resource_exhausted", "RATE_LIMIT_EXCEEDED")
		limited.RetryAfter = 20 * time.Second
		calls := &scriptedCalls{ctx: t.Context(), sends: [][]timedFrame{{{err: limited}}, wholeRun(t)}}
		run := newScriptedRun(calls)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		go run.follow(calls.send)
		if _, err := run.await(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("send = %v, want context.DeadlineExceeded", err)
		}
		<-run.done
		time.Sleep(time.Minute) // of virtual time
		if calls.count("send") != 1 {
			t.Errorf("calls = %q", calls.log)
		}
	})
}

// A bridge that nobody serves any more is unavailable: no run can have come of it.
func TestSendReachesNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newCutBridge(t)
		b.cutSend = len(b.send)
		agent, end := pipedAgent(t, b.handler(), Options{})
		if err := b.check(agent); err != nil {
			t.Fatal(err)
		}
		agent.client.supervisor.last().http.CloseIdleConnections()
		agent.client.supervisor.last().http.Transport.(bearer).next.DialContext = func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
		}
		_, err := agent.Send(t.Context(), Message{Text: "go"}, SendOptions{})
		if !errors.Is(err, ErrUnavailable) || errors.Is(err, ErrUnknownOutcome) || ClassOf(err) != ClassRetry {
			t.Errorf("send = %v, want ErrUnavailable alone", err)
		}
		end()
	})
}

func TestUnknownOutcome(t *testing.T) {
	t.Parallel()
	e := &Error{Op: "send", Code: "unavailable", Message: "broken", doubtful: true}
	if !errors.Is(e, ErrUnknownOutcome) || !errors.Is(e, ErrUnavailable) || ClassOf(e) == ClassRetry {
		t.Errorf("%v has the class %v: it must not be repeated blindly", e, ClassOf(e))
	}
	if errors.Is(&Error{Code: "unavailable"}, ErrUnknownOutcome) {
		t.Error("an ordinary error is ErrUnknownOutcome")
	}
}
