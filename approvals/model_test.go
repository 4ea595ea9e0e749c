package approvals_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/liaison-bot/liaison/approvals"
)

// people are all who may take part in the model, some of them the same human.
func people() []approvals.Person {
	return []approvals.Person{
		member(ann), member(annOnGitHub), member(bob), member(asker), operator,
		{Identity: ann, Standing: approvals.Guest}, {Identity: bob, Standing: approvals.Bot}, {},
		member(approvals.Identity{Principal: "slack:user:T1:UOUT", Slack: "UOUT"}),
	}
}

// TestModel takes random steps: at most one decision is made and at most one
// execution is begun, nothing comes after the end, and who approved are that many
// different people of those who may.
func TestModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := call(func(r *approvals.Record) {
			r.Policy.MinApprovals = rapid.IntRange(0, 3).Draw(t, "min")
			r.Policy.SelfApproval = rapid.Bool().Draw(t, "self")
			r.Policy.OperatorMayDecide = rapid.Bool().Draw(t, "operator")
		})
		now, began, decided, ended := noon, 0, 0, 0
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 4*3600).Draw(t, "seconds")) * time.Second)
			before := r
			s, ok := randomStep(t, r, now)
			if !ok {
				if !reflect.DeepEqual(r, before) {
					t.Fatal("a step that was not possible changed the record")
				}
				continue
			}
			if before.State.Ended() {
				t.Fatalf("from %s to %s", before.State, s.Record.State)
			}
			r = s.Record
			if s.Run {
				decided++
			}
			if r.State == approvals.Executing {
				began++
			}
			if r.State.Ended() {
				ended++
			}
			checkRecord(t, r)
		}
		if began > 1 || decided > 1 || ended > 1 {
			t.Fatalf("executed %d times, decided %d, ended %d", began, decided, ended)
		}
	})
}

func randomStep(t *rapid.T, r approvals.Record, now time.Time) (approvals.Step, bool) {
	switch rapid.IntRange(0, 12).Draw(t, "step") {
	case 0:
		return r.Expire(now)
	case 1:
		return r.Cancel("stopped", "", now)
	case 2:
		return r.Supersede("moved on", now)
	case 3:
		return r.Remind(now)
	case 4, 5:
		return r.Begin(1, now)
	case 6:
		return r.Finish(approvals.Outcome{IsError: rapid.Bool().Draw(t, "failed")}, now)
	case 7:
		return r.Lose("crash", now)
	case 8:
		return r.Refuse("changed", now)
	}
	b := say(rapid.SampledFrom([]approvals.Verdict{approvals.Approve, approvals.Approve, approvals.Approve, approvals.Deny, ""}).Draw(t, "verdict"),
		rapid.SampledFrom(people()).Draw(t, "by"))
	s, err := r.Cast(b, now)
	for _, known := range []error{approvals.ErrUnknown, approvals.ErrInvalid, approvals.ErrNotAllowed, approvals.ErrDecided} {
		if errors.Is(err, known) {
			return s, false
		}
	}
	if err != nil {
		t.Fatalf("a reason that nobody is told: %v", err)
	}
	return s, true
}

func checkRecord(t *rapid.T, r approvals.Record) {
	if len(r.Votes) > max(r.Policy.MinApprovals, 1) {
		t.Fatalf("%d approvals where %d are needed", len(r.Votes), r.Policy.MinApprovals)
	}
	for i, v := range r.Votes {
		if v.By.Is(asker) && !r.Policy.SelfApproval || v.By.Slack == "UOUT" || v.By.Principal == "" {
			t.Fatalf("%s approved", v.By.Principal)
		}
		if v.By.Principal == approvals.OperatorPrincipal && (i > 0 || !r.Policy.OperatorMayDecide) {
			t.Fatal("the operator approved")
		}
		for _, other := range r.Votes[:i] {
			if v.By.Is(other.By) {
				t.Fatalf("%s approved twice", v.By.Principal)
			}
		}
	}
	switch r.State {
	case approvals.Approved, approvals.Executing, approvals.Done, approvals.Failed, approvals.Unknown:
		if len(r.Votes) < r.Policy.MinApprovals || len(r.Votes) == 0 || r.Decision == nil || r.Decision.Verdict != approvals.Approve {
			t.Fatalf("%s with %d approvals", r.State, len(r.Votes))
		}
	case approvals.Denied:
		if r.Decision == nil || r.Decision.Verdict != approvals.Deny {
			t.Fatalf("%s without a denial", r.State)
		}
	default:
		if r.Decision != nil {
			t.Fatalf("%s with a decision", r.State)
		}
	}
}

func FuzzCast(f *testing.F) {
	f.Add(apr, "ses_1", "approve", "slack:user:T1:UANN", "UANN", "ann", "member", "slack", "", int64(60))
	f.Add(apr, "", "deny", "github:user:5", "", "ASKER", "member", "", "x", int64(0))
	f.Add("apr_", "ses_2", "", "", "", "", "", "", "", int64(86400))
	f.Fuzz(func(t *testing.T, id, session, verdict, principal, slack, github, standing, channel, ref string, seconds int64) {
		r := call()
		b := approvals.Ballot{
			ApprovalID: id, SessionID: session, Verdict: approvals.Verdict(verdict), Channel: channel, Ref: ref,
			By: approvals.Person{Identity: approvals.Identity{Principal: principal, Slack: slack, GitHub: github}, Standing: approvals.Standing(standing)},
		}
		s, err := r.Cast(b, noon.Add(time.Duration(seconds%(1<<30))*time.Second))
		if answer := r.Show(plain).Answer(err, approvals.Words{}); err != nil && answer == "" {
			t.Error("a refused ballot is silent")
		}
		if err != nil {
			return
		}
		if !s.Run && s.Record.State != approvals.Denied {
			t.Errorf("it counts, and is %s", s.Record.State)
		}
		if b.By.Standing != approvals.Member || id != apr {
			t.Errorf("a ballot of %+v about %q counts", b.By, id)
		}
		if s.Run && b.By.Is(asker) {
			t.Error("the requester approved")
		}
	})
}
