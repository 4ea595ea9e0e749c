package api_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/approvals"
	client "github.com/liaison-bot/liaison/gen/api"
	"github.com/liaison-bot/liaison/handlers/api"
	"github.com/liaison-bot/liaison/state"
)

func TestAnApprovalIsShownWithoutItsSecrets(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	response, err := w.as(aliceToken).ListSessionApprovals(t.Context(), sessionID, nil)
	body := read(t, response, err, 200)
	if strings.Contains(string(body), secret) {
		t.Errorf("the secret is in %s", body)
	}
	response, err = w.as(aliceToken).ListSessionApprovals(t.Context(), sessionID, nil)
	got := parse[client.ApprovalList](t, response, err, 200)
	if len(got.Approvals) != 1 || got.Next != nil {
		t.Fatalf("got %s", body)
	}
	a := got.Approvals[0]
	if a.Id != approvalID || a.CallId != "call-1" || a.ToolName != toolName || a.State != client.ApprovalStatePending || a.RequestedBy != "api:alice" ||
		!a.ExpiresAt.Equal(epoch.Add(time.Hour)) || *a.Subject != "octo/shop#12" || a.Risk != client.ApprovalRiskMedium ||
		!slices.Equal(a.Approvers[0].Slack, []string{"U1"}) || a.Cards[0].Channel != "github" || a.Decision != nil || len(a.Votes) != 0 {
		t.Errorf("got %+v", a)
	}
	if want := `{"service":"shop","size":1234567890,"token":"[redacted]"}`; string(a.Input) != want {
		t.Errorf("input %s, want %s", a.Input, want)
	}
	if !strings.Contains(a.InputText, `"service": "shop"`) || a.InputHash != w.runtime.asked[0].InputHash {
		t.Errorf("input %q with hash %s", a.InputText, a.InputHash)
	}
}

func TestADecision(t *testing.T) {
	t.Parallel()
	const unknown = "apr_ffffffffffffffffffffffffffffffff"
	for name, c := range map[string]struct {
		token, id string
		decision  client.Verdict
		before    client.Verdict
		change    func(*approvals.Record)
		status    int
		code      string
		says      string
	}{
		"by the approval's id":       {id: approvalID, decision: "approve", status: 200},
		"by the call's id":           {id: "call-1", decision: "deny", status: 200},
		"said again":                 {id: approvalID, decision: "approve", before: "approve", status: 200},
		"against another":            {id: approvalID, decision: "deny", before: "approve", status: 409, code: "already_decided", says: "api:operator"},
		"too late":                   {id: approvalID, decision: "deny", change: func(r *approvals.Record) { r.ExpiresAt = epoch }, status: 409, code: "already_decided", says: "expired"},
		"of nothing":                 {id: unknown, decision: "deny", status: 404, code: "not_found"},
		"of no call":                 {id: "call-2", decision: "deny", status: 404, code: "not_found"},
		"of an impossible id":        {id: "\x00", decision: "deny", status: 404, code: "not_found"},
		"that is none":               {id: approvalID, decision: "maybe", status: 400, code: "bad_request"},
		"by who asked":               {token: aliceToken, id: approvalID, decision: "approve", status: 403, code: "not_allowed", says: "not among those"},
		"by who asked, to deny":      {token: aliceToken, id: approvalID, decision: "deny", status: 200},
		"by somebody else":           {token: bobToken, id: approvalID, decision: "deny", status: 403, code: "not_owner"},
		"where the operator may not": {id: approvalID, decision: "approve", change: func(r *approvals.Record) { r.Policy.OperatorMayDecide = false }, status: 403, code: "not_allowed", says: "operator"},
		"as one of several people": {id: approvalID, decision: "approve", change: func(r *approvals.Record) {
			r.Policy.MinApprovals = 2
			r.Votes = []approvals.Vote{{Verdict: approvals.Approve, By: approvals.Identity{Principal: "slack:user:T1:U1", Slack: "U1"}, Place: "slack", At: epoch}}
			r.State = approvals.Approving
		}, status: 403, code: "not_allowed", says: "Several people"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if c.change != nil {
				c.change(&w.runtime.asked[0])
			}
			if c.token == "" {
				c.token = operatorToken
			}
			say := func(token string, v client.Verdict, status int) []byte {
				response, err := w.as(token).DecideApproval(t.Context(), sessionID, url.PathEscape(c.id), client.Decision{Decision: v, Reason: new("  as agreed\nyesterday ")})
				return read(t, response, err, status)
			}
			if c.before != "" {
				say(operatorToken, c.before, 200)
			}
			body := string(say(c.token, c.decision, c.status))
			if c.status != 200 {
				if !strings.Contains(body, `"error":"`+c.code+`"`) || !strings.Contains(body, c.says) {
					t.Errorf("answered %s", body)
				}
				return
			}
			if !strings.Contains(body, `"reason":"as agreed\nyesterday"`) || !strings.Contains(body, `"place":"http"`) {
				t.Errorf("answered %s", body)
			}
			want := map[client.Verdict]approvals.State{"approve": approvals.Approved, "deny": approvals.Denied}[c.decision]
			if got := w.runtime.asked[0].State; got != want {
				t.Errorf("it is %s, want %s", got, want)
			}
		})
	}
}

