package slack

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/sessions"
)

// elsewhere makes a record one that another surface asked for.
func elsewhere(r *approvals.Record) {
	r.Channel, r.Request = "github", json.RawMessage(`{"repo":1}`)
	r.Requester = approvals.Identity{Principal: "github:user:7", GitHub: "octocat"}
}

// A card stands in the thread that asked, calls nobody, and shows how it ended.
func TestCardInTheThread(t *testing.T) {
	t.Parallel()
	w := newBook(t)
	r := w.asks(`{"note":"<!channel> hunter2"}`)
	m := w.cardMessage(r.ID, 0)
	if m.ThreadTS != w.root.TS || len(m.Pings) > 0 || strings.Contains(m.Text+string(m.Blocks), "hunter2") {
		t.Errorf("the card is %+v", m)
	}
	wantIn(t, "card", m.Shown, "bob !here")
	wantIn(t, "card", m.Shown, "[redacted]")
	wantIn(t, "text", m.Text, "Approval needed: deploy on octo/shop#12, asked for by ann. "+r.ID)
	s, _ := r.Cancel("the session was stopped", "", time.Now())
	w.step(s)
	w.drawCards(r.ID)
	m = w.cardMessage(r.ID, 0)
	if strings.Contains(string(m.Blocks), `"actions"`) || len(w.answers()) != 1 {
		t.Errorf("settled, it is %s", m.Blocks)
	}
	wantIn(t, "settled card", m.Shown, "the session was stopped")
	if receipt, err := w.drawCard(r.ID, 0, 1); err != nil || len(w.Calls("chat.update")) != 1 {
		t.Errorf("drawn again: %+v, %v", receipt, err)
	}
}

// What no thread of Slack's asked for is shown where its approvers look.
func TestWhereCardsAre(t *testing.T) {
	t.Parallel()
	many := approvals.Approvers{}
	for i := range 12 {
		many.Slack = append(many.Slack, "U0MANY"+string(rune('A'+i)))
	}
	for name, test := range map[string]struct {
		edit    func(*approvals.Record)
		channel string
		lone    bool
		want    []string
	}{
		"asked here":                {func(*approvals.Record) {}, "C0OPS", true, []string{"thread"}},
		"asked in many workspaces":  {func(*approvals.Record) {}, "", false, []string{"thread"}},
		"the channel for approvals": {elsewhere, "C0OPS", true, []string{"channel:C0OPS"}},
		"people":                    {elsewhere, "", true, []string{"direct:U0BOB"}},
		"no workspace is meant":     {elsewhere, "C0OPS", false, nil},
		"nobody of Slack's": {func(r *approvals.Record) {
			elsewhere(r)
			r.Policy.Approvers = approvals.Approvers{GitHub: []string{"octocat"}}
		}, "", true, nil},
		"not too many":                   {func(r *approvals.Record) { elsewhere(r); r.Policy.Approvers = many }, "", true, nil},
		"what is no id is no place":      {elsewhere, "#ops", true, []string{"direct:U0BOB"}},
		"somebody else talks into Slack": {func(r *approvals.Record) { elsewhere(r); r.Channel = "http" }, "", true, []string{"direct:U0BOB"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newBook(t, func(o *Options) {
				o.OneToken, o.ApprovalChannel = test.lone, func() string { return test.channel }
			})
			r := w.opened(`{}`, test.edit)
			var got []string
			for _, c := range r.Cards {
				got = append(got, c.Place)
			}
			if name == "not too many" {
				if len(got) != maxDirectCards {
					t.Errorf("%d cards", len(got))
				}
				return
			}
			if strings.Join(got, " ") != strings.Join(test.want, " ") {
				t.Errorf("the cards are at %q, not %q", got, test.want)
			}
		})
	}
}

// Cards in a channel and in direct messages are posted, decided and settled alike.
func TestCardsElsewhere(t *testing.T) {
	t.Parallel()
	for name, channel := range map[string]string{"channel": general, "direct": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newBook(t, func(o *Options) { o.ApprovalChannel = func() string { return channel } })
			r := w.asks(`{}`, elsewhere)
			if in := w.click(r.ID, bob, actionApprove); in.Action != sessions.ActionDecide {
				t.Fatalf("action %v: %s", in.Action, in.Reason)
			}
			w.wantState(r.ID, approvals.Approved)
			w.drawCards(r.ID)
			wantIn(t, "card", w.cardMessage(r.ID, 0).Shown, "Approved by bob !here after less than a second in Slack")
		})
	}
}

