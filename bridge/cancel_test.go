package bridge

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A cancelled run always ends, whatever has become of its stream.
func TestCancelledRunEnds(t *testing.T) {
	t.Parallel()
	named := func(t *testing.T) timedFrame {
		return timedFrame{frame: sdkMessage(t, "status", map[string]any{"run_id": "r", "status": "RUNNING"})}
	}
	tests := []struct {
		name string
		// stream is what Send brings after the first message; nothing for ever when empty.
		stream   []timedFrame
		observed [][]timedFrame
		gets     []answer
		die      bool // the bridge ends a second later
		want     Result
		atMost   time.Duration
	}{
		{
			name: "the stream hangs", gets: running(),
			want: Result{Status: RunCancelled, Reason: "cancelled; the bridge did not confirm the end"}, atMost: cancelPatience,
		},
		{
			name: "the stream hangs, but the record knows", gets: []answer{{result: Result{Status: RunFinished, Text: "done after all"}}},
			want: Result{Status: RunFinished, Text: "done after all"}, atMost: cancelPatience,
		},
		{
			name: "the stream breaks and nothing else works", stream: []timedFrame{{after: 2 * time.Second, err: errCut}}, gets: running(),
			want: Result{Status: RunCancelled, Reason: "cancelled; the bridge did not confirm the end"}, atMost: 3 * time.Second,
		},
		{
			name: "the stream breaks and the record has the end", stream: []timedFrame{{after: 2 * time.Second, err: errCut}},
			observed: [][]timedFrame{{
				named(t),
				{frame: sdkMessage(t, "status", map[string]any{"run_id": "r", "status": "CANCELLED", "message": "as you wish"})},
				{frame: wireFrame(t, resultEnvelope(5, ""))}, {},
			}},
			want: Result{Status: RunCancelled, Reason: "as you wish"}, atMost: 2 * time.Second,
		},
		{
			name: "the bridge dies", die: true,
			want: Result{Status: RunCancelled, Reason: "cancelled; the bridge did not confirm the end"}, atMost: time.Second,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, die := context.WithCancelCause(t.Context())
				defer die(nil)
				calls := &scriptedCalls{
					ctx: ctx, sends: [][]timedFrame{append([]timedFrame{named(t)}, tt.stream...)},
					observations: tt.observed, gets: tt.gets,
				}
				run := newScriptedRun(calls)
				go run.follow(calls.send)
				run, err := run.await(ctx)
				if err != nil {
					t.Fatal(err)
				}
				tools := run.tools
				if err := run.Cancel(ctx); err != nil {
					t.Fatal(err)
				}
				if tools.Err() == nil {
					t.Error("the tools of the cancelled run go on")
				}
				began := time.Now()
				if tt.die {
					time.AfterFunc(time.Second, func() { die(&ProcessError{Op: "exit"}) })
				}
				result, err := run.Wait(t.Context())
				tt.want.RunID, tt.want.AgentID = "r", "a"
				if err != nil || result != tt.want {
					t.Errorf("wait = %+v, %v, want %+v", result, err, tt.want)
				}
				if took := time.Since(began); took > tt.atMost {
					t.Errorf("it took %s", took)
				}
			})
		})
	}
}

// A cancellation that the bridge has not accepted changes nothing.
func TestRefusedCancel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, die := context.WithCancelCause(t.Context())
		calls := &scriptedCalls{
			ctx: ctx, cancelErr: answered("failed_precondition", "RUN_NOT_CANCELLABLE"),
			sends: [][]timedFrame{{{frame: sdkMessage(t, "status", map[string]any{"run_id": "r"})}}},
		}
		run := newScriptedRun(calls)
		go run.follow(calls.send)
		run, err := run.await(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if err := run.Cancel(ctx); !errors.Is(err, ErrNotCancellable) {
			t.Errorf("cancel = %v, want ErrNotCancellable", err)
		}
		time.AfterFunc(time.Minute, func() { die(&ProcessError{Op: "exit"}) })
		var process *ProcessError
		if _, err := run.Wait(t.Context()); !errors.As(err, &process) {
			t.Errorf("wait = %v, want the end of the process", err)
		}
	})
}
