package slack

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/state"
)

// tell performs what is owed at a moment of an approval.
func (b *book) tell(id string, m sessions.ApprovalMoment) {
	b.t.Helper()
	v, err := b.view(id)
	must(b.t, err)
	for _, e := range b.channel.ApprovalEffects(v, m) {
		item := b.item(e.Kind, nil)
		item.ID, item.Payload = e.Name, e.Payload
		b.must(item)
	}
}

// pinged are the people whom messages of ours in a channel call.
func (b *book) pinged(channel string) []string {
	var all []string
	for _, m := range b.ours(channel) {
		all = append(all, m.Pings...)
	}
	slices.Sort(all)
	return all
}

// The card calls nobody; a reminder calls the group that may decide since then.
func TestReminderCallsTheNextGroup(t *testing.T) {
	t.Parallel()
	w := newBook(t)
	w.AddUserGroup(sim.SlackUserGroup{ID: "S0LEADS", Team: team, Users: []string{cleo, ann}})
	r := w.asks(`{"secret":"hunter2"}`, func(r *approvals.Record) {
		r.Policy.Escalation = []approvals.Approvers{{SlackGroups: []string{"S0LEADS"}}}
	})
	if got := w.pinged(general); len(got) > 0 {
		t.Fatalf("the card calls %v", got)
	}
	s, _ := r.Remind(r.ReminderAt)
	w.step(s)
	w.tell(r.ID, sessions.ApprovalReminded)
	if got := w.pinged(general); !slices.Equal(got, []string{"<@U0ANN>", "<@U0CLEO>"}) {
		t.Errorf("the reminder calls %v", got)
	}
	last := w.answers()[1]
	if last.ThreadTS != w.root.TS || strings.Contains(last.Text, "hunter2") {
		t.Errorf("the reminder is %+v", last)
	}
	w.drawCards(r.ID)
	w.click(r.ID, cleo, actionApprove)
	w.wantState(r.ID, approvals.Approved)
}

// A reminder of what was asked elsewhere stands below the card, or comes directly.
func TestReminderElsewhere(t *testing.T) {
	t.Parallel()
	for name, channel := range map[string]string{"channel": general, "direct": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newBook(t, func(o *Options) { o.ApprovalChannel = func() string { return channel } })
			r := w.asks(`{}`, elsewhere, func(r *approvals.Record) {
				r.Policy.Escalation = []approvals.Approvers{{Slack: []string{cleo}}}
			})
			s, _ := r.Remind(r.ReminderAt)
			w.step(s)
			w.tell(r.ID, sessions.ApprovalReminded)
			place := general
			if channel == "" {
				place = w.DirectChannelOf(cleo)
			} else if all := w.ours(general); len(all) != 2 || all[1].ThreadTS != all[0].TS {
				t.Errorf("there is %+v", all)
			}
			if got := w.pinged(place); !slices.Equal(got, []string{"<@U0CLEO>"}) {
				t.Errorf("it calls %v", got)
			}
		})
	}
}

// Who asked hears by name that it waits, and how it ended.
func TestTheRequesterIsTold(t *testing.T) {
	t.Parallel()
	w := newBook(t)
	r := w.asks(`{}`)
	w.tell(r.ID, sessions.ApprovalParked)
	w.click(r.ID, bob, actionDeny)
	w.Submit(bob, map[string]map[string]any{inputReason: {inputReason: "not on a <!here> Friday"}})
	w.decide(w.last("view_submission"))
	w.tell(r.ID, sessions.ApprovalSettled)
	all := slices.DeleteFunc(w.answers(), func(m sim.SlackMessage) bool { return m.EphemeralTo != "" })
	if len(all) != 3 {
		t.Fatalf("there are %d messages", len(all))
	}
	for i, part := range map[int]string{1: "May decide: bob", 2: "Denied by bob"} {
		wantIn(t, "message", all[i].Shown, part)
		if !slices.Equal(all[i].Pings, []string{"<@U0ANN>"}) {
			t.Errorf("it calls %v: %s", all[i].Pings, all[i].Shown)
		}
	}
	wantIn(t, "message", all[2].Shown, "Friday")
}

