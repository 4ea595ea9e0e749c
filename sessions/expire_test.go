package sessions

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/state"
)

func TestAnApprovalExpiresOnTime(t *testing.T) {
	inOffice(t, func(o *office) {
		asked := o.ask()
		o.wait(time.Until(asked.ExpiresAt) - time.Second)
		o.wantState(asked.ID, approvals.Pending)
		o.wait(time.Second)
		o.wantState(asked.ID, approvals.Expired)
		o.wait(time.Minute)
		o.wantMade()
		o.wantAnswers(`"status":"pending"`, "expired")
		id := o.click(approvals.Ballot{ApprovalID: asked.ID, Verdict: approvals.Approve, By: person("U1")})
		o.wantDelivery(id, state.DeliveryIgnored, "it is expired")
		if said := o.world.said(); !slices.Contains(said, "test: set_labels settled") {
			t.Errorf("nobody is told: %q", said)
		}
	})
}

func TestAnApprovalIsDecidedDaysLater(t *testing.T) {
	inOffice(t, func(o *office) {
		o.policy.ExpiresAfter = 5 * 24 * time.Hour
		asked := o.ask()
		o.wait(24 * time.Hour)
		o.restart()
		o.wait(48 * time.Hour)
		if _, err := o.decide(asked.ID, approvals.Approve, person("U1")); err != nil {
			t.Error(err)
		}
		o.wait(time.Minute)
		o.wantState(asked.ID, approvals.Done)
		o.wantMade(`{"label":"x"}`)
		o.wantAnswers(`"status":"pending"`, "labelled by")
	})
}

func TestTheNextGroupIsAskedWhenHalfOfTheTimeIsOver(t *testing.T) {
	inOffice(t, func(o *office) {
		o.policy.Escalation = []approvals.Approvers{{Slack: []string{"U8"}}, {Slack: []string{"U9"}}}
		asked := o.ask()
		for _, c := range []struct {
			after time.Duration
			level int
		}{{11 * time.Hour, 1}, {time.Hour, 2}, {6 * time.Hour, 3}} {
			o.wait(c.after)
			if n := len(o.wantState(asked.ID, approvals.Pending).Deciders); n != c.level {
				t.Errorf("after another %s %d groups may decide, want %d", c.after, n, c.level)
			}
		}
		if said := o.world.said(); !slices.Contains(said, "test: set_labels reminded") {
			t.Errorf("nobody is reminded: %q", said)
		}
		if _, err := o.decide(asked.ID, approvals.Approve, person("U9")); err != nil {
			t.Error(err)
		}
		o.wantState(asked.ID, approvals.Done)
		reminded := 0
		for _, line := range o.audit() {
			if line == "reminded" {
				reminded++
			}
		}
		if reminded != 2 {
			t.Errorf("%d reminders: %q", reminded, o.audit())
		}
	})
}

// A clock that is set forward ends what is due by it; one that is set back ends
// nothing before its time, and nothing is lost by either.
func TestAClockThatIsSetDoesNoHarm(t *testing.T) {
	var offset atomic.Int64
	inOfficeWith(t, func(options *Options) {
		options.Now = func() time.Time { return time.Now().Add(time.Duration(offset.Load())) }
	}, func(o *office) {
		asked := o.ask()
		offset.Store(int64(-48 * time.Hour))
		o.wait(30 * time.Hour)
		o.wantState(asked.ID, approvals.Pending)
		o.wait(43 * time.Hour)
		o.wantState(asked.ID, approvals.Expired)

		offset.Store(0)
		o.send(push("b", "a", 2))
		o.wait(time.Second)
		second := o.approvals()[0]
		offset.Store(int64(23 * time.Hour))
		o.wait(2 * time.Minute)
		offset.Store(0)
		o.wait(2 * time.Minute)
		if v := o.wantState(second.ID, approvals.Pending); !v.ReminderAt.IsZero() {
			t.Errorf("people were not reminded: %+v", v)
		}
		o.wait(24 * time.Hour)
		o.wantState(second.ID, approvals.Expired)
	})
}
