package bridge

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

func send(t *testing.T, a *Agent) *Run {
	t.Helper()
	run, err := a.Send(testContext(t), Message{Text: "go"}, SendOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func TestRun(t *testing.T) {
	t.Parallel()
	steps := []fakeStep{
		{Keepalive: 2},
		{Message: map[string]any{"type": "status", "status": "RUNNING"}, Offset: "1"}, // before system, as released bridges do
		message("system", "subtype", "init", "model", "m-1", "tools", []any{"read", "shell"}),
		{Unknown: true},
		message("invented", "x", 1),
		message("thinking", "text", "hm", "thinking_duration_ms", 1500),
		message("tool_call", "call_id", "c1", "name", "read", "status", "running", "args", map[string]any{"path": "<a>"}),
		{Keepalive: 1},
		message("tool_call", "call_id", "c1", "name", "read", "status", "completed", "result", "ok", "truncated", map[string]any{"result": true}),
		assistantText("Hel"),
		assistantText("lo"),
		message("usage", "usage", map[string]any{"inputTokens": 3, "outputTokens": 4, "totalTokens": 7}),
		{Result: "FINISHED", Text: "Hello"},
		{Done: true},
	}
	c := newClient(t, fakeOptions(t, fakeScript{Run: steps}))
	ctx := testContext(t)
	run := send(t, newAgent(t, c))
	if run.ID() != "run-1" {
		t.Errorf("id = %q", run.ID())
	}
	var got []Payload
	for e, err := range run.Events(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if e.RunID != "run-1" || e.AgentID != "agent-1" || len(e.Raw()) == 0 {
			t.Errorf("event = %+v", e)
		}
		if _, ok := e.Payload.(Status); ok && e.Offset != "1" {
			t.Errorf("offset = %q, want 1", e.Offset)
		}
		got = append(got, e.Payload)
	}
	want := []Payload{
		Status{Status: RunRunning},
		System{Subtype: "init", Model: "m-1", Tools: []string{"read", "shell"}},
		Unknown{Type: "invented"},
		Thinking{Text: "hm", Duration: 1500 * time.Millisecond},
		ToolCall{CallID: "c1", Name: "read", Status: ToolRunning, Args: []byte(`{"path":"<a>"}`)},
		ToolCall{CallID: "c1", Name: "read", Status: ToolCompleted, Result: []byte(`"ok"`), ResultTruncated: true},
		Assistant{Text: "Hel"}, Assistant{Text: "lo"},
		Tokens{Usage: Usage{InputTokens: 3, OutputTokens: 4, TotalTokens: 7}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("events =\n%+v\nwant\n%+v", got, want)
	}
	result, err := run.Wait(ctx)
	if err != nil {
		t.Fatal(err)
	}
	wantResult := Result{
		RunID: "run-1", AgentID: "agent-1", Status: RunFinished, Text: "Hello", Model: "m-1",
		Duration: 1500 * time.Millisecond, Usage: Usage{InputTokens: 3, OutputTokens: 4, TotalTokens: 7},
	}
	if result != wantResult {
		t.Errorf("result = %+v\nwant %+v", result, wantResult)
	}
	if text, err := run.Text(ctx); err != nil || text != "Hello" {
		t.Errorf("text = %q, %v", text, err)
	}
	if err := run.Cancel(ctx); err != nil {
		t.Errorf("cancel after the end = %v, want nothing", err)
	}
}

func TestFailedRunIsAResult(t *testing.T) {
	t.Parallel()
	c := newClient(t, fakeOptions(t, fakeScript{Run: []fakeStep{
		message("status", "status", "RUNNING", "message", "working"),
		message("status", "status", "ERROR", "message", "the model refused"),
		{Result: "ERROR", Code: "model_error"}, {Done: true},
	}}))
	ctx := testContext(t)
	run := send(t, newAgent(t, c))
	result, err := run.Wait(ctx)
	if err != nil {
		t.Fatalf("wait = %v: a failed run is not a failed call", err)
	}
	if result.Status != RunError || result.Reason != "the model refused" || result.ErrorCode != "model_error" {
		t.Errorf("result = %+v", result)
	}
	var failed *RunFailedError
	if _, err := run.Text(ctx); !errors.As(err, &failed) || !strings.Contains(err.Error(), "the model refused") {
		t.Errorf("text = %v, want a RunFailedError with the reason", err)
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	record := recordFile(t)
	c := newClient(t, fakeOptions(t, fakeScript{Record: record, Run: []fakeStep{
		message("status", "status", "RUNNING"), {Cancelled: true}, message("status", "status", "CANCELLED"), {Result: "CANCELLED"}, {Done: true},
	}}))
	ctx := testContext(t)
	run := send(t, newAgent(t, c))
	if err := run.Cancel(ctx); err != nil {
		t.Fatal(err)
	}
	if result, err := run.Wait(ctx); err != nil || result.Status != RunCancelled {
		t.Errorf("wait = %+v, %v; want cancelled", result, err)
	}
	if got := recorded(t, record, "CancelRun"); len(got) != 1 || got[0] != `{"runId":"run-1","agentId":"agent-1"}` {
		t.Errorf("CancelRun got %s", got)
	}
}

// A context that has ended ends the wait, not the run.
func TestContextDoesNotCancelARun(t *testing.T) {
	t.Parallel()
	record := recordFile(t)
	c := newClient(t, fakeOptions(t, fakeScript{Record: record, Run: []fakeStep{
		message("status", "status", "RUNNING"), {Cancelled: true}, {Result: "CANCELLED"}, {Done: true},
	}}))
	a := newAgent(t, c)
	ctx, cancel := context.WithCancel(testContext(t))
	run, err := a.Send(ctx, Message{Text: "go"}, SendOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range run.Events(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		break
	}
	cancel()
	for _, err := range run.Events(ctx) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("events = %v, want context.Canceled", err)
		}
	}
	if len(recorded(t, record, "CancelRun")) != 0 {
		t.Error("the run was cancelled")
	}
	if err := run.Cancel(testContext(t)); err != nil {
		t.Fatal(err)
	}
	if _, err := run.Wait(testContext(t)); err != nil {
		t.Error(err)
	}
}

// Whoever gives up before the run has a name could never cancel it.
func TestAbandonedRunIsCancelled(t *testing.T) {
	t.Parallel()
	record := recordFile(t)
	c := newClient(t, fakeOptions(t, fakeScript{Record: record, Run: []fakeStep{
		{Keepalive: 1}, {Cancelled: true}, message("status", "status", "RUNNING"), {Cancelled: true}, {Result: "CANCELLED"}, {Done: true},
	}}))
	a := newAgent(t, c)
	ctx, cancel := context.WithCancel(testContext(t))
	defer cancel()
	sent := make(chan error, 1)
	go func() {
		_, err := a.Send(ctx, Message{Text: "go"}, SendOptions{})
		sent <- err
	}()
	waitFor(t, "the send to arrive", func() bool { return len(recorded(t, record, "Send")) == 1 })
	cancel()
	if err := <-sent; !errors.Is(err, context.Canceled) {
		t.Fatalf("send = %v, want context.Canceled", err)
	}
	if err := c.CancelRun(testContext(t), "agent-1", "none"); err != nil { // lets the fake name the run
		t.Fatal(err)
	}
	waitFor(t, "the run to be cancelled", func() bool { return len(recorded(t, record, "CancelRun")) == 2 })
	waitFor(t, "the agent to be free", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return len(c.busy) == 0
	})
}

func TestOneRunPerAgent(t *testing.T) {
	t.Parallel()
	c := newClient(t, fakeOptions(t, fakeScript{Run: []fakeStep{
		message("status", "status", "RUNNING"), {Cancelled: true}, {Result: "CANCELLED"}, {Done: true},
	}}))
	ctx := testContext(t)
	a := newAgent(t, c)
	again, err := c.Agents().Resume(ctx, a.ID(), testAgent(t)) // another handle of the same agent
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		run := send(t, a)
		for _, busy := range []*Agent{a, again} {
			if _, err := busy.Send(ctx, Message{Text: "x"}, SendOptions{Force: true}); !errors.Is(err, ErrAgentBusy) {
				t.Errorf("second send = %v, want ErrAgentBusy", err)
			}
		}
		if err := run.Cancel(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := run.Wait(ctx); err != nil { // after it, the next send must be let in at once
			t.Fatal(err)
		}
	}
}

func TestConcurrentRunsAreBounded(t *testing.T) {
	t.Parallel()
	o := fakeOptions(t, fakeScript{Run: []fakeStep{
		message("status", "status", "RUNNING"), {Cancelled: true}, {Result: "CANCELLED"}, {Done: true},
	}})
	o.MaxConcurrentRuns = 1
	c := newClient(t, o)
	ctx := testContext(t)
	first := send(t, newAgent(t, c))
	options := testAgent(t)
	options.ID = "agent-2"
	other, err := c.Agents().Create(ctx, options)
	if err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	if _, err := other.Send(short, Message{Text: "x"}, SendOptions{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("send beyond the bound = %v, want context.DeadlineExceeded", err)
	}
	sent := make(chan *Run, 1)
	go func() {
		run, err := other.Send(ctx, Message{Text: "x"}, SendOptions{})
		if err != nil {
			t.Error(err)
		}
		sent <- run
	}()
	if err := first.Cancel(ctx); err != nil {
		t.Fatal(err)
	}
	if run := <-sent; run == nil || run.Cancel(ctx) != nil {
		t.Error("the waiting run did not start")
	}
}

// A stream that breaks while the bridge lives does not lose the result.
func TestBrokenStream(t *testing.T) {
	t.Parallel()
	start := message("status", "status", "RUNNING", "message", "at work")
	t.Run("the run goes on", func(t *testing.T) {
		t.Parallel()
		c := newClient(t, fakeOptions(t, fakeScript{Run: []fakeStep{start, {Break: true}}, Outcome: "FINISHED"}))
		result, err := send(t, newAgent(t, c)).Wait(testContext(t))
		if err != nil || result.Status != RunFinished || result.Text != "waited for" || result.RunID != "run-1" || result.Reason != "at work" {
			t.Errorf("wait = %+v, %v", result, err)
		}
	})
	t.Run("the run is in the record only", func(t *testing.T) {
		t.Parallel()
		c := newClient(t, fakeOptions(t, fakeScript{
			Run: []fakeStep{start, {Done: true}}, Outcome: "EXPIRED",
			Fail: &fakeFailure{Method: "WaitLiveRun", Code: 5, Bare: true},
		}))
		result, err := send(t, newAgent(t, c)).Wait(testContext(t))
		if err != nil || result.Status != RunExpired || result.Text != "looked up" {
			t.Errorf("wait = %+v, %v", result, err)
		}
	})
	t.Run("nobody knows", func(t *testing.T) {
		t.Parallel()
		record := recordFile(t)
		c := newClient(t, fakeOptions(t, fakeScript{Record: record, Run: []fakeStep{start, {Break: true}}}))
		run := send(t, newAgent(t, c))
		var e *Error
		if _, err := run.Wait(testContext(t)); !errors.As(err, &e) || e.Op != "send" {
			t.Errorf("wait = %v, want the *Error of the stream", err)
		}
		var last error
		for _, err := range run.Events(testContext(t)) {
			last = err
		}
		if !errors.As(last, &e) {
			t.Errorf("the events end with %v, want the *Error of the stream", last)
		}
		if len(recorded(t, record, "CancelRun")) != 1 {
			t.Error("a run that nobody follows was not cancelled")
		}
	})
	t.Run("nothing came", func(t *testing.T) {
		t.Parallel()
		c := newClient(t, fakeOptions(t, fakeScript{}))
		if _, err := newAgent(t, c).Send(testContext(t), Message{Text: "x"}, SendOptions{}); err == nil {
			t.Error("a run that never began is no error")
		}
	})
}

func TestCloseEndsRuns(t *testing.T) {
	t.Parallel()
	c := newClient(t, fakeOptions(t, fakeScript{Run: []fakeStep{message("status", "status", "RUNNING"), {Hang: true}}}))
	run := send(t, newAgent(t, c))
	if err := c.Close(testContext(t)); err != nil {
		t.Fatal(err)
	}
	if _, err := run.Wait(testContext(t)); !errors.Is(err, ErrClosed) {
		t.Errorf("wait = %v, want ErrClosed", err)
	}
}
