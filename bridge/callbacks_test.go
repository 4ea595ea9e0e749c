package bridge

import (
	"context"
	"errors"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
)

// callsOf are the answers to the tools that a run called, in order.
func callsOf(t *testing.T, run *Run) []string {
	t.Helper()
	var all []string
	for e, err := range run.Events(testContext(t)) {
		if err != nil {
			t.Fatal(err)
		}
		if c, ok := e.Payload.(ToolCall); ok {
			all = append(all, string(c.Status)+" "+string(c.Result))
		}
	}
	return all
}

func withTools(t *testing.T, tools ...Tool) AgentOptions {
	o := testAgent(t)
	o.CustomTools = tools
	return o
}

func wantStrings(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s\ngot  %s\nwant %s", what, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

func TestToolsOfARun(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	seen := make(chan ToolInvocation, 8)
	count := Tool{Name: "count", Call: func(_ context.Context, c ToolInvocation) (ToolResult, error) {
		seen <- c
		return ToolResult{Value: calls.Add(1)}, nil
	}}
	record := recordFile(t)
	c := newClient(t, fakeOptions(t, fakeScript{Record: record, Run: append([]fakeStep{
		message("status", "status", "RUNNING"),
		{Call: &fakeCall{Tool: "count", ID: "call-1"}},
		{Call: &fakeCall{Tool: "count", ID: "call-1"}},
		{Call: &fakeCall{Tool: "count", ID: "call-2", Args: map[string]any{"x": 1}, Broken: true}},
		{Call: &fakeCall{Tool: "nothing", ID: "call-3"}},
		{Call: &fakeCall{Tool: "count", ID: "call-4", Token: "wrong"}},
	}, finished("ok")...)}))
	ctx := testContext(t)
	agent, err := c.Agents().Create(ctx, withTools(t, count))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Agents().Create(ctx, withTools(t, count)); err != nil {
		t.Fatal(err)
	}
	run := send(t, agent)
	wantStrings(t, "answers", callsOf(t, run),
		`completed {"value":1}`, `completed {"value":1}`, `completed {"value":2}`,
		`completed {"content":[{"text":"there is no tool \"nothing\"; there is count","type":"text"}],"isError":true}`,
		`error {"error":"unauthenticated: Unauthorized"}`)
	// The call and the run's name come over two connections, in any order.
	if first := <-seen; first.RunID != "" && first.RunID != run.ID() || first.AgentID != agent.ID() || first.CallID != "call-1" || string(first.Args) != "{}" {
		t.Errorf("the tool was called with %+v by run %s", first, run.ID())
	}
	if got := recorded(t, record, "SetToolCallback"); len(got) != 1 || !strings.Contains(got[0], c.callbacks.token) {
		t.Errorf("the bridge was told %d times where tools are: %s", len(got), got)
	}
	for _, line := range recorded(t, record, "arguments") {
		if strings.Contains(line, c.callbacks.token) {
			t.Errorf("the token is on the command line: %s", line)
		}
	}
}

// Each process has to be told anew; here as it starts.
func TestToolsOfTheNextGeneration(t *testing.T) {
	t.Parallel()
	record := recordFile(t)
	c := newClient(t, fakeOptions(t, fakeScript{Record: record, Run: append([]fakeStep{
		message("status", "status", "RUNNING"),
		{Call: &fakeCall{Tool: "echo", ID: "call-1", Args: map[string]any{"x": "y"}}},
	}, finished("ok")...)}))
	ctx := testContext(t)
	agent, err := c.Agents().Create(ctx, withTools(t, echoTool()))
	if err != nil {
		t.Fatal(err)
	}
	for generation := range uint64(3) {
		run := send(t, agent)
		var answers []string
		for e, err := range run.Events(ctx) {
			if err != nil {
				t.Fatal(err)
			}
			if call, ok := e.Payload.(ToolCall); ok {
				answers = append(answers, string(call.Result))
			}
		}
		killGeneration(t, c)
		if generation == 0 {
			wantStrings(t, "answers of the first generation", answers, `{"x":"y"}`)
		} else {
			// The id of the call is one of an earlier run, as no vendor's bridge would have it.
			if len(answers) != 1 || !strings.Contains(answers[0], "made before") {
				t.Errorf("generation %d was answered %q", generation+1, answers)
			}
		}
	}
	if c.Generation() != 3 {
		t.Errorf("there were %d generations", c.Generation())
	}
	if got := recorded(t, record, "SetToolCallback"); len(got) != 1 {
		t.Errorf("%d generations were told by a call: %s", len(got), got)
	}
	for i, env := range recorded(t, record, "environment") {
		told := strings.Contains(env, "CURSOR_SDK_TOOL_CALLBACK_URL=http://127.0.0.1:") && strings.Contains(env, "CURSOR_SDK_TOOL_CALLBACK_AUTH_TOKEN="+c.callbacks.token)
		if told != (i > 0) || strings.Contains(env, "STORE") {
			t.Errorf("generation %d has the environment %s", i+1, env)
		}
	}
}

// killGeneration kills the bridge that runs now and waits until the client knows.
func killGeneration(t *testing.T, c *Client) {
	t.Helper()
	exited := c.Exited()
	process, err := os.FindProcess(c.supervisor.last().process.pid())
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Kill(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-exited:
	case <-testContext(t).Done():
		t.Fatal("the end of the process was not noticed")
	}
}

func TestCancelEndsATool(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(c *Client, run *Run) error{
		"cancel":       func(_ *Client, run *Run) error { return run.Cancel(context.Background()) },
		"close client": func(c *Client, _ *Run) error { return c.Close(context.Background()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			called, ended := make(chan struct{}), make(chan error, 1)
			slow := Tool{Name: "slow", Call: func(ctx context.Context, _ ToolInvocation) (ToolResult, error) {
				close(called)
				<-ctx.Done()
				ended <- ctx.Err()
				return ToolResult{}, ctx.Err()
			}}
			c := newClient(t, fakeOptions(t, fakeScript{Run: []fakeStep{
				message("status", "status", "RUNNING"), {Call: &fakeCall{Tool: "slow", ID: "call-1"}}, {Cancelled: true}, {Result: "CANCELLED"}, {Done: true},
			}}))
			ctx := testContext(t)
			agent, err := c.Agents().Create(ctx, withTools(t, slow))
			if err != nil {
				t.Fatal(err)
			}
			run := send(t, agent)
			select {
			case <-called:
			case <-ctx.Done():
				t.Fatal("the tool was not called")
			}
			if err := stop(c, run); err != nil {
				t.Fatal(err)
			}
			select {
			case err := <-ended:
				if !errors.Is(err, context.Canceled) {
					t.Errorf("the tool's context ended with %v", err)
				}
			case <-ctx.Done():
				t.Fatal("the tool has not ended")
			}
			result, err := run.Wait(ctx)
			if name == "cancel" && (err != nil || result.Status != RunCancelled) || name != "cancel" && !errors.Is(err, ErrClosed) {
				t.Errorf("the run ended as %+v, %v", result, err)
			}
		})
	}
}

func TestToolsThatAreWrong(t *testing.T) {
	t.Parallel()
	record := recordFile(t)
	c := newClient(t, fakeOptions(t, fakeScript{Record: record}))
	ctx := testContext(t)
	if err := c.Ping(ctx); err != nil {
		t.Fatal(err)
	}
	for name, tools := range map[string][]Tool{
		"name":  {{Name: "no spaces", Call: noCall}},
		"twice": {{Name: "a", Call: noCall}, {Name: "a", Call: noCall}},
	} {
		if _, err := c.Agents().Create(ctx, withTools(t, tools...)); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: create = %v", name, err)
		}
		if err := c.offerTools(ctx, c.supervisor.last(), "a", tools); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: offer = %v", name, err)
		}
	}
	if got := recorded(t, record, "CreateAgent"); len(got) > 0 {
		t.Errorf("the bridge was asked for %s", got)
	}
}

