package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/bridge"
	"github.com/liaison-bot/liaison/tools"
)

// withTools has a house whose agents may call these.
func withTools(t *testing.T, f func(h *house), all ...tools.Tool) {
	t.Helper()
	registry, err := tools.New(all...)
	if err != nil {
		t.Fatal(err)
	}
	inHouseWith(t, func(o *Options) { o.Agent = func() Agent { return Agent{Tools: registry} } }, f)
}

// callHost calls a tool of the request's as a bridge does.
func callHost(ctx context.Context, r RunRequest, name, callID, args string) (bridge.ToolResult, error) {
	i := slices.IndexFunc(r.Tools, func(t bridge.Tool) bool { return t.Name == name })
	if i < 0 {
		return bridge.ToolResult{}, errors.New("it was not offered")
	}
	return r.Tools[i].Call(ctx, bridge.ToolInvocation{AgentID: r.AgentID, CallID: callID, Tool: name, Args: json.RawMessage(args)})
}

func TestATurnCallsTheToolsThatItIsOffered(t *testing.T) {
	var seen tools.Call
	made := 0
	review := tools.Tool{
		Name: "submit_review", InputSchema: json.RawMessage(`{"type":"object","required":["summary"]}`), Effect: tools.Reads,
		Run: func(_ context.Context, c tools.Call) (tools.Result, error) {
			made++
			seen = c
			return tools.Result{Text: "taken, " + secret, Output: c.Input}, nil
		},
	}
	other := tools.Tool{
		Name: "other", Offered: func(t tools.Turn) bool { return t.Channel == "elsewhere" },
		Run: func(context.Context, tools.Call) (tools.Result, error) { return tools.Result{}, nil },
	}
	withTools(t, func(h *house) {
		h.sayOutputs()
		h.runner.run = func(ctx context.Context, r RunRequest, _ func(bridge.Event)) (bridge.Result, error) {
			if len(r.Tools) != 1 {
				t.Errorf("it got %d tools", len(r.Tools))
			}
			if result, err := callHost(ctx, r, "submit_review", "1", `{}`); err != nil || !result.IsError || !strings.Contains(result.Content[0].Text, "'summary'") {
				t.Errorf("input that does not match: %+v, %v", result, err)
			}
			for range 2 {
				result, err := callHost(ctx, r, "submit_review", "2", `{"summary":"fine"}`)
				if err != nil || result.IsError || result.Content[0].Text != "taken, [redacted]" {
					t.Errorf("%+v, %v", result, err)
				}
			}
			return think(ctx, r, time.Second)
		}
		h.send(push("a", "", 1))
		h.wait(2 * time.Second)
		h.wantSaid(`map[submit_review:{"summary":"fine"}]`)
		turn := h.lastTurn("k")
		if made != 1 || seen.TurnID != turn.ID || seen.SessionID != turn.SessionID || seen.Channel != "test" ||
			string(seen.Request) != `{"rev":"a"}` || seen.Dir != h.engine.Workspace(turn.SessionID) {
			t.Errorf("made %d times with %+v", made, seen)
		}
		if turn.Acted != "" {
			t.Errorf("a tool that writes nothing has acted: %s", turn.Acted)
		}
	}, review, other)
}

func TestAToolThatWritesIsNotedBeforeItRuns(t *testing.T) {
	var h *house
	push1 := tools.Tool{Name: "push_branch", Run: func(context.Context, tools.Call) (tools.Result, error) {
		return tools.Result{Text: "noted: " + h.lastTurn("k").Acted}, nil
	}}
	withTools(t, func(in *house) {
		h = in
		h.runner.run = func(ctx context.Context, r RunRequest, _ func(bridge.Event)) (bridge.Result, error) {
			result, err := callHost(ctx, r, "push_branch", "1", `{}`)
			if err != nil || result.Content[0].Text != "noted: push_branch" {
				t.Errorf("%+v, %v", result, err)
			}
			return think(ctx, r, time.Second)
		}
		h.send(push("a", "", 1))
		h.wait(2 * time.Second)
		h.wantTurns("k", "a:completed")
	}, push1)
}

