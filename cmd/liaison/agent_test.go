package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/agent"
	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/bridge"
	"github.com/liaison-bot/liaison/tools"
)

// changing is a folder that a test changes.
type changing struct {
	def      *agent.Definition
	problems []agent.Problem
}

func (c *changing) Current() *agent.Definition { return c.def }
func (c *changing) Problems() []agent.Problem  { return c.problems }

func runs(name string) tools.Tool {
	return tools.Tool{Name: name, Run: func(context.Context, tools.Call) (tools.Result, error) { return tools.Result{}, nil }}
}

// agentsOf are agents of a definition, with a log.
func agentsOf(def *agent.Definition, adjust func(*agents)) (*agents, *changing, *bytes.Buffer) {
	var log bytes.Buffer
	source := &changing{def: def}
	a := &agents{
		source: source, host: []tools.Tool{runs("submit_review"), runs("set_labels"), runs("merge_pull_request")},
		executable: func(t agent.Tool, p func(tools.Call) approvals.Policy) (tools.Tool, error) {
			if len(t.Run) == 0 {
				return tools.Tool{}, errors.New("it has no command")
			}
			made := runs(t.Name)
			made.Gate = &tools.Gate{Needs: func(tools.Call) (bool, error) { return t.Approval.Always, nil }, Policy: p}
			return made, nil
		},
		model: "usual", log: slog.New(slog.NewTextHandler(&log, nil)),
		connect: connector{lookup: func(string) (string, bool) { return "", false }, redact: func(s string) string { return s }, log: slog.New(slog.DiscardHandler)},
	}
	if adjust != nil {
		adjust(a)
	}
	return a, source, &log
}

func offered(a *agents) []string {
	var names []string
	for _, t := range a.agent().Tools.Offered(tools.Turn{}) {
		names = append(names, t.Name)
	}
	return names
}

// Who calls a script by hand is told what it is, and not that there is none.
func TestAnAgentKnowsItsScripts(t *testing.T) {
	t.Parallel()
	a, _, _ := agentsOf(&agent.Definition{Dir: "/a", Tools: []agent.Tool{
		{Name: "deploy", Flavor: agent.Server, Run: []string{"./run"}}, {Name: "words", Flavor: agent.OnAgent},
	}}, nil)
	if got := a.agent().Scripts; !slices.Equal(got, []string{"words"}) {
		t.Errorf("its scripts are %q", got)
	}
}

func TestAnAgentHasTheToolsThatItsFolderNames(t *testing.T) {
	t.Parallel()
	gated := agent.Tool{Name: "set_labels", Flavor: agent.Host, Approval: agent.Condition{Always: true}}
	for name, c := range map[string]struct {
		def    agent.Definition
		adjust func(*agents)
		want   []string
		log    string
	}{
		"nothing": {agent.Definition{Dir: "/a"}, nil, []string{"submit_review"}, ""},
		"all kinds": {agent.Definition{Dir: "/a", Tools: []agent.Tool{
			{Name: "deploy", Flavor: agent.Server, Run: []string{"./run"}}, {Name: "script", Flavor: agent.OnAgent}, {Name: "merge_pull_request", Flavor: agent.Host},
		}}, nil, []string{"deploy", "merge_pull_request", "submit_review"}, ""},
		"of a platform that is off": {agent.Definition{Dir: "/a", Tools: []agent.Tool{{Name: "post_to_slack", Flavor: agent.Host}}}, nil,
			[]string{"submit_review"}, "its platform is not set up\" tool=post_to_slack"},
		"a folder's own gate without people": {agent.Definition{Dir: "/a", Tools: []agent.Tool{gated}}, nil, []string{"set_labels", "submit_review"}, ""},
		"the sample without people": {agent.Definition{Tools: []agent.Tool{gated}}, nil,
			[]string{"submit_review"}, "nobody is named who could approve its calls\" tool=set_labels"},
		"the sample with people": {agent.Definition{Tools: []agent.Tool{gated}}, func(a *agents) { a.approvers = slackPerson("U1") },
			[]string{"set_labels", "submit_review"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, _, log := agentsOf(&c.def, c.adjust)
			if err := a.start(); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if got := offered(a); !slices.Equal(got, c.want) {
					t.Errorf("it has %v, want %v", got, c.want)
				}
			}
			if said := log.String(); strings.Count(said, "\n") != min(len(c.log), 1) || !strings.Contains(said, c.log) {
				t.Errorf("the log says %s", said)
			}
		})
	}
}