func TestToolCallbackIsRefused(t *testing.T) {
	t.Parallel()
	script := fakeScript{Fail: &fakeFailure{Method: "SetToolCallback", Code: 12, Bare: true}} // unimplemented
	c := newClient(t, fakeOptions(t, script))
	_, err := c.Agents().Create(testContext(t), withTools(t, echoTool()))
	var refused *Error
	if !errors.As(err, &refused) || refused.Op != "offer tools" || refused.Code != "unimplemented" {
		t.Errorf("create = %v", err)
	}
}

func TestToolsOfAnAttachedBridge(t *testing.T) {
	t.Parallel()
	record := recordFile(t)
	fake := &fakeBridge{cancelled: make(chan struct{}, 4), known: map[string]bool{}, answered: map[string]int{}, script: fakeScript{
		Record: record, Run: append([]fakeStep{
			message("status", "status", "RUNNING"), {Call: &fakeCall{Tool: "echo", ID: "call-1", Args: map[string]any{"x": 1}}},
		}, finished("ok")...),
	}}
	server := httptest.NewServer(fake.handler())
	defer server.Close()
	c := newClient(t, Options{URL: server.URL, Token: fakeToken, APIKey: "k"})
	agent, err := c.Agents().Create(testContext(t), withTools(t, echoTool()))
	if err != nil {
		t.Fatal(err)
	}
	wantStrings(t, "answers", callsOf(t, send(t, agent)), `completed {"x":1}`)
	if got := recorded(t, record, "SetToolCallback"); len(got) != 1 {
		t.Errorf("the bridge was told %d times where tools are", len(got))
	}
}