// What an agent does without asking is in the audit log before it is done, and how it ended
// after that; a repetition and a call that only reads are not.
func TestWhatAnAgentWritesIsAudited(t *testing.T) {
	var h *house
	write := tools.Tool{Name: "write", Run: func(_ context.Context, c tools.Call) (tools.Result, error) {
		if actions, _ := h.audit(); len(actions) == 0 || actions[len(actions)-1] != approvals.ActionCalled {
			t.Errorf("while it writes the audit log has %v", actions)
		}
		switch c.CallID {
		case "fails":
			return tools.Result{Text: "no: " + secret, IsError: true}, nil
		case "panics":
			panic("at " + secret)
		}
		time.Sleep(2 * time.Second)
		return tools.Result{Text: "done"}, nil
	}}
	hangs := tools.Tool{Name: "hangs", Run: func(ctx context.Context, _ tools.Call) (tools.Result, error) {
		<-ctx.Done()
		return tools.Result{}, ctx.Err()
	}}
	look := tools.Tool{Name: "look", Effect: tools.Reads, Run: says("seen")}
	withTools(t, func(in *house) {
		h = in
		h.runner.run = func(ctx context.Context, r RunRequest, _ func(bridge.Event)) (bridge.Result, error) {
			for _, id := range []string{"works", "works", "fails", "panics", ""} {
				_, _ = callHost(ctx, r, "write", id, `{"token":"`+secret+`"}`)
			}
			_, _ = callHost(ctx, r, "look", "look", `{}`)
			cut, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			_, _ = callHost(cut, r, "hangs", "hangs", `{}`)
			return think(ctx, r, time.Second)
		}
		h.send(push("a", "", 1))
		h.wait(time.Minute)
		h.wantTurns("k", "a:completed")
		actions, entries := h.audit()
		if got := strings.Join(actions, " "); got != "called done called failed called failed called done called unknown" {
			t.Errorf("the audit log has %s", got)
			return
		}
		turn := h.lastTurn("k")
		for _, e := range entries[:8] {
			if e.Tool != "write" || e.SessionID != turn.SessionID || e.TurnID != turn.ID || e.Place != "test" || e.RequestedBy != turn.Principal ||
				e.Input != `{"token":"[redacted]"}` || e.InputHash != approvals.HashInput(json.RawMessage(`{"token":"`+secret+`"}`)) {
				t.Errorf("entry %+v", e)
			}
		}
		if entries[0].CallID != "works" || entries[1].DurationMS != 2000 || entries[1].Reason != "" || entries[3].Reason != "no: [redacted]" {
			t.Errorf("entries %+v", entries[:4])
		}
	}, write, hangs, look)
}

func TestATurnThatIsOverCallsNothing(t *testing.T) {
	made := 0
	count := func(name string, effect tools.Effect) tools.Tool {
		return tools.Tool{Name: name, Effect: func(json.RawMessage) tools.Effect { return effect }, Run: func(context.Context, tools.Call) (tools.Result, error) {
			made++
			return tools.Result{}, nil
		}}
	}
	withTools(t, func(h *house) {
		var ended RunRequest
		h.runner.run = func(ctx context.Context, r RunRequest, _ func(bridge.Event)) (bridge.Result, error) {
			ended = r
			return think(ctx, r, time.Second)
		}
		h.send(push("a", "", 1))
		h.wait(2 * time.Second)
		for _, name := range []string{"look", "push_branch"} {
			if result, err := callHost(context.Background(), ended, name, "9", `{}`); err == nil || !strings.Contains(err.Error(), "is over") {
				t.Errorf("%s: %+v, %v", name, result, err)
			}
		}
		if made != 0 {
			t.Errorf("%d calls were made", made)
		}
	}, count("look", tools.Read), count("push_branch", tools.Write))
}

func TestAToolThatPanicsFailsItsCallOnly(t *testing.T) {
	bad := tools.Tool{Name: "bad", Run: func(context.Context, tools.Call) (tools.Result, error) { panic("at " + secret) }}
	withTools(t, func(h *house) {
		h.runner.run = func(ctx context.Context, r RunRequest, _ func(bridge.Event)) (bridge.Result, error) {
			if _, err := callHost(ctx, r, "bad", "1", `{}`); err == nil || err.Error() != "tool bad failed unexpectedly" {
				t.Errorf("the agent is told %v", err)
			}
			return think(ctx, r, time.Second)
		}
		h.send(push("a", "", 1))
		h.wait(2 * time.Second)
		h.wantTurns("k", "a:completed")
		if log := h.logs.String(); !strings.Contains(log, "a tool panicked") || strings.Contains(log, secret) {
			t.Errorf("the log says %s", log)
		}
	}, bad)
}

