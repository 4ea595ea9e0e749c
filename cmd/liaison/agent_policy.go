package main

import (
	"strings"

	"github.com/liaison-bot/liaison/agent"
	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/tools"
)

// policyOf says who decides about a call of a tool. The tool's own list holds; else
// that of the Slack channel or of the repository that the conversation is about;
// else the agent's, and where it has none, the one of the settings. A list
// that is given and empty leaves the decision to the operator.
func policyOf(a agent.Approvals, t agent.Tool, settings approvals.Approvers) func(tools.Call) approvals.Policy {
	return func(c tools.Call) approvals.Policy {
		p := a.Policy
		p.Approvers = approversFor(a, t, settings, c.Turn)
		if t.MinApprovals > 0 {
			p.MinApprovals = t.MinApprovals
		}
		return p
	}
}

func approversFor(a agent.Approvals, t agent.Tool, settings approvals.Approvers, turn tools.Turn) approvals.Approvers {
	if t.Approvers != nil {
		return *t.Approvers
	}
	if list, is := a.Channels[slackChannelOf(turn)]; is {
		return list
	}
	if list, is := a.Repositories[repositoryOf(turn)]; is {
		return list
	}
	if !a.Given {
		return settings
	}
	return a.Policy.Approvers
}

// slackChannelOf returns the id of the Slack channel in whose thread a conversation
// is, from its key slack:<workspace>:<channel>:<thread>.
func slackChannelOf(turn tools.Turn) string {
	parts := strings.Split(turn.Key, ":")
	if len(parts) < 3 || parts[0] != "slack" {
		return ""
	}
	return parts[2]
}

// repositoryOf returns the repository of a conversation about a pull request, from
// its subject owner/name#number, in lower case.
func repositoryOf(turn tools.Turn) string {
	if !strings.HasPrefix(turn.Key, "github:") {
		return ""
	}
	name, _, is := strings.Cut(turn.Subject, "#")
	if !is {
		return ""
	}
	return strings.ToLower(name)
}

// onlyOperator reports whether nobody but the operator could decide about any call
// of a tool.
func onlyOperator(a agent.Approvals, t agent.Tool, settings approvals.Approvers) bool {
	if t.Approvers != nil {
		return t.Approvers.Nobody() && len(a.Policy.Escalation) == 0
	}
	lists := append([]approvals.Approvers{approversFor(a, t, settings, tools.Turn{})}, a.Policy.Escalation...)
	for _, list := range a.Channels {
		lists = append(lists, list)
	}
	for _, list := range a.Repositories {
		lists = append(lists, list)
	}
	for _, list := range lists {
		if !list.Nobody() {
			return false
		}
	}
	return true
}

// hostTool is one of the service's own tools under the conditions of the file that
// names it. What its code has people decide about always, they decide about
// whatever the file says.
func hostTool(own tools.Tool, t agent.Tool, policy func(tools.Call) approvals.Policy) (tools.Tool, error) {
	if t.Timeout > 0 {
		own.Timeout = t.Timeout
	}
	if t.DryRunResult != nil {
		own.DryRun = t.DryRunResult
	}
	needs, err := tools.Needs(t.Approval, own.InputSchema)
	if err != nil {
		return tools.Tool{}, err
	}
	if own.Gate == nil && needs == nil {
		return own, nil
	}
	gate := tools.Gate{Policy: policy, Risk: t.Risk, Note: t.Approval.Expression}
	if code := own.Gate; code != nil {
		gate.Note = code.Note
		if gate.Risk == "" {
			gate.Risk = code.Risk
		}
		needs = either(code.Needs, needs)
	}
	gate.Needs = needs
	own.Gate = &gate
	return own, nil
}

// either needs a decision where one of both does, or cannot be told; other may be nil.
func either(one, other func(tools.Call) (bool, error)) func(tools.Call) (bool, error) {
	if other == nil {
		return one
	}
	return func(c tools.Call) (bool, error) {
		if needs, err := one(c); needs || err != nil {
			return true, err
		}
		return other(c)
	}
}
