package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/sessions"
)

// secret is what must not be seen of an input.
const secret = "hunter2"

// asking is a call of alice's that waits for a person.
func asking(id, session, call string) approvals.Record {
	input := json.RawMessage(`{"service":"shop","size":1234567890,"token":"` + secret + `"}`)
	return approvals.Open(approvals.Record{
		ID: id, SessionID: session, TurnID: turnID, CallID: call, Tool: toolName, Summary: "Deploy shop",
		Input: input, InputHash: approvals.HashInput(input), Channel: "github", Subject: "octo/shop#12",
		Requester: approvals.Identity{Principal: "api:alice"},
		Policy:    approvals.Policy{Approvers: approvals.Approvers{Slack: []string{"U1"}}, MinApprovals: 1, OperatorMayDecide: true, ExpiresAfter: time.Hour},
		Cards:     []approvals.Card{{Channel: "github", Place: "check", Ref: "1", Drawn: 1}},
	}, epoch).Record
}

func mask(s string) string { return strings.ReplaceAll(s, secret, "[redacted]") }

// ask adds an approval as the newest.
func (r *runtime) ask(a approvals.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = slices.Insert(r.asked, 0, a)
}

func (r *runtime) Approvals(_ context.Context, f sessions.ApprovalFilter, limit int) ([]approvals.View, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var views []approvals.View
	behind := f.Before == ""
	for _, a := range r.asked {
		if behind && len(views) < limit && (f.SessionID == "" || f.SessionID == a.SessionID) && (!f.Open || a.State.Open()) {
			views = append(views, a.Show(mask))
		}
		behind = behind || a.ID == f.Before
	}
	return views, r.err
}

func (r *runtime) Approval(_ context.Context, id string) (approvals.View, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.asked {
		if a.ID == id {
			return a.Show(mask), nil
		}
	}
	return approvals.View{}, fmt.Errorf("show approval: %w", approvals.ErrUnknown)
}

func (r *runtime) Decide(_ context.Context, b approvals.Ballot) (approvals.View, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return approvals.View{}, fmt.Errorf("decide: %w", r.err)
	}
	i := slices.IndexFunc(r.asked, func(a approvals.Record) bool { return a.ID == b.ApprovalID })
	if i < 0 {
		return approvals.View{}, approvals.ErrUnknown
	}
	step, err := r.asked[i].Cast(b, epoch.Add(time.Minute))
	if err != nil {
		return r.asked[i].Show(mask), fmt.Errorf("decide: %w", err)
	}
	r.asked[i] = step.Record
	return step.Record.Show(mask), nil
}

func (r *runtime) DirectTools(context.Context, string) ([]sessions.DirectTool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return []sessions.DirectTool{
		{Name: toolName, Description: "Deploys a service.", Effect: "write", Approval: "always", Risk: approvals.RiskHigh, InputSchema: json.RawMessage(`{"type":"object","required":["service"]}`)},
		{Name: "weather", Description: "Says how the weather is.", Effect: "read", Approval: "never"},
	}, r.err
}

func (r *runtime) CallTool(_ context.Context, c sessions.ToolCall) (sessions.ToolAnswer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.called = append(r.called, c)
	switch {
	case r.err != nil:
		return sessions.ToolAnswer{}, fmt.Errorf("call: %w", r.err)
	case c.Tool != toolName:
		return sessions.ToolAnswer{}, fmt.Errorf("call: %w", &sessions.UnknownToolError{Tool: c.Tool, Names: []string{toolName, "weather"}})
	}
	answer := sessions.ToolAnswer{Tool: c.Tool, CallID: "tool_deploy_1", SessionID: c.SessionID, DurationMS: 7}
	if r.park {
		view := r.asked[0].Show(mask)
		answer.Approval = &view
		return answer, nil
	}
	answer.Stubbed, answer.Result = c.DryRun, json.RawMessage(`{"deployed":true}`)
	return answer, nil
}
