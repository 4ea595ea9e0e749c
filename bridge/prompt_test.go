package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"
)

// promptOptions are of a prompt that has no state root to be kept.
func promptOptions(t *testing.T, s fakeScript) PromptOptions {
	o := fakeOptions(t, s)
	o.StateRoot = ""
	return PromptOptions{Bridge: o, Agent: AgentOptions{Model: "m-1", Local: &LocalOptions{Dir: t.TempDir()}}}
}

// expectNothingLeft checks that the bridge was asked to stop, and that its state
// root is gone.
func expectNothingLeft(t *testing.T, record string) {
	t.Helper()
	if len(recorded(t, record, "Shutdown")) != 1 {
		t.Error("the bridge was not asked to stop")
	}
	var args []string
	if err := json.Unmarshal([]byte(recorded(t, record, "arguments")[0]), &args); err != nil {
		t.Fatal(err)
	}
	root := args[slices.Index(args, "--state-root")+1]
	if _, err := os.Stat(root); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the state root %s is still there: %v", root, err)
	}
}

func TestPrompt(t *testing.T) {
	t.Parallel()
	record := recordFile(t)
	o := promptOptions(t, fakeScript{Record: record, Run: append([]fakeStep{assistantText("4")}, finished("42")...)})
	o.Send.Steps, o.Images = true, []Image{{Data: []byte("x"), MIMEType: "image/png"}}
	result, err := Prompt(testContext(t), "What is six times seven?", o)
	if err != nil || result.Text != "42" || result.Status != RunFinished {
		t.Errorf("result = %+v, %v", result, err)
	}
	if got := recorded(t, record, "Send"); len(got) != 1 ||
		got[0] != `{"agentId":"agent-1","message":{"text":"What is six times seven?","images":[{"data":{"data":"eA==","mimeType":"image/png"}}]},"options":{"enableSteps":true}}` {
		t.Errorf("Send got %s", got)
	}
	if got := recorded(t, record, "CloseAgent"); len(got) != 1 {
		t.Errorf("CloseAgent was called %d times", len(got))
	}
	expectNothingLeft(t, record)
}

func TestPromptFails(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		script fakeScript
		closed int // calls of CloseAgent
		check  func(Result, error) bool
	}{
		{"in its run", fakeScript{Run: []fakeStep{message("status", "status", "ERROR", "message", "no more tokens"), {Result: "ERROR"}, {Done: true}}}, 1, func(r Result, err error) bool {
			var failed *RunFailedError
			return errors.As(err, &failed) && failed.Result.Reason == "no more tokens" && r.Status == RunError
		}},
		{"to make the agent", fakeScript{Fail: &fakeFailure{Method: "CreateAgent", Code: connect.CodeInvalidArgument, Bare: true}}, 0, func(_ Result, err error) bool {
			return errors.Is(err, ErrInvalid)
		}},
		{"to send", fakeScript{Fail: &fakeFailure{Method: "Send", Code: connect.CodeInvalidArgument, Bare: true}}, 1, func(_ Result, err error) bool {
			return errors.Is(err, ErrInvalid)
		}},
		{"to close the agent, which spoils nothing", fakeScript{
			Run: finished("ok"), Fail: &fakeFailure{Method: "CloseAgent", Code: connect.CodeInternal, Bare: true},
		}, 1, func(r Result, err error) bool { return err == nil && r.Text == "ok" }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.script.Record = recordFile(t)
			result, err := Prompt(testContext(t), "hello", promptOptions(t, tt.script))
			if !tt.check(result, err) {
				t.Errorf("result = %+v, error = %v", result, err)
			}
			if got := recorded(t, tt.script.Record, "CloseAgent"); len(got) != tt.closed {
				t.Errorf("CloseAgent was called %d times", len(got))
			}
			expectNothingLeft(t, tt.script.Record)
		})
	}
}

// Who gives a prompt up leaves no run behind, not even at a bridge that goes on.
func TestPromptGivenUp(t *testing.T) {
	t.Parallel()
	record := recordFile(t)
	running := fakeScript{Record: record, Run: []fakeStep{
		message("status", "status", "RUNNING"), {Stderr: "the run is under way"}, {Cancelled: true}, {Result: "CANCELLED"}, {Done: true},
	}}
	o := promptOptions(t, running)
	ctx, cancel := context.WithCancel(testContext(t))
	defer cancel()
	o.Bridge.Logger = slog.New(slog.NewTextHandler(writer(func(p []byte) (int, error) {
		if bytes.Contains(p, []byte("the run is under way")) {
			cancel()
		}
		return len(p), nil
	}), &slog.HandlerOptions{Level: slog.LevelDebug}))
	if _, err := Prompt(ctx, "hello", o); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v", err)
	}
	for _, method := range []string{"CancelRun", "CloseAgent"} {
		if got := recorded(t, record, method); len(got) != 1 {
			t.Errorf("%s was called %d times", method, len(got))
		}
	}
	expectNothingLeft(t, record)
}

func TestPromptWithoutABridge(t *testing.T) {
	t.Parallel()
	if _, err := Prompt(testContext(t), "hello", PromptOptions{Bridge: Options{URL: "nowhere"}}); err == nil {
		t.Error("no error")
	}
}

func TestOutlast(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		longer, stop := outlast(ctx, time.Minute)
		defer stop()
		cancel()
		began := time.Now()
		<-longer.Done()
		if took := time.Since(began); took != time.Minute {
			t.Errorf("it ended after %s", took)
		}
		quick, stop := outlast(ctx, time.Minute)
		stop()
		<-quick.Done() // and nothing is left of it, or the bubble would not end
	})
}

func TestPromptDoesNotWaitForEverForATool(t *testing.T) {
	t.Parallel()
	started, release := make(chan struct{}), make(chan struct{})
	defer close(release)
	stuck := Tool{Name: "stuck", Call: func(context.Context, ToolInvocation) (ToolResult, error) {
		close(started)
		<-release
		return ToolResult{}, nil
	}}
	o := promptOptions(t, fakeScript{Run: append([]fakeStep{
		message("status", "status", "RUNNING"), {Call: &fakeCall{Tool: "stuck", ID: "call-1"}},
	}, finished("never")...)})
	o.Bridge.StopGrace, o.Agent.CustomTools = 50*time.Millisecond, []Tool{stuck}
	ctx, cancel := context.WithCancel(testContext(t))
	go func() {
		<-started
		cancel()
	}()
	if _, err := Prompt(ctx, "Go.", o); !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
}
