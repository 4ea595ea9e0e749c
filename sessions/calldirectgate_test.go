package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/tools"
)

// guarded lets every call of a tool wait for the operator, or for mona on Slack.
func guarded(t tools.Tool) tools.Tool {
	t.Gate = &tools.Gate{
		Needs: func(tools.Call) (bool, error) { return true, nil },
		Policy: func(tools.Call) approvals.Policy {
			return approvals.Policy{
				Approvers: approvals.Approvers{Slack: []string{"U1"}}, OperatorMayDecide: true,
				ExpiresAfter: time.Hour, HoldFor: 45 * time.Second,
			}
		},
		Risk: approvals.RiskHigh,
	}
	return t
}

// sayAs is what somebody says about a call over HTTP.
func sayAs(by approvals.Person, id string, v approvals.Verdict) approvals.Ballot {
	return approvals.Ballot{ApprovalID: id, Verdict: v, Place: "http", Reason: "as agreed", By: by}
}

func (h *house) approvalNow(id string) approvals.View {
	h.t.Helper()
	v, err := h.engine.Approval(context.Background(), id)
	if err != nil {
		h.t.Fatal(err)
	}
	return v
}

// A gated call outside of sessions has a session of its own, in which it runs once
// it is approved, though the process was another one when it was asked.
func TestAGatedCallOutsideOfSessions(t *testing.T) {
	for name, c := range map[string]struct {
		verdict approvals.Verdict
		state   approvals.State
		made    int
		record  []string
	}{
		"approved": {approvals.Approve, approvals.Done, 1, []string{
			"session.started", "actions.requested", "action.approval_requested", "action.approval_resolved", "action.result", "session.completed",
		}},
		"denied": {approvals.Deny, approvals.Denied, 0, []string{
			"session.started", "actions.requested", "action.approval_requested", "action.approval_resolved", "session.completed",
		}},
		"forgotten": {"", approvals.Expired, 0, []string{
			"session.started", "actions.requested", "action.approval_requested", "action.approval_resolved", "session.completed",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var seen []tools.Call
			deploy := guarded(forPeople("deploy", tools.Write, func(_ context.Context, c tools.Call) (tools.Result, error) {
				seen = append(seen, c)
				_, err := os.Stat(filepath.Join(c.Dir, "AGENTS.md"))
				return tools.Result{Text: "deployed"}, err
			}))
			registry, err := tools.New(deploy)
			if err != nil {
				t.Fatal(err)
			}
			agent := Agent{Tools: registry, LayOut: func(_ context.Context, dir string) error {
				return os.WriteFile(filepath.Join(dir, "AGENTS.md"), nil, 0o600)
			}}
			inHouseWith(t, func(o *Options) { o.Agent = func() Agent { return agent } }, func(h *house) {
				input := json.RawMessage(`{"token":"` + secret + `"}`)
				began := time.Now()
				got := h.call(ToolCall{Tool: "deploy", Input: input, Principal: "api:alice"})
				if took := time.Since(began); took > time.Second {
					t.Errorf("it waited %s for people", took)
				}
				v := got.Approval
				if v == nil || got.Result != nil || got.SessionID == "" || v.SessionID != got.SessionID || v.State != approvals.Pending ||
					v.CallID != got.CallID || v.Requester.Principal != "api:alice" || v.Risk != approvals.RiskHigh || strings.Contains(v.Input, secret) {
					t.Fatalf("answered %+v", got)
				}
				sess, turns := h.stored(got.SessionID)
				if sess.Channel != ChannelHTTP || sess.Mode != state.ModeTask || sess.Title != "call deploy" || sess.Principal != "api:alice" || len(turns) != 0 {
					t.Errorf("its session is %+v with %d turns", sess, len(turns))
				}
				if _, err := h.engine.Send(context.Background(), Message{Channel: ChannelHTTP, SessionID: sess.ID, Token: sess.Key, Text: "hello", Principal: "api:alice"}); !errors.Is(err, ErrTask) {
					t.Errorf("somebody talks into it: %v", err)
				}
				if left, err := os.ReadDir(filepath.Join(h.dir, "tool-calls")); err != nil || len(left) > 0 {
					t.Errorf("left is %v, %v", left, err)
				}
				h.restart()
				if c.verdict != "" {
					if _, err := h.engine.Decide(context.Background(), sayAs(operator(), v.ID, c.verdict)); err != nil {
						t.Fatal(err)
					}
				}
				h.wait(2 * time.Hour)
				if after := h.approvalNow(v.ID); after.State != c.state || len(seen) != c.made {
					t.Errorf("it is %s, made %d times", after.State, len(seen))
				}
				for _, made := range seen {
					if string(made.Input) != string(input) || made.ApprovalID != v.ID || made.Dir != h.engine.Workspace(sess.ID) || made.Principal != "api:alice" {
						t.Errorf("made with %+v", made)
					}
				}
				if got := h.eventsOf(sess.ID); !slices.Equal(got, c.record) {
					t.Errorf("the record is\n%s", strings.Join(got, "\n"))
				}
				if sess, turns := h.stored(sess.ID); len(turns) != 0 || sess.Status != state.SessionArchived {
					t.Errorf("afterwards it is %s with %d turns", sess.Status, len(turns))
				}
				if actions, entries := h.audit(); slices.Contains(actions, approvals.ActionCalled) || entries[0].Action != approvals.ActionAsked || entries[0].By != "api:alice" {
					t.Errorf("audited as %v", actions)
				}
			})
		})
	}
}

