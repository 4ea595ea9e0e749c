package sessions

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/state"
)

// Every way in which a call can end is seen on every card.
func TestACardIsDrawnUntilItShowsTheEnd(t *testing.T) {
	inOffice(t, func(o *office) {
		asked := o.ask()
		o.desk.fail(func(item Item) error {
			if item.Card.Place == "thread" {
				return &RetryError{Err: errors.New("429")}
			}
			return nil
		})
		if _, err := o.decide(asked.ID, approvals.Approve, person("U1")); err != nil {
			t.Error(err)
		}
		if got := o.desk.card("thread", asked.ID); got != "pending v1" {
			t.Errorf("the card that cannot be drawn says %q", got)
		}
		if got := o.desk.card("home", asked.ID); got != "done v4" {
			t.Errorf("the other card waits for it: %q", got)
		}
		for _, card := range o.approval(asked.ID).Cards {
			if card.Ref != "ref-"+card.Place+"/"+asked.ID {
				t.Errorf("the reference is let go before the card shows the end: %+v", card)
			}
		}
		o.desk.fail(nil)
		drawn := o.desk.drawings("thread", asked.ID)
		o.wait(time.Hour)
		o.wantState(asked.ID, approvals.Done)
		if n := o.desk.drawings("thread", asked.ID) - drawn; n != 1 {
			t.Errorf("it was drawn %d times to catch up", n)
		}
	})
}

// A surface that is down for long is caught up with, whoever decided meanwhile where.
func TestACardCatchesUpAfterALongOutage(t *testing.T) {
	for name, outage := range map[string]time.Duration{"a night": 12 * time.Hour, "a long weekend": 4 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			inOffice(t, func(o *office) {
				asked := o.ask()
				o.desk.fail(func(Item) error { return &RetryError{Err: errors.New("502")} })
				if _, err := o.decide(asked.ID, approvals.Deny, person("U1")); err != nil {
					t.Error(err)
				}
				o.wait(outage)
				o.desk.fail(nil)
				o.wait(time.Hour)
				o.wantState(asked.ID, approvals.Denied)
				if got := o.letters(); len(got) > 0 {
					t.Errorf("given up: %q", got)
				}
			})
		})
	}
}

// A clock that ran days ahead for a while, as on a machine that was just resumed, holds
// up no card for days.
func TestACardIsDrawnAfterTheClockIsSetBack(t *testing.T) {
	var ahead atomic.Int64
	ahead.Store(int64(72 * time.Hour))
	inOfficeWith(t, func(options *Options) {
		options.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	}, func(o *office) {
		asked := o.ask()
		o.desk.fail(func(Item) error { return &RetryError{Err: errors.New("502")} })
		if _, err := o.decide(asked.ID, approvals.Deny, person("U1")); err != nil {
			t.Error(err)
		}
		o.wait(time.Second)
		ahead.Store(0)
		o.desk.fail(nil)
		o.wait(time.Hour)
		o.wantState(asked.ID, approvals.Denied)
	})
}

// A refusal that lasts does not hold up the approval, and what comes after it is
// shown: the surface may only have been misconfigured.
func TestACardThatWasGivenUpShowsTheNextStep(t *testing.T) {
	inOffice(t, func(o *office) {
		o.policy.MinApprovals = 2
		asked := o.ask()
		o.desk.fail(func(item Item) error {
			if item.Card.Place == "thread" {
				return errors.New("channel is not configured")
			}
			return nil
		})
		if _, err := o.decide(asked.ID, approvals.Approve, person("U1")); err != nil {
			t.Error(err)
		}
		o.wait(time.Minute)
		if got := o.letters(); len(got) != 1 || !strings.Contains(got[0], "channel is not configured") {
			t.Errorf("dead letters are %q", got)
		}
		if got := o.desk.card("home", asked.ID); got != "approving v2" {
			t.Errorf("the other card says %q", got)
		}
		o.desk.fail(nil)
		if _, err := o.decide(asked.ID, approvals.Approve, person("U2")); err != nil {
			t.Error(err)
		}
		o.wait(time.Minute)
		o.wantState(asked.ID, approvals.Done)
	})
}

// Channels are asked about approvals of each other's sessions, and a card on
// another one stands in nobody's way.
func TestACardOnAnotherChannel(t *testing.T) {
	var elsewhere *desk
	var surfaces []map[string]string
	inOfficeWith(t, func(options *Options) {
		if elsewhere == nil {
			elsewhere = newDesk(newWorld(), "elsewhere", "board")
			elsewhere.fails = func(item Item) error {
				surfaces = append(surfaces, item.Surface)
				if item.Key != "" || item.Surface != nil {
					return fmt.Errorf("it is given the key %q and %v of another channel", item.Key, item.Surface)
				}
				return &RetryError{Paused: true, Err: errors.New("suspended")}
			}
		}
		options.Channels = append(options.Channels, elsewhere)
	}, func(o *office) {
		asked := o.ask()
		if len(asked.Cards) != 3 {
			t.Fatalf("the cards are %+v", asked.Cards)
		}
		if _, err := o.decide(asked.ID, approvals.Deny, person("U1")); err != nil {
			t.Error(err)
		}
		o.wait(time.Second)
		if got := o.desk.card("thread", asked.ID); got != "denied v2" {
			t.Errorf("the card says %q", got)
		}
		if s := o.session("k"); s.Paused != "" {
			t.Errorf("the session is paused by another channel: %s", s.Paused)
		}
		elsewhere.fail(nil)
		o.wait(time.Hour)
		if got := elsewhere.card("board", asked.ID); got != "denied v2" || len(surfaces) == 0 {
			t.Errorf("the card elsewhere says %q", got)
		}
	})
}

// A surface that is broken holds up neither the call nor the others.
func TestABrokenSurfaceHoldsUpNothing(t *testing.T) {
	inOfficeWith(t, func(options *Options) {
		options.Channels = append(options.Channels, broken{newDesk(newWorld(), "broken", "a")})
	}, func(o *office) {
		o.desk.places = []string{"thread", "thread", "", strings.Repeat("long", 200)}
		asked := o.ask()
		o.desk.places = []string{"thread", strings.Repeat("long", 200)}
		o.wantState(asked.ID, approvals.Pending)
		if _, err := o.decide(asked.ID, approvals.Approve, person("U1")); err != nil {
			t.Error(err)
		}
		o.wantState(asked.ID, approvals.Done)
		o.wantMade(`{"label":"x"}`)
	})
}

type broken struct{ *desk }

func (broken) ApprovalCards(approvals.View) []ApprovalCard             { panic("cards") }
func (broken) ApprovalEffects(approvals.View, ApprovalMoment) []Effect { panic("effects") }

func TestTheLineOfACardFitsAnyPlace(t *testing.T) {
	long := approvals.Card{Channel: "slack", Place: strings.Repeat("x", state.MaxID)}
	other := approvals.Card{Channel: "slack", Place: strings.Repeat("x", state.MaxID-1) + "y"}
	a, b := cardLine("apr_1", long), cardLine("apr_1", other)
	if a == b || !state.ValidID(a+"#18446744073709551615") || !state.ValidID(b+"#18446744073709551615") {
		t.Errorf("%q, %q", a, b)
	}
}
