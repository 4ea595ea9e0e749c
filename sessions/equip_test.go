package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/bridge"
	"github.com/liaison-bot/liaison/tools"
)

func noTool(name string) tools.Tool {
	return tools.Tool{Name: name, Run: func(context.Context, tools.Call) (tools.Result, error) { return tools.Result{}, nil }}
}

// withAgent has a house whose turns are run with what this returns.
func withAgent(t *testing.T, agent func() Agent, f func(h *house)) {
	t.Helper()
	inHouseWith(t, func(o *Options) { o.Agent = agent }, f)
}

func TestATurnIsRunWithTheAgentOfItsBeginning(t *testing.T) {
	registry, err := tools.New(noTool("deploy"))
	if err != nil {
		t.Fatal(err)
	}
	version := 0
	agent := func() Agent {
		version++
		return Agent{
			Model: "m" + string(rune('0'+version)), ModelParams: map[string]string{"effort": "high"}, Tools: registry,
			BuiltIn: []string{"read"}, Denied: []string{"grep"}, Subagents: map[string]bridge.Subagent{"tester": {Description: "tests"}},
			MCPServers: func(_ context.Context, turn tools.Turn) (map[string]bridge.MCPServer, error) {
				return map[string]bridge.MCPServer{"docs": {URL: "https://docs.example/" + turn.Principal + "/" + turn.Mode}}, nil
			},
			LayOut: func(_ context.Context, dir string) error {
				return os.WriteFile(filepath.Join(dir, "AGENTS.md"), []byte("be brief"), 0o600)
			},
		}
	}
	withAgent(t, agent, func(h *house) {
		h.world.prepare = func(_ context.Context, _ Turn, dir string) (Brief, error) {
			if _, err := os.Stat(filepath.Join(dir, "AGENTS.md")); err != nil {
				t.Errorf("the evidence came before the layout: %v", err)
			}
			return Brief{Prompt: "p"}, nil
		}
		h.send(push("a", "", 1))
		h.wait(2 * time.Second)
		h.send(push("b", "a", 2))
		h.wait(2 * time.Second)
		for i, r := range h.runner.requests {
			if r.Model != "m"+string(rune('1'+i)) || r.ModelParams["effort"] != "high" || !slices.Equal(r.BuiltIn, []string{"read"}) ||
				!slices.Equal(r.Denied, []string{"grep"}) || r.Subagents["tester"].Description != "tests" ||
				!strings.HasPrefix(r.MCPServers["docs"].URL, "https://docs.example/mona/chat") || len(r.Tools) != 1 || !r.Project {
				t.Errorf("request %d is %+v", i, r)
			}
		}
		if len(h.runner.requests) != 2 || version != 2 {
			t.Errorf("%d runs, and the agent was asked for %d times", len(h.runner.requests), version)
		}
	})
}

func TestWhatKeepsAnAgentFromBeingEquippedFailsTheTurn(t *testing.T) {
	broken := errors.New("the headers of connection docs: exit status 1")
	for name, c := range map[string]struct {
		agent   Agent
		prepare func(dir string) error
		reason  string
	}{
		"connection": {
			agent:  Agent{MCPServers: func(context.Context, tools.Turn) (map[string]bridge.MCPServer, error) { return nil, broken }},
			reason: broken.Error(),
		},
		"layout": {
			agent:  Agent{LayOut: func(context.Context, string) error { return errors.New("disk full") }},
			reason: "lay out the agent's workspace: disk full",
		},
		"a connection that panics": {
			agent:  Agent{MCPServers: func(context.Context, tools.Turn) (map[string]bridge.MCPServer, error) { panic("no") }},
			reason: "MCPServers of the agent panicked",
		},
		"a stranger's rules": {
			prepare: func(dir string) error { return os.WriteFile(filepath.Join(dir, "AGENTS.md"), []byte("obey"), 0o600) },
			reason:  "the evidence has changed the agent's own instructions",
		},
		"a stranger's settings": {
			agent: Agent{LayOut: func(_ context.Context, dir string) error {
				return os.MkdirAll(filepath.Join(dir, ".cursor", "skills"), 0o700)
			}},
			prepare: func(dir string) error {
				return os.WriteFile(filepath.Join(dir, ".cursor", "hooks.json"), []byte("{}"), 0o600)
			},
			reason: "the evidence has changed the agent's own instructions",
		},
	} {
		t.Run(name, func(t *testing.T) {
			withAgent(t, func() Agent { return c.agent }, func(h *house) {
				if c.prepare != nil {
					h.world.prepare = func(_ context.Context, _ Turn, dir string) (Brief, error) {
						return Brief{Prompt: "p"}, c.prepare(dir)
					}
				}
				h.send(push("a", "", 1))
				h.wait(2 * time.Second)
				if turn := h.lastTurn("k"); !strings.Contains(turn.Reason, c.reason) || turn.Status != "failed" || len(h.runner.requests) != 0 {
					t.Errorf("turn is %s (%s) after %d runs", turn.Status, turn.Reason, len(h.runner.requests))
				}
			})
		})
	}
}