// eventsOf are the types of a session's events.
func (h *house) eventsOf(id string) []string {
	h.t.Helper()
	var types []string
	for line := range strings.Lines(h.recordOf(id)) {
		typ, _, _ := strings.Cut(line, " ")
		types = append(types, typ)
	}
	return types
}

// In a session it waits on that session's record, and lets turns go on meanwhile.
func TestAGatedCallInASession(t *testing.T) {
	made := 0
	deploy := guarded(forPeople("deploy", tools.Write, func(context.Context, tools.Call) (tools.Result, error) {
		made++
		return tools.Result{Text: "deployed"}, nil
	}))
	withTools(t, func(h *house) {
		sent := h.talk(Message{Text: "hello"})
		h.wait(time.Minute)
		got := h.call(ToolCall{Tool: "deploy", SessionID: sent.SessionID})
		if got.Approval == nil || got.SessionID != sent.SessionID {
			t.Fatalf("answered %+v", got)
		}
		sent = h.talk(sent.reply("and now"))
		h.wait(time.Minute)
		h.wantAsked(sent.SessionID, "hello:completed", "and now:completed")
		if _, err := h.engine.Decide(context.Background(), sayAs(operator(), got.Approval.ID, approvals.Approve)); err != nil {
			t.Fatal(err)
		}
		h.wait(time.Minute)
		if v := h.approvalNow(got.Approval.ID); v.State != approvals.Done || made != 1 {
			t.Errorf("it is %s, made %d times", v.State, made)
		}
		// No agent asked, so that none is told.
		h.wantAsked(sent.SessionID, "hello:completed", "and now:completed")
		record := h.recordOf(sent.SessionID)
		if strings.Count(record, "actions.requested ") != 1 || strings.Count(record, "action.result ") != 1 {
			t.Errorf("the record is\n%s", record)
		}
	}, deploy)
}

func TestAGatedCallThatCannotBeAsked(t *testing.T) {
	deploy := guarded(forPeople("deploy", tools.Write, says("never")))
	withTools(t, func(h *house) {
		sent := h.talk(Message{Text: "hello"})
		h.wait(time.Minute)
		for range maxOpenApprovals {
			if got := h.call(ToolCall{Tool: "deploy", SessionID: sent.SessionID}); got.Approval == nil {
				t.Fatalf("answered %+v", got)
			}
		}
		got := h.call(ToolCall{Tool: "deploy", SessionID: sent.SessionID})
		if got.Approval != nil || !got.IsError || !strings.Contains(string(got.Result), "wait for people already") {
			t.Errorf("one more is answered %+v: %s", got, got.Result)
		}
		// A dry run asks nobody.
		if got := h.call(ToolCall{Tool: "deploy", DryRun: true}); !got.Stubbed || got.Approval != nil {
			t.Errorf("a dry run is answered %+v", got)
		}
	}, deploy)
}

// Who wrote what a call is about cannot approve it as if it were somebody else's,
// though somebody else called.
func TestAGatedCallKnowsWhoseWorkItIsAbout(t *testing.T) {
	deploy := guarded(forPeople("deploy", tools.Write, says("never")))
	registry, err := tools.New(deploy)
	if err != nil {
		t.Fatal(err)
	}
	inHouseWith(t, func(o *Options) {
		o.Agent = func() Agent { return Agent{Tools: registry} }
		o.Channels[0] = authored{o.Channels[0].(*world)}
	}, func(h *house) {
		h.send(push("a", "", 1))
		h.wait(time.Minute)
		got := h.call(ToolCall{Tool: "deploy", SessionID: h.session("k").ID})
		if v := got.Approval; v == nil || v.Subject != "octo/shop#12" || v.Requester.Principal != "api:operator" || v.Requester.Slack != "" || v.Channel != "test" {
			t.Fatalf("answered %+v", got)
		}
		b := sayAs(person("U1"), got.Approval.ID, approvals.Approve)
		if _, err := h.engine.Decide(context.Background(), b); !errors.Is(err, approvals.ErrNotAllowed) || !strings.Contains(err.Error(), "own change") {
			t.Errorf("the author approves: %v", err)
		}
	})
}

// authored is a world whose work mona asked for and wrote.
type authored struct{ *world }

func (authored) Requester(Turn) (approvals.Identity, []approvals.Identity, string) {
	mona := approvals.Identity{Principal: "slack:user:T1:U1", Slack: "U1"}
	return mona, []approvals.Identity{mona}, "octo/shop#12"
}