func TestAChangedFolderIsTakenByTheNextTurn(t *testing.T) {
	t.Parallel()
	a, source, log := agentsOf(&agent.Definition{Version: "1", Dir: "/a", Instructions: "one"}, nil)
	if err := a.start(); err != nil {
		t.Fatal(err)
	}
	first := a.agent()
	if again := a.agent(); again.Tools != first.Tools || first.Version != "1" || first.Model != "usual" {
		t.Errorf("it is made anew without a change: %+v", again)
	}
	source.def = &agent.Definition{
		Version: "2", Dir: "/a", Model: "m", ModelParams: map[string]string{"effort": "low"}, BuiltIn: []string{"read"}, Disallowed: []string{"grep"},
		Limits:    agent.Limits{Duration: time.Minute, Tokens: 1, ToolCalls: 2, CostUSD: 3},
		Subagents: []agent.Subagent{{ID: "tester", Description: "tests", Model: "s", Instructions: "test it"}},
		Tools:     []agent.Tool{{Name: "deploy", Flavor: agent.Server, Run: []string{"./run"}}},
	}
	second := a.agent()
	if second.Version != "2" || second.Model != "m" || second.ModelParams["effort"] != "low" || second.Timeout != time.Minute ||
		second.Limits.Tokens != 1 || second.Limits.ToolCalls != 2 || second.Limits.CostUSD != 3 ||
		!slices.Equal(second.BuiltIn, []string{"read"}) || !slices.Equal(second.Denied, []string{"grep"}) || second.Cloud != nil {
		t.Errorf("got %+v", second)
	}
	if s := second.Subagents["tester"]; s.Description != "tests" || s.Model != "s" || s.Prompt != "test it" {
		t.Errorf("subagent is %+v", s)
	}
	if len(first.Tools.Offered(tools.Turn{})) != 1 {
		t.Error("a turn under way has got other tools")
	}
	source.def = &agent.Definition{Version: "3", Dir: "/a", Tools: []agent.Tool{{Name: "broken", Flavor: agent.Server}}}
	for range 2 {
		if now := a.agent(); now.Version != "2" {
			t.Errorf("a version that cannot be used is taken: %s", now.Version)
		}
	}
	if n := strings.Count(log.String(), "tool broken: it has no command"); n != 1 {
		t.Errorf("told %d times:\n%s", n, log)
	}
	if i := a.info(); i.Version != "2" || len(i.Problems) != 1 || i.Problems[0].Text != "tool broken: it has no command" {
		t.Errorf("people are told %+v", i)
	}
}

func TestAnAgentThatCannotBeUsedAtAllIsAnError(t *testing.T) {
	t.Parallel()
	a, _, _ := agentsOf(&agent.Definition{Version: "1", Tools: []agent.Tool{{Name: "broken", Flavor: agent.Server}}}, nil)
	if err := a.start(); err == nil || !strings.Contains(err.Error(), "tool broken: it has no command") {
		t.Errorf("got %v", err)
	}
}

func TestAnAgentElsewhere(t *testing.T) {
	t.Parallel()
	a, _, _ := agentsOf(&agent.Definition{
		Version: "1", Dir: "/a", Instructions: "Be brief.", Runtime: agent.CloudHosted,
		Cloud: &agent.Cloud{Environment: "ci", AutoCreatePR: true, Repositories: []agent.CloudRepository{{URL: "https://git.example/r", Ref: "main"}}},
	}, nil)
	got := a.agent()
	c := got.Cloud
	if c == nil || *c.Environment != (bridge.CloudEnvironment{Type: bridge.EnvironmentCloud, Name: "ci"}) || !*c.AutoCreatePR || *c.WorkOnCurrentBranch ||
		len(c.Repositories) != 1 || c.Repositories[0].StartingRef != "main" || !strings.Contains(got.Preamble, "Be brief.") {
		t.Errorf("got %+v, %+v", got, c)
	}
}

func TestWhatPeopleAreToldOfAnAgent(t *testing.T) {
	t.Parallel()
	a, source, _ := agentsOf(&agent.Definition{
		Version: "v1", Dir: "/a", Runtime: agent.Local,
		Tools: []agent.Tool{
			{Name: "deploy", Description: "Deploys.", Flavor: agent.Server, Run: []string{"./run"}},
			{Name: "script", Description: "Counts.", Flavor: agent.OnAgent},
			{Name: "set_labels", Flavor: agent.Host, Approval: agent.Condition{Expression: "size(input) > 0"}, Risk: approvals.RiskLow, Timeout: time.Minute},
		},
		Skills:      []agent.Skill{{Name: "release", Description: "How to release."}},
		Subagents:   []agent.Subagent{{ID: "tester", Description: "tests", Instructions: "secret sauce"}},
		Connections: []agent.Connection{{Name: "docs", Transport: agent.HTTP, URL: "https://token@docs.example", HostOnly: true}},
	}, nil)
	source.problems = []agent.Problem{{Severity: agent.Warning, File: "tools/x.yaml", Line: 1, Text: "does not belong here"}}
	got, err := json.Marshal(a.info())
	if err != nil {
		t.Fatal(err)
	}
	want := `{"version":"v1","dir":"/a","model":"usual","runtime":"local","tools":[` +
		`{"name":"script","description":"Counts.","flavor":"agent","effect":"write","needsApproval":"never"},` +
		`{"name":"deploy","flavor":"server","effect":"write","needsApproval":"always"},` +
		`{"name":"submit_review","flavor":"host","effect":"write","needsApproval":"never"},` +
		`{"name":"set_labels","flavor":"host","effect":"write","needsApproval":"size(input) \u003e 0","risk":"low","timeout":60}],` +
		`"skills":[{"name":"release","description":"How to release."}],"subagents":[{"name":"tester","description":"tests"}],` +
		`"connections":[{"name":"docs","transport":"http","hostOnly":true}],` +
		`"problems":[{"severity":"warning","file":"tools/x.yaml","line":1,"text":"does not belong here"}]}`
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
