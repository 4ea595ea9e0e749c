package conformance

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/liaison-bot/liaison/bridge"
)

func callbackBoxes() []box {
	return []box{
		{"tools: a function of the host's is called and its answer is read", theScript, customTool},
		{"tools: wrong arguments and panics are told to the agent", theScript, toolFailures},
		{"tools: a call ends with its run", theScript, toolCancelled},
		{"tools: known to the next bridge after a crash", theScript, toolsAfterCrash},
		{"store: agents and runs are kept by the host alone", theScript, hostsStore},
	}
}

// toolAnswer sends a message with a call and returns what the model read.
func toolAnswer(t *testing.T, agent *bridge.Agent, message string) string {
	t.Helper()
	return strings.TrimSpace(finish(t, send(t, agent, message, bridge.SendOptions{})).Text)
}

type sum struct {
	A int `json:"a"`
	B int `json:"b"`
}

func addTool(t *testing.T) bridge.Tool {
	t.Helper()
	tool, err := bridge.NewTool("add", "Adds two numbers.", func(_ context.Context, in sum) (int, error) { return in.A + in.B, nil })
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

func customTool(t *testing.T, to target) {
	agent := to.agent(t, to.client(t, nil), func(o *bridge.AgentOptions) { o.CustomTools = []bridge.Tool{addTool(t)} })
	if got := toolAnswer(t, agent, `call add {"a": 40, "b": 2}`); !strings.Contains(got, "42") {
		t.Errorf("the model read %q", got)
	}
}

func toolFailures(t *testing.T, to target) {
	broken := bridge.Tool{Name: "broken", Call: func(context.Context, bridge.ToolInvocation) (bridge.ToolResult, error) { panic("oh no") }}
	agent := to.agent(t, to.client(t, nil), func(o *bridge.AgentOptions) { o.CustomTools = []bridge.Tool{addTool(t), broken} })
	for _, message := range []string{`call add {"a": "forty"}`, `call broken {}`} {
		got := toolAnswer(t, agent, message)
		if !strings.HasPrefix(got, "error: ") || strings.Contains(got, "oh no") {
			t.Errorf("%s: the model read %q", message, got)
		}
	}
}

func toolCancelled(t *testing.T, to target) {
	called, ended := make(chan struct{}), make(chan struct{})
	var once sync.Once
	slow := bridge.Tool{Name: "slow", Call: func(ctx context.Context, _ bridge.ToolInvocation) (bridge.ToolResult, error) {
		once.Do(func() { close(called) })
		<-ctx.Done()
		close(ended)
		return bridge.ToolResult{}, ctx.Err()
	}}
	agent := to.agent(t, to.client(t, nil), func(o *bridge.AgentOptions) { o.CustomTools = []bridge.Tool{slow} })
	ctx := testContext(t)
	run := send(t, agent, "call slow {}", bridge.SendOptions{})
	for _, step := range []struct {
		name string
		done <-chan struct{}
		then func() error
	}{
		{"the call", called, func() error { return run.Cancel(ctx) }},
		{"the end of the call", ended, func() error { return nil }},
	} {
		select {
		case <-step.done:
		case <-ctx.Done():
			t.Fatalf("%s has not come", step.name)
		}
		if err := step.then(); err != nil {
			t.Fatal(err)
		}
	}
	if result, err := run.Wait(ctx); err != nil || result.Status != bridge.RunCancelled {
		t.Errorf("ended as %+v, %v", result, err)
	}
}

func toolsAfterCrash(t *testing.T, to target) {
	root := t.TempDir()
	client := to.client(t, func(o *bridge.Options) { o.StateRoot = root })
	agent := to.agent(t, client, func(o *bridge.AgentOptions) { o.CustomTools = []bridge.Tool{addTool(t)} })
	killBridge(t, client, root)
	if got := toolAnswer(t, agent, `call add {"a": 1, "b": 1}`); !strings.Contains(got, "2") {
		t.Errorf("the model read %q", got)
	}
}

func hostsStore(t *testing.T, to target) {
	store := bridge.NewMemoryStore()
	ctx := testContext(t)
	options := bridge.AgentOptions{Model: to.model, Local: &bridge.LocalOptions{Dir: t.TempDir()}}
	var agentID, runID string
	for i := range 2 { // the second bridge has a fresh state root and the same store
		o := to.options(t.TempDir())
		o.Store = store
		client, err := bridge.New(o)
		if err != nil {
			t.Fatal(err)
		}
		var agent *bridge.Agent
		if i == 0 {
			agent, err = client.Agents().Create(ctx, options)
		} else {
			agent, err = client.Agents().Resume(ctx, agentID, options)
		}
		if err != nil {
			t.Fatal(err)
		}
		agentID = agent.ID()
		if i == 0 {
			run := send(t, agent, "remember kept\nsay kept", bridge.SendOptions{})
			finish(t, run)
			runID = run.ID()
		} else {
			replayed := 0
			for _, err := range client.Observe(ctx, runID, "") {
				if err != nil {
					t.Fatal(err)
				}
				replayed++
			}
			if replayed == 0 {
				t.Error("nothing of the earlier run was replayed")
			}
			if got := toolAnswer(t, agent, "recall"); got != "kept" {
				t.Errorf("the agent remembers %q", got)
			}
		}
		if err := client.Close(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := store.Get(ctx, bridge.RecordRun, runID); err != nil {
		t.Errorf("the run in the store: %v", err)
	}
	if _, err := store.Get(ctx, bridge.RecordRun, "never"); !errors.Is(err, bridge.ErrNoRecord) {
		t.Errorf("a run that never was: %v", err)
	}
}
