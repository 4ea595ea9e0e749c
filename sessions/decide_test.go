package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/state"
)

// Whoever clicks twice, or against somebody else, gets an answer, and nothing
// happens twice.
func TestOfFiftyRacingDecisionsOneWins(t *testing.T) {
	inOffice(t, func(o *office) {
		asked := o.ask()
		var wg sync.WaitGroup
		var mu sync.Mutex
		won, lost := 0, 0
		for i := range 50 {
			verdict, who := approvals.Approve, person("U1")
			if i%2 == 1 {
				verdict, who = approvals.Deny, person("U2")
			}
			if i%5 == 0 { // by a click, of which the answer is seen below
				wg.Go(func() {
					body := fmt.Sprintf(`{"ApprovalID":%q,"Verdict":%q,"Place":"slack","By":{"principal":%q,"slack":%q,"Standing":"member"}}`,
						asked.ID, verdict, who.Principal, who.Slack)
					if _, err := o.store.Accept(context.Background(), state.Delivery{Source: "test", ID: fmt.Sprint("race-", i), Body: []byte(body)}); err != nil {
						t.Error(err)
					}
				})
				continue
			}
			wg.Go(func() {
				_, err := o.engine.Decide(context.Background(), approvals.Ballot{ApprovalID: asked.ID, Verdict: verdict, By: who, Place: "http"})
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					won++
				case errors.Is(err, approvals.ErrDecided):
					lost++
				default:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		o.settle()
		for i := 0; i < 50; i += 5 {
			switch d := o.delivery(fmt.Sprint("race-", i)); d.Status {
			case state.DeliveryDone:
				won++
			case state.DeliveryIgnored:
				lost++
			default:
				t.Errorf("click %d is %s: %s", i, d.Status, d.Decision)
			}
		}
		v := o.approval(asked.ID)
		if won != 1 || lost != 49 || v.State != approvals.Done && v.State != approvals.Denied {
			t.Errorf("%d won, %d lost, it is %s", won, lost, v.State)
		}
		o.wantState(asked.ID, v.State)
		if o.mu.Lock(); len(o.made) > 1 || (len(o.made) == 1) != (v.State == approvals.Done) {
			t.Errorf("it is %s and ran %d times", v.State, len(o.made))
		}
		o.mu.Unlock()
	})
}

// A channel may have to look up what a click is about, and whose it is.
func TestWhoDecidesIsFoundOutFirst(t *testing.T) {
	inOffice(t, func(o *office) {
		o.desk.weighs = true
		o.world.weigh = func(_ context.Context, in Intent) (Intent, error) {
			in.Ballot = &approvals.Ballot{}
			if err := json.Unmarshal([]byte(in.Message), in.Ballot); err != nil {
				return in, err
			}
			in.Ballot.By = person("U1")
			return in, nil
		}
		asked := o.ask()
		id := o.click(approvals.Ballot{ApprovalID: asked.ID, Verdict: approvals.Approve})
		o.wantDelivery(id, state.DeliveryDone, "of set_labels is approved")
		o.wantState(asked.ID, approvals.Done)
		o.wantMade(`{"label":"x"}`)
	})
}

func TestTheSecondDistinctPersonDecides(t *testing.T) {
	inOffice(t, func(o *office) {
		o.policy.MinApprovals = 2
		asked := o.ask()
		if v, err := o.decide(asked.ID, approvals.Approve, person("U1")); err != nil || v.State != approvals.Approving {
			t.Error(v.State, err)
		}
		o.wantState(asked.ID, approvals.Approving)
		var decided *approvals.DecidedError
		if _, err := o.decide(asked.ID, approvals.Approve, person("U1")); !errors.As(err, &decided) || !decided.Same {
			t.Error("their own vote again:", err)
		}
		if _, err := o.decide(asked.ID, approvals.Approve, operator()); !errors.Is(err, approvals.ErrNotAllowed) {
			t.Error("the operator as the second:", err)
		}
		o.wantMade()
		if _, err := o.decide(asked.ID, approvals.Approve, person("U2")); err != nil {
			t.Error(err)
		}
		o.wantState(asked.ID, approvals.Done)
		o.wantMade(`{"label":"x"}`)
	})
}

// Another bot, a guest and somebody who is on no list change nothing, and each of
// them is on record, but not without end.
func TestWhoMayNotDecideChangesNothing(t *testing.T) {
	inOffice(t, func(o *office) {
		asked := o.ask()
		bot, guest := person("U1"), person("U1")
		bot.Standing, guest.Standing = approvals.Bot, approvals.Guest
		for i := range maxRefusals + 10 {
			who := []approvals.Person{bot, guest, person("U9"), {}}[i%4]
			if v, err := o.decide(asked.ID, approvals.Approve, who); !errors.Is(err, approvals.ErrNotAllowed) || v.State != approvals.Pending {
				t.Fatalf("%+v: %s, %v", who, v.State, err)
			}
		}
		id := o.click(approvals.Ballot{ApprovalID: asked.ID, Verdict: approvals.Approve, By: bot})
		o.wantDelivery(id, state.DeliveryIgnored, "not allowed to decide")
		if said := o.world.said(); !strings.Contains(said[len(said)-1], "Only people can decide") {
			t.Errorf("they are told %q", said)
		}
		o.wantState(asked.ID, approvals.Pending)
		o.wantMade()
		refused := 0
		for _, line := range o.audit() {
			if strings.HasPrefix(line, "refused") {
				refused++
			}
		}
		if refused != maxRefusals {
			t.Errorf("%d refusals are on record", refused)
		}
	})
}

func TestABallotNamesOneCardOfOneApproval(t *testing.T) {
	inOffice(t, func(o *office) {
		o.runner.run = o.atOnce(`{"label":"1"}`, `{"label":"2"}`, `{"label":"3"}`)
		o.ask()
		all := o.approvals()
		slices.Reverse(all)
		ref := func(i int) string { return "ref-thread/" + all[i].ID }
		cast := func(i int, ref string) string {
			return o.click(approvals.Ballot{ApprovalID: all[i].ID, Verdict: approvals.Approve, By: person("U1"), Channel: "test", Ref: ref})
		}
		o.wantDelivery(cast(1, ref(0)), state.DeliveryIgnored, "no such approval")
		o.wantState(all[1].ID, approvals.Pending)
		o.wantDelivery(cast(2, ref(2)), state.DeliveryDone, "is approved")
		o.wantDelivery(cast(0, ref(0)), state.DeliveryDone, "is approved")
		o.wantState(all[0].ID, approvals.Done)
		o.wantState(all[1].ID, approvals.Pending)
		o.wantState(all[2].ID, approvals.Done)
		o.wantMade(`{"label":"3"}`, `{"label":"1"}`)
	})
}

func TestAnUnknownApprovalIsAnswered(t *testing.T) {
	inOffice(t, func(o *office) {
		id := "apr_00112233445566778899aabbccddeeff"
		click := o.click(approvals.Ballot{ApprovalID: id, Verdict: approvals.Approve, By: person("U1")})
		o.wantDelivery(click, state.DeliveryIgnored, "no such approval")
		o.wantSaid(`{"by":"slack:user:T1:U1"} no such approval is known`)
		for _, id := range []string{id, "apr_x", ""} {
			if _, err := o.decide(id, approvals.Approve, operator()); !errors.Is(err, approvals.ErrUnknown) {
				t.Errorf("%q: %v", id, err)
			}
		}
		asked := o.ask()
		_, err := o.engine.Decide(context.Background(), approvals.Ballot{ApprovalID: asked.ID, SessionID: "ses_other", Verdict: approvals.Approve, By: operator()})
		if !errors.Is(err, approvals.ErrUnknown) {
			t.Errorf("in another session: %v", err)
		}
		if _, err := o.engine.Decide(context.Background(), approvals.Ballot{ApprovalID: asked.ID, Verdict: "maybe", By: operator()}); !errors.Is(err, approvals.ErrInvalid) {
			t.Errorf("maybe: %v", err)
		}
	})
}

func TestApprovalsAreListed(t *testing.T) {
	inOffice(t, func(o *office) {
		o.runner.run = o.atOnce(`{"label":"1"}`, `{"label":"2"}`, `{"label":"3"}`)
		o.ask()
		all := o.approvals()
		if _, err := o.decide(all[1].ID, approvals.Deny, operator()); err != nil {
			t.Error(err)
		}
		list := func(f ApprovalFilter, limit int) (inputs []string) {
			views, err := o.engine.Approvals(context.Background(), f, limit)
			if err != nil {
				t.Error(err)
			}
			for _, v := range views {
				inputs = append(inputs, strings.Join(strings.Fields(v.Input), ""))
			}
			return inputs
		}
		for _, c := range []struct {
			f     ApprovalFilter
			limit int
			want  string
		}{
			{ApprovalFilter{}, 10, `{"label":"3"} {"label":"2"} {"label":"1"}`},
			{ApprovalFilter{Open: true}, 10, `{"label":"3"} {"label":"1"}`},
			{ApprovalFilter{Open: true, Before: all[0].ID}, 1, `{"label":"1"}`},
			{ApprovalFilter{SessionID: all[0].SessionID}, 2, `{"label":"3"} {"label":"2"}`},
			{ApprovalFilter{SessionID: "ses_other"}, 2, ``},
		} {
			if got := strings.Join(list(c.f, c.limit), " "); got != c.want {
				t.Errorf("%+v, %d: %s, want %s", c.f, c.limit, got, c.want)
			}
		}
		o.wait(time.Second)
	})
}