// Who may use the machine is nobody that a team has agreed on.
func TestALocalCallerDoesNotDecide(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *api.Options) { o.Token, o.Tokens = "", nil })
	response, err := w.as("").DecideApproval(t.Context(), sessionID, approvalID, client.Decision{Decision: client.VerdictApprove})
	got := parse[client.Error](t, response, err, 403)
	if got.Error != "not_allowed" || !strings.Contains(*got.Message, "LIAISON_API_TOKEN") {
		t.Errorf("got %s: %s", got.Error, *got.Message)
	}
}

func TestADecisionOfAnotherSessionsApproval(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	response, err := w.as(operatorToken).DecideApproval(t.Context(), taskID, approvalID, client.Decision{Decision: client.VerdictApprove})
	read(t, response, err, 404)
	if got := w.runtime.asked[0].State; got != approvals.Pending {
		t.Errorf("it is %s", got)
	}
}

func TestReasonsThatCardsCannotShow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for reason, status := range map[string]int{
		strings.Repeat("é", 2001): 400, "a\x1b[2J": 400, "a\x00": 400,
		strings.Repeat("é", 2000): 200,
	} {
		response, err := w.as(operatorToken).DecideApproval(t.Context(), sessionID, approvalID, client.Decision{Decision: client.VerdictDeny, Reason: &reason})
		read(t, response, err, status)
	}
}

// Agents exist that count their calls from the start in every turn.
func TestACallsIdThatComesAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := func(n int) string { return fmt.Sprintf("apr_%032x", n) }
	deny := func(call string, status int) string {
		response, err := w.as(operatorToken).DecideApproval(t.Context(), sessionID, call, client.Decision{Decision: client.VerdictDeny})
		return string(read(t, response, err, status))
	}
	deny("call-1", 200)
	w.runtime.ask(asking(id(2), sessionID, "call-1"))
	w.runtime.ask(asking(id(3), sessionID, "other"))
	if got := deny("call-1", 200); !strings.Contains(got, id(2)) {
		t.Errorf("the one that waits is denied by %s", got)
	}
	w.runtime.ask(asking(id(4), sessionID, "call-1"))
	w.runtime.ask(asking(id(5), sessionID, "call-1"))
	if got := deny("call-1", 409); !strings.Contains(got, id(4)) || !strings.Contains(got, id(5)) || !strings.Contains(got, "ambiguous") {
		t.Errorf("of two that wait it says %s", got)
	}
	for range 600 { // more than a page of them lies in between
		w.runtime.ask(asking(id(100+len(w.runtime.asked)), sessionID, "more"))
	}
	deny("other", 200)
}

func TestApprovalsArePagedAndOnlyOnesOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.commit(state.Change{Sessions: []state.Session{{ID: "ses_bob", Channel: "http", Principal: "api:bob", Mode: state.ModeChat, Status: state.SessionActive, CreatedAt: epoch, UpdatedAt: epoch}}})
	for i := range 120 {
		session := sessionID
		if i%3 == 0 {
			session = "ses_bob"
		}
		r := asking(fmt.Sprintf("apr_%032x", 100+i), session, "c")
		if i%10 == 0 {
			step, _ := r.Cancel("not wanted", "", epoch)
			r = step.Record
		}
		w.runtime.ask(r)
	}
	count := func(token string, states client.ListApprovalsParamsState) (n int, pages int) {
		params := client.ListApprovalsParams{Limit: new(25), State: &states}
		for {
			response, err := w.as(token).ListApprovals(t.Context(), &params)
			page := parse[client.ApprovalList](t, response, err, 200)
			n, pages = n+len(page.Approvals), pages+1
			if page.Next == nil {
				return n, pages
			}
			params.Before = page.Next
		}
	}
	for _, c := range []struct {
		token  string
		states client.ListApprovalsParamsState
		n      int
	}{{operatorToken, "all", 121}, {operatorToken, "open", 109}, {aliceToken, "all", 81}, {bobToken, "all", 40}, {bobToken, "open", 36}} {
		if n, pages := count(c.token, c.states); n != c.n || pages != 5 {
			t.Errorf("%s sees %d %s in %d pages, want %d", c.token, n, c.states, pages, c.n)
		}
	}
	for _, bad := range []string{"state=closed", "state=", "before=apr_1", "before=", "limit=0", "session=x"} {
		response, err := w.as(aliceToken).ListApprovals(t.Context(), nil, query(bad))
		read(t, response, err, http.StatusBadRequest)
	}
	response, err := w.as(bobToken).GetApproval(t.Context(), approvalID)
	read(t, response, err, 403)
	response, err = w.as(aliceToken).GetApproval(t.Context(), approvalID)
	if got := parse[client.ApprovalDetail](t, response, err, 200); got.Approval.Id != approvalID {
		t.Errorf("got %+v", got)
	}
	response, err = w.as(aliceToken).GetApproval(t.Context(), "apr_1")
	read(t, response, err, 404)
}