func TestToolsOfTheHostComeUnderTheNameThatTheBridgeKnows(t *testing.T) {
	b := &fakeBridge{}
	b.run = b.runFinished
	request := RunRequest{AgentID: "agt_1", Dir: "/w", Model: "m", Tools: []bridge.Tool{{Name: "submit_review"}}}
	for range 2 {
		if _, err := newBridgeRunner(b, nil).Run(t.Context(), request, func(bridge.Event) {}); err != nil {
			t.Fatal(err)
		}
		request.Tools = nil
	}
	// Each run resumes, fails to, and creates.
	for i, o := range b.options {
		given := i < 2
		if slices.Contains(o.Tools, "mcp") != given || slices.Contains(o.DisallowedTools, "mcp") == given || len(o.CustomTools) == 1 != given ||
			!slices.Contains(o.DisallowedTools, "shell") || len(o.MCPServers) > 0 {
			t.Errorf("options %d: %+v", i, o)
		}
	}
}

func TestRecordOfAToolOfTheHost(t *testing.T) {
	got := record(t, func(bring func(bridge.Payload)) {
		args := json.RawMessage(`{"providerIdentifier":"custom-user-tools","toolName":"submit_review","args":{"summary":"` + secret + `"}}`)
		bring(bridge.ToolCall{CallID: "1", Name: "mcp", Status: bridge.ToolRunning, Args: args})
		bring(bridge.ToolCall{CallID: "1", Name: "mcp", Status: bridge.ToolCompleted, Result: json.RawMessage(`{"status":"success"}`)})
		bring(bridge.ToolCall{CallID: "2", Name: "mcp", Status: bridge.ToolCompleted, Args: json.RawMessage(`{"providerIdentifier":"elsewhere","toolName":"read"}`)})
	})
	wantLines(t, got,
		`actions.requested {"actions":[{"callId":"1","name":"submit_review","args":{"summary":"[redacted]"}}]}`,
		`action.result {"callId":"1","name":"submit_review","result":{"status":"success"}}`,
		`actions.requested {"actions":[{"callId":"2","name":"mcp","args":{"providerIdentifier":"elsewhere","toolName":"read"}}]}`,
		`action.result {"callId":"2","name":"mcp"}`)
}

// The whole way: our own bridge calls back into this process.
func TestARealBridgeCallsAToolOfTheHost(t *testing.T) {
	t.Parallel()
	registry, err := tools.New(tools.Tool{
		Name: "greet", InputSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`), Effect: tools.Reads,
		Run: func(_ context.Context, c tools.Call) (tools.Result, error) {
			return tools.Result{Text: "hello " + string(c.Input) + " in " + c.CallID[:5]}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	e := &Engine{redact: func(s string) string { return s }}
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var calls []bridge.ToolCall
	result, err := NewBridgeRunner(serveBridge(t, t.TempDir()).attach(t), nil).Run(ctx, RunRequest{
		SessionID: "s", TurnID: "t", AgentID: "agt_1", Dir: dir, Model: "liaison-echo",
		Prompt: `call greet {"name":"mona"}` + "\n" + `call greet {"name":7}`,
		Tools:  e.hostTools(ctx, tools.Turn{TurnID: "t", SessionID: "s", Channel: "github", Dir: dir}, &runningTurn{agent: Agent{Tools: registry}}),
	}, func(ev bridge.Event) {
		if c, ok := ev.Payload.(bridge.ToolCall); ok {
			calls = append(calls, c)
		}
	})
	if err != nil || !strings.Contains(result.Text, `hello {"name":"mona"} in call-`) ||
		!strings.Contains(result.Text, "- /name: got number, want string") {
		t.Errorf("%q, %v", result.Text, err)
	}
	if len(calls) != 4 {
		t.Fatalf("there are %d events of calls", len(calls))
	}
	for _, c := range calls {
		if name, _ := hostCall(c.Name, c.Args); name != "greet" {
			t.Errorf("a call is shown as %s %s", name, c.Args)
		}
	}
}