func TestAnAgentsBoundsOnlyNarrowTheService(t *testing.T) {
	for name, c := range map[string]struct {
		agent Agent
		want  string
	}{
		"tokens":        {Agent{Limits: TurnLimits{Tokens: 700}}, "700 is the most"},
		"calls":         {Agent{Limits: TurnLimits{ToolCalls: 1}}, "1 is the most"},
		"no wider":      {Agent{Limits: TurnLimits{Tokens: 1e9, ToolCalls: 1e6}}, "900 is the most"},
		"time":          {Agent{Timeout: 90 * time.Second}, "longer than 1m30s"},
		"no wider time": {Agent{Timeout: 1000 * time.Hour, Limits: TurnLimits{Tokens: 1e9}}, "900 is the most"},
	} {
		t.Run(name, func(t *testing.T) {
			adjust := func(o *Options) {
				o.Limits.Tokens = 900
				o.Agent = func() Agent { return c.agent }
			}
			inHouseWith(t, adjust, func(h *house) {
				h.runner.run = uses(bridge.ToolCall{CallID: "1"}, bridge.ToolCall{CallID: "2"}, used(500, 0), used(600, 200), used(900, 200))
				h.send(push("a", "", 1))
				h.wait(time.Hour)
				if turn := h.lastTurn("k"); !strings.Contains(turn.Reason, c.want) {
					t.Errorf("turn is %s: %s", turn.Status, turn.Reason)
				}
			})
		})
	}
}

// What a bridge is told of an agent holds for each run, so that it is told when the
// agent is made and whenever it is gone on with.
func TestWhatAnAgentHasIsToldOnCreateAndOnResume(t *testing.T) {
	servers := map[string]bridge.MCPServer{"docs": {URL: "https://docs.example"}}
	subagents := map[string]bridge.Subagent{"tester": {Description: "tests"}}
	host := []bridge.Tool{{Name: "deploy"}}
	for name, c := range map[string]struct {
		request         RunRequest
		allowed, denied []string
		check           func(o bridge.AgentOptions) bool
	}{
		"nothing": {
			RunRequest{}, []string{"read", "grep", "glob", "ls"},
			[]string{"shell", "edit", "write", "delete", "task", "web_search", "web_fetch", "mcp"},
			func(o bridge.AgentOptions) bool {
				return o.CustomTools == nil && o.MCPServers == nil && o.Subagents == nil && o.Local.SettingSources == nil
			},
		},
		"host tools": {
			RunRequest{Tools: host}, []string{"read", "grep", "glob", "ls", "mcp"},
			[]string{"shell", "edit", "write", "delete", "task", "web_search", "web_fetch"},
			func(o bridge.AgentOptions) bool { return len(o.CustomTools) == 1 },
		},
		"servers": {
			RunRequest{MCPServers: servers}, []string{"read", "grep", "glob", "ls", "mcp"},
			[]string{"shell", "edit", "write", "delete", "task", "web_search", "web_fetch"},
			func(o bridge.AgentOptions) bool { return reflect.DeepEqual(o.MCPServers, servers) },
		},
		"subagents": {
			RunRequest{Subagents: subagents}, []string{"read", "grep", "glob", "ls", "task"},
			[]string{"shell", "edit", "write", "delete", "web_search", "web_fetch", "mcp"},
			func(o bridge.AgentOptions) bool { return reflect.DeepEqual(o.Subagents, subagents) },
		},
		"a choice of built-in tools": {
			RunRequest{BuiltIn: []string{"read", "shell", "task", "mcp"}, Denied: []string{"read"}}, []string{"read", "shell"},
			[]string{"edit", "write", "delete", "task", "web_search", "web_fetch", "mcp", "read"}, nil,
		},
		"no built-in tools": {
			RunRequest{BuiltIn: []string{}}, []string{},
			[]string{"shell", "edit", "write", "delete", "task", "web_search", "web_fetch", "mcp"},
			func(o bridge.AgentOptions) bool { return o.Tools != nil },
		},
		"denied whatever there is": {
			RunRequest{Tools: host, MCPServers: servers, Subagents: subagents, Denied: []string{"mcp", "task"}},
			[]string{"read", "grep", "glob", "ls"},
			[]string{"shell", "edit", "write", "delete", "task", "web_search", "web_fetch", "mcp"},
			func(o bridge.AgentOptions) bool {
				return o.CustomTools == nil && o.MCPServers == nil && o.Subagents == nil
			},
		},
		"instructions in the workspace": {
			RunRequest{Project: true}, []string{"read", "grep", "glob", "ls"},
			[]string{"shell", "edit", "write", "delete", "task", "web_search", "web_fetch", "mcp"},
			func(o bridge.AgentOptions) bool {
				return slices.Equal(o.Local.SettingSources, []bridge.SettingSource{bridge.SettingsProject})
			},
		},
		"settings of the model": {
			RunRequest{ModelParams: map[string]string{"effort": "low"}}, []string{"read", "grep", "glob", "ls"},
			[]string{"shell", "edit", "write", "delete", "task", "web_search", "web_fetch", "mcp"},
			func(o bridge.AgentOptions) bool { return o.Model == "m" && o.ModelParams["effort"] == "low" },
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := &fakeBridge{}
			b.run = b.runFinished
			request := c.request
			request.AgentID, request.Dir, request.Model = "agt_1", "/w", "m"
			if _, err := newBridgeRunner(b, nil).Run(t.Context(), request, func(bridge.Event) {}); err != nil {
				t.Fatal(err)
			}
			if len(b.options) != 2 || b.calls[0] != "resume agt_1" || b.calls[1] != "create" {
				t.Fatalf("the bridge was asked %v", b.calls)
			}
			for i, o := range b.options {
				if !slices.Equal(o.Tools, c.allowed) || !slices.Equal(o.DisallowedTools, c.denied) || c.check != nil && !c.check(o) {
					t.Errorf("%s got %+v", b.calls[i], o)
				}
			}
		})
	}
}

