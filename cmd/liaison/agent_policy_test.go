package main

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/agent"
	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/tools"
)

func slackPerson(id string) approvals.Approvers { return approvals.Approvers{Slack: []string{id}} }

func TestWhoDecidesAboutACall(t *testing.T) {
	t.Parallel()
	settings, none := slackPerson("USETTINGS"), approvals.Approvers{}
	of := func(p approvals.Approvers) agent.Approvals {
		return agent.Approvals{
			Given:        !p.Nobody(),
			Policy:       approvals.Policy{Approvers: p, MinApprovals: 1, ExpiresAfter: time.Hour, Escalation: []approvals.Approvers{slackPerson("ULEAD")}},
			Channels:     map[string]approvals.Approvers{"C7": slackPerson("UCHANNEL"), "C8": {}},
			Repositories: map[string]approvals.Approvers{"octo/shop": slackPerson("USHOP")},
		}
	}
	tool, nobody := slackPerson("UTOOL"), none
	inThread := tools.Turn{Key: "slack:T1:C7:1700000000.000100", Channel: "slack"}
	inPull := tools.Turn{Key: "github:repo:7:pull:12", Subject: "Octo/Shop#12", Channel: "github"}
	for name, c := range map[string]struct {
		agent approvals.Approvers
		tool  agent.Tool
		turn  tools.Turn
		want  approvals.Approvers
	}{
		"the agent's":              {slackPerson("UAGENT"), agent.Tool{}, tools.Turn{Key: "slack:T1:C9:1"}, slackPerson("UAGENT")},
		"the channel's":            {slackPerson("UAGENT"), agent.Tool{}, inThread, slackPerson("UCHANNEL")},
		"nobody in a channel":      {slackPerson("UAGENT"), agent.Tool{}, tools.Turn{Key: "slack:T1:C8:1"}, none},
		"the repository's":         {slackPerson("UAGENT"), agent.Tool{}, inPull, slackPerson("USHOP")},
		"the tool's":               {slackPerson("UAGENT"), agent.Tool{Approvers: &tool}, inPull, tool},
		"nobody for a tool":        {slackPerson("UAGENT"), agent.Tool{Approvers: &nobody}, inThread, none},
		"the settings'":            {none, agent.Tool{}, tools.Turn{}, settings},
		"the channel's before":     {none, agent.Tool{}, inThread, slackPerson("UCHANNEL")},
		"a name that is no key":    {slackPerson("UAGENT"), agent.Tool{}, tools.Turn{Key: "http:slack:T1:C7:1", Subject: "octo/shop#1"}, slackPerson("UAGENT")},
		"a subject of another one": {slackPerson("UAGENT"), agent.Tool{}, tools.Turn{Key: "slack:T1:C9:1", Subject: "octo/shop#1"}, slackPerson("UAGENT")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := policyOf(of(c.agent), c.tool, settings)(tools.Call{Turn: c.turn})
			want := of(c.agent).Policy
			want.Approvers = c.want
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
	operator := of(none)
	operator.Given = true // and empty: the operator decides
	if got := policyOf(operator, agent.Tool{}, settings)(tools.Call{}).Approvers; !got.Nobody() {
		t.Errorf("a list that is given and empty lets %+v decide", got)
	}
	if got := policyOf(of(none), agent.Tool{MinApprovals: 2}, settings)(tools.Call{}).MinApprovals; got != 2 {
		t.Errorf("%d people are enough", got)
	}
}

func TestCallsThatOnlyTheOperatorCouldDecideAbout(t *testing.T) {
	t.Parallel()
	somebody, nobody := slackPerson("U1"), approvals.Approvers{}
	for name, c := range map[string]struct {
		agent    agent.Approvals
		tool     agent.Tool
		settings approvals.Approvers
		want     bool
	}{
		"nobody anywhere":   {agent.Approvals{}, agent.Tool{}, nobody, true},
		"in the settings":   {agent.Approvals{}, agent.Tool{}, somebody, false},
		"of the agent":      {agent.Approvals{Given: true, Policy: approvals.Policy{Approvers: somebody}}, agent.Tool{}, nobody, false},
		"none of the agent": {agent.Approvals{Given: true}, agent.Tool{}, somebody, true},
		"of the tool":       {agent.Approvals{}, agent.Tool{Approvers: &somebody}, nobody, false},
		"none of the tool":  {agent.Approvals{}, agent.Tool{Approvers: &nobody}, somebody, true},
		"in one channel":    {agent.Approvals{Channels: map[string]approvals.Approvers{"C1": somebody}}, agent.Tool{}, nobody, false},
		"in a repository":   {agent.Approvals{Repositories: map[string]approvals.Approvers{"o/r": somebody}}, agent.Tool{}, nobody, false},
		"after a while":     {agent.Approvals{Policy: approvals.Policy{Escalation: []approvals.Approvers{somebody}}}, agent.Tool{}, nobody, false},
	} {
		if got := onlyOperator(c.agent, c.tool, c.settings); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestAHostToolStandsUnderTheFileThatNamesIt(t *testing.T) {
	t.Parallel()
	schema := json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)
	code := &tools.Gate{Needs: func(tools.Call) (bool, error) { return true, nil }, Risk: approvals.RiskHigh}
	undecided := &tools.Gate{Needs: func(tools.Call) (bool, error) { return false, errors.New("no idea") }}
	for name, c := range map[string]struct {
		gate     *tools.Gate
		approval agent.Condition
		risk     approvals.Risk
		// needs is for inputs {"n":1}, {"n":9} and {}; nil stands for no gate.
		needs    []bool
		wantRisk approvals.Risk
	}{
		"free":                        {nil, agent.Condition{}, "", nil, ""},
		"always":                      {nil, agent.Condition{Always: true}, approvals.RiskLow, []bool{true, true, true}, approvals.RiskLow},
		"sometimes":                   {nil, agent.Condition{Expression: "input.n > 5"}, "", []bool{false, true, true}, ""},
		"always by code":              {code, agent.Condition{}, "", []bool{true, true, true}, approvals.RiskHigh},
		"always, whatever file":       {code, agent.Condition{Expression: "input.n > 5"}, approvals.RiskLow, []bool{true, true, true}, approvals.RiskLow},
		"code that cannot tell":       {undecided, agent.Condition{}, "", []bool{true, true, true}, ""},
		"neither code nor expression": {&tools.Gate{Needs: func(tools.Call) (bool, error) { return false, nil }}, agent.Condition{Expression: "input.n > 5"}, "", []bool{false, true, true}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			own := tools.Tool{Name: "set_labels", InputSchema: schema, Gate: c.gate, Timeout: time.Minute}
			file := agent.Tool{Name: "set_labels", Approval: c.approval, Risk: c.risk, Timeout: time.Second, DryRunResult: json.RawMessage(`{}`)}
			got, err := hostTool(own, file, func(tools.Call) approvals.Policy { return approvals.Policy{MinApprovals: 3} })
			if err != nil {
				t.Fatal(err)
			}
			if got.Timeout != time.Second || string(got.DryRun) != `{}` {
				t.Errorf("got %+v", got)
			}
			if c.needs == nil {
				if got.Gate != nil {
					t.Error("it is gated")
				}
				return
			}
			for i, input := range []string{`{"n":1}`, `{"n":9}`, `{}`} {
				needs, err := got.Gate.Needs(tools.Call{Input: json.RawMessage(input)})
				if (needs || err != nil) != c.needs[i] {
					t.Errorf("%s: %v, %v", input, needs, err)
				}
			}
			if got.Gate.Risk != c.wantRisk || got.Gate.Policy(tools.Call{}).MinApprovals != 3 {
				t.Errorf("gate is %+v", got.Gate)
			}
		})
	}
	if _, err := hostTool(tools.Tool{InputSchema: schema}, agent.Tool{Approval: agent.Condition{Expression: "input.m > 1"}}, nil); err == nil {
		t.Error("a condition on a field that is not there is taken")
	}
}