// An attempt of which nobody knows how it ended posts no second card.
func TestACardIsPostedOnce(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]sim.SlackFault{
		"answer lost": {DropConnection: true, AfterEffect: true},
		"not heard":   {DropConnection: true},
		"an outage":   {Status: http.StatusBadGateway},
		"limited":     sim.SlackRateLimit("chat.postMessage", time.Second),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newBook(t, unhurried)
			r := w.opened(`{}`)
			fault.Method = "chat.postMessage"
			w.Fail(fault)
			for attempt := 1; w.record(r.ID).Cards[0].Ref == ""; attempt++ {
				if _, err := w.drawCard(r.ID, 0, attempt); err != nil && attempt > 3 {
					t.Fatal(err)
				}
			}
			if all := w.answers(); len(all) != 1 {
				t.Errorf("there are %d cards", len(all))
			}
		})
	}
}

// A reference is kept until the edit worked: only that the card is not there any more
// lets it go.
func TestACardsReferenceIsKept(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fault sim.SlackFault
		gone  bool
	}{
		"limited":         {sim.SlackRateLimit("chat.update", time.Second), false},
		"an outage":       {sim.SlackFault{Status: http.StatusInternalServerError}, false},
		"no token":        {sim.SlackFault{Error: "token_revoked"}, false},
		"message deleted": {sim.SlackFault{Error: "message_not_found"}, true},
		"channel deleted": {sim.SlackFault{Error: "channel_not_found"}, true},
		"not ours":        {sim.SlackFault{Error: "cant_update_message"}, true},
		"archived":        {sim.SlackFault{Error: "is_archived"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newBook(t, unhurried)
			r := w.asks(`{}`)
			ref := r.Cards[0].Ref
			s, _ := r.Expire(r.ExpiresAt)
			w.step(s)
			test.fault.Method = "chat.update"
			w.Fail(test.fault)
			_, err := w.drawCard(r.ID, 0, 1)
			card := w.record(r.ID).Cards[0]
			if card.Ref != ref || card.Gone != test.gone || (err == nil) != test.gone {
				t.Fatalf("the card is %+v: %v", card, err)
			}
			if test.gone {
				return
			}
			if _, err := w.drawCard(r.ID, 0, 2); err != nil || w.record(r.ID).Cards[0].Drawn != w.record(r.ID).Version {
				t.Errorf("it is not settled: %v", err)
			}
		})
	}
}

// A card that Slack does not take as it is goes as text that says how to decide.
func TestACardAsText(t *testing.T) {
	t.Parallel()
	w := newBook(t)
	r := w.opened(`{}`)
	w.Fail(sim.SlackFault{Method: "chat.postMessage", Error: "invalid_blocks"})
	w.drawCards(r.ID)
	wantIn(t, "card", w.cardMessage(r.ID, 0).Shown, "/liaison deny "+r.ID)
	w.Command(general, bob, "/liaison", "approve "+r.ID)
	w.decide(w.last("/liaison"))
	w.wantState(r.ID, approvals.Approved)
	w.drawCards(r.ID)
	wantIn(t, "card", w.cardMessage(r.ID, 0).Shown, "Approved")
}

// A thread whose first message was deleted, and a channel that is archived, have no
// place for a card, and what is left of the record is decided without one.
func TestNoPlaceForACard(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*book){
		"the root is deleted":     func(w *book) { w.Delete(general, w.root.TS) },
		"the channel is archived": func(w *book) { w.EditChannel(general, func(c *sim.SlackChannel) { c.Archived = true }) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newBook(t)
			r := w.opened(`{}`)
			spoil(w)
			if _, err := w.drawCard(r.ID, 0, 1); err != nil || !w.record(r.ID).Cards[0].Gone || len(w.ours(general)) != 0 {
				t.Errorf("%v, %+v, %d messages", err, w.record(r.ID).Cards, len(w.ours(general)))
			}
		})
	}
}

// Arguments that no window holds are a file in the thread before anybody is asked.
func TestArgumentsAsAFile(t *testing.T) {
	t.Parallel()
	w := newBook(t)
	r := w.asks(argument(400_000))
	all := w.answers()
	if len(all) != 2 || len(all[0].Files) != 1 || all[0].Files[0].Name != inputFile(r.ID) {
		t.Fatalf("there is %+v", all)
	}
	w.click(r.ID, bob, actionShow)
	view, open := w.View(bob)
	if !open || view.Submit != "Approve" {
		t.Fatalf("the window is %+v", view)
	}
	wantIn(t, "window", view.Shown, inputFile(r.ID))
	w.Submit(bob, nil)
	w.decide(w.last("view_submission"))
	w.wantState(r.ID, approvals.Approved)
}