func TestToolsOfABridgeElsewhere(t *testing.T) {
	t.Parallel()
	c := newClient(t, Options{URL: "http://192.0.2.1:9", Token: "t"})
	for root, here := range map[string]bool{
		"http://127.0.0.1:9": true, "http://127.9.9.9:9": true, "http://[::1]:9": true, "http://localhost:9": true,
		"http://[::ffff:127.0.0.1]:9": true, "http://192.0.2.1:9": false, "http://[2001:db8::1]:9": false, "://": false,
	} {
		if got := onThisMachine(testContext(t), root); got != here {
			t.Errorf("onThisMachine(%s) = %v", root, got)
		}
	}
	conn := newConnection("http://192.0.2.1:9", "t", func(s string) string { return s }, &c.options)
	defer conn.end(ErrClosed)
	err := c.offerTools(testContext(t), conn, "a", []Tool{echoTool()})
	if err == nil || !strings.Contains(err.Error(), "not on this machine") || !strings.Contains(err.Error(), "CustomTools") {
		t.Errorf("offer = %v", err)
	}
	if c.callbacks.started() != "" {
		t.Error("a server was started for nobody")
	}
	if err := c.offerTools(testContext(t), conn, "a", nil); err != nil {
		t.Errorf("no tools at all: %v", err)
	}
}

func TestStoreIsToldAtLaunch(t *testing.T) {
	t.Parallel()
	record := recordFile(t)
	o := fakeOptions(t, fakeScript{Record: record})
	o.Store = NewMemoryStore()
	log := new(logBuffer)
	o.Logger = log.logger()
	c := newClient(t, o)
	if err := c.Ping(testContext(t)); err != nil {
		t.Fatal(err)
	}
	arguments, environment := recorded(t, record, "arguments")[0], recorded(t, record, "environment")[0]
	if !strings.Contains(arguments, `"--local-store","{\"type\":\"custom\"}"`) || strings.Contains(arguments, c.callbacks.token) {
		t.Errorf("arguments = %s", arguments)
	}
	for _, v := range []string{"STORE_CALLBACK_URL=" + c.callbacks.started(), "STORE_CALLBACK_AUTH_TOKEN=" + c.callbacks.token, "TOOL_CALLBACK_URL=" + c.callbacks.started()} {
		if !strings.Contains(environment, `"CURSOR_SDK_`+v+`"`) {
			t.Errorf("environment = %s, want %s in it", environment, v)
		}
	}
	if strings.Contains(log.String(), c.callbacks.token) {
		t.Error("the token is in the log")
	}
	if _, err := New(Options{URL: "http://127.0.0.1:9", Store: NewMemoryStore()}); err == nil || !strings.Contains(err.Error(), "Store") {
		t.Errorf("a store for a bridge that runs already: %v", err)
	}
}