// What another surface asked for is told there.
func TestTheRequesterOfElsewhereIsNotTold(t *testing.T) {
	t.Parallel()
	w := newBook(t)
	r := w.asks(`{}`, elsewhere)
	v, err := w.view(r.ID)
	must(t, err)
	for _, m := range []sessions.ApprovalMoment{sessions.ApprovalParked, sessions.ApprovalSettled} {
		if all := w.channel.ApprovalEffects(v, m); len(all) > 0 {
			t.Errorf("told %+v", all)
		}
	}
}

// A turn works for who asked it, and everybody whose question it answers has a hand in it.
func TestRequester(t *testing.T) {
	t.Parallel()
	w := newBook(t, with(func(s *Settings) { s.People = map[string]string{ann: "anncat"} }))
	asking := func(user, app, ts string) request {
		return request{address: w.thread(), Trigger: byMention, TS: ts, User: user, App: app}
	}
	who, authors, _ := w.channel.Requester(sessions.Turn{
		Request:  asking(ann, "", "1.1").encode(),
		Gathered: []state.Gathered{{Request: asking(bob, "", "1.2").encode()}, {Request: asking("", "A0PAGER", "1.3").encode()}},
	})
	if who != (approvals.Identity{Principal: "slack:user:T0ACME:U0ANN", Slack: ann, GitHub: "anncat"}) {
		t.Errorf("it works for %+v", who)
	}
	if len(authors) != 2 || authors[0].Slack != bob || authors[1] != (approvals.Identity{Principal: "slack:user:T0ACME:A0PAGER"}) {
		t.Errorf("a hand in it have %+v", authors)
	}
	if who, _, _ := w.channel.Requester(sessions.Turn{Principal: "api:operator", Request: json.RawMessage(`{}`)}); who.Principal != "api:operator" {
		t.Errorf("a turn of no request is for %+v", who)
	}
}

// The turn that hears of an outcome is told it by the host, answers where it was
// asked, and puts no reaction on what was answered before.
func TestTurnThatHearsOfAnOutcome(t *testing.T) {
	t.Parallel()
	w := newBook(t)
	r := w.asks(`{}`)
	v, err := w.view(r.ID)
	must(t, err)
	asked := request{
		address: w.thread(), Trigger: byMention, TS: w.root.TS, User: ann, Text: "deploy it", ResponseURL: "https://hooks.slack.com/x", TriggerID: "1",
	}
	raw, err := w.channel.Resume(asked.encode(), v)
	must(t, err)
	if text := string(raw); strings.Contains(text, "hooks.slack.com") || strings.Contains(text, "deploy it") {
		t.Errorf("the request is %s", text)
	}
	turn := sessions.Turn{ID: "trn_2", SessionID: "ses_1", Key: w.thread().key(), Request: raw, Message: "It was denied.", Attempt: 1, QueuedAt: time.Now()}
	brief, err := w.channel.Prepare(t.Context(), turn, t.TempDir())
	must(t, err)
	wantIn(t, "prompt", brief.Prompt, "By the host, about a call of yours")
	wantIn(t, "prompt", brief.Prompt, "It was denied.")
	effects, err := w.channel.Effects(turn, sessions.Report{Moment: sessions.MomentCompleted, Text: "It was denied."})
	must(t, err)
	for _, e := range effects {
		if e.Kind == kindReaction {
			t.Errorf("a reaction is owed: %s", e.Payload)
		}
		item := w.item(e.Kind, nil)
		item.Payload = e.Payload
		w.must(item)
	}
	all := w.answers()
	if last := all[len(all)-1]; last.ThreadTS != w.root.TS || !strings.Contains(last.Shown, "It was denied.") {
		t.Errorf("the answer is %+v", last)
	}
}