func TestAnAgentElsewhereIsFoundAgainByTheNameThatItWasGiven(t *testing.T) {
	cloud := &bridge.CloudOptions{Repositories: []bridge.CloudRepository{{URL: "https://git.example/r"}}}
	agent := Agent{Model: "m", Cloud: cloud, Preamble: "You review.", LayOut: func(context.Context, string) error { return errors.New("it has no workspace") }}
	registry, err := tools.New(noTool("deploy"))
	if err != nil {
		t.Fatal(err)
	}
	agent.Tools = registry
	b := &fakeBridge{known: true}
	b.run = b.runFinished
	adjust := func(o *Options) {
		o.Agent = func() Agent { return agent }
		o.Runner = newBridgeRunner(b, nil)
	}
	inHouseWith(t, adjust, func(h *house) {
		h.send(push("a", "", 1))
		h.wait(2 * time.Second)
		b.listed = []bridge.RunSnapshot{{ID: "run-1", Status: bridge.RunFinished}}
		h.send(push("b", "a", 2))
		h.wait(2 * time.Second)
		if id := h.session("k").AgentID; id != "bc-given" {
			t.Errorf("the agent is %s", id)
		}
		want := []string{"create", "runs", "send You review.\n\nreview a", "close", "resume bc-given", "runs", "send review b", "close"}
		if !slices.Equal(b.calls, want) {
			t.Errorf("the bridge was asked %q", b.calls)
		}
		for _, o := range b.options {
			if o.Local != nil || o.Cloud != cloud || o.CustomTools != nil {
				t.Errorf("options are %+v", o)
			}
		}
		agent.Cloud, agent.LayOut = nil, nil // the author brings it home
		h.send(push("c", "b", 3))
		h.wait(2 * time.Second)
		if id := h.session("k").AgentID; !strings.HasPrefix(id, agentPrefix) {
			t.Errorf("the agent is %s", id)
		}
	})
}

func TestAResultReachesTheAgentWhole(t *testing.T) {
	t.Parallel()
	picture := tools.Image{Data: []byte("\x89PNG"), MIMEType: "image/png"}
	for name, c := range map[string]struct {
		result tools.Result
		want   string
	}{
		"all": {
			tools.Result{Text: "see " + secret, Images: []tools.Image{picture}, Structured: json.RawMessage(`{"n":12345678901234567890,"s":"` + secret + `"}`)},
			`{"Value":{"n":12345678901234567890,"s":"[redacted]"},"Content":[{"Text":"see [redacted]","Image":null,"MIMEType":""},{"Text":"","Image":"iVBORw==","MIMEType":"image/png"}],"IsError":false}`,
		},
		"an error": {
			tools.Result{Text: "no", IsError: true},
			`{"Value":null,"Content":[{"Text":"no","Image":null,"MIMEType":""}],"IsError":true}`,
		},
		"too large": {
			tools.Result{Text: "big", Images: []tools.Image{{Data: make([]byte, 1<<20), MIMEType: "image/png"}, {Data: []byte("x"), MIMEType: "text/html"}}},
			`{"Value":null,"Content":[{"Text":"big\n\n[images that are left out, because they are too large or none: 2]","Image":null,"MIMEType":""}],"IsError":false}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := json.Marshal(toolResult(c.result, func(s string) string { return strings.ReplaceAll(s, secret, "[redacted]") }))
			if err != nil || string(got) != c.want {
				t.Errorf("%s, %v, want %s", got, err, c.want)
			}
		})
	}
}
