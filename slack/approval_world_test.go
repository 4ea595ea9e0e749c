package slack

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/sessions"
)

const (
	bob  = "U0BOB" // may decide
	cleo = "U0CLEO"
)

// book holds approvals as the engine does: one decision at a time, and what every
// card is owed.
type book struct {
	*world

	mu      sync.Mutex
	records map[string]approvals.Record
	order   []string
}

// newBook returns a world in which Bob may decide.
func newBook(t *testing.T, edit ...func(*Options)) *book {
	t.Helper()
	b := &book{records: map[string]approvals.Record{}}
	edit = append([]func(*Options){func(o *Options) {
		o.OneToken = true
		o.Approval = func(_ context.Context, id string) (approvals.View, error) { return b.view(id) }
		o.Approvals = func(_ context.Context, open bool, limit int) ([]approvals.View, error) {
			return b.list(open, limit), nil
		}
		o.Workspaces = alone{o.Workspaces}
	}}, edit...)
	b.world = newWorld(t, edit...)
	b.AddUser(sim.SlackUser{ID: bob, Team: team, Name: "bob <!here>"})
	b.AddUser(sim.SlackUser{ID: cleo, Team: team, Name: "cleo"})
	b.EditChannel(general, func(c *sim.SlackChannel) { c.Members = append(c.Members, bob, cleo) })
	return b
}

func (b *book) view(id string) (approvals.View, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r, found := b.records[id]
	if !found {
		return approvals.View{}, approvals.ErrUnknown
	}
	return r.Show(b.channel.redact), nil
}

func (b *book) list(open bool, limit int) []approvals.View {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []approvals.View
	for i := len(b.order) - 1; i >= 0 && len(all) < limit; i-- {
		if r := b.records[b.order[i]]; !open || r.State.Open() {
			all = append(all, r.Show(b.channel.redact))
		}
	}
	return all
}

// asks opens a record of a call that the thread asked for, and posts its cards.
func (b *book) asks(input string, edit ...func(*approvals.Record)) approvals.Record {
	b.t.Helper()
	r := b.opened(input, edit...)
	b.drawCards(r.ID)
	return b.record(r.ID)
}

// opened is [book.asks] before any card is posted.
func (b *book) opened(input string, edit ...func(*approvals.Record)) approvals.Record {
	b.t.Helper()
	id, err := approvals.NewID(strings.NewReader(strings.Repeat("0123456789abcde", 2)[len(b.order):]))
	must(b.t, err)
	r := approvals.Record{
		ID: id, SessionID: "ses_1", TurnID: "trn_1", CallID: "call_1", Tool: "deploy", Summary: "Deploys the shop.",
		Input: json.RawMessage(input), InputHash: approvals.HashInput(json.RawMessage(input)),
		Channel: Name, Request: request{address: b.thread(), Trigger: byMention, TS: b.root.TS, User: ann}.encode(), Subject: "octo/shop#12",
		Requester: approvals.Identity{Principal: principal(team, ann), Slack: ann},
		Policy: approvals.Policy{
			Approvers: approvals.Approvers{Slack: []string{bob}}, MinApprovals: 1, ExpiresAfter: 24 * time.Hour, OperatorMayDecide: true,
		},
	}
	for _, e := range edit {
		e(&r)
	}
	r = approvals.Open(r, time.Now()).Record
	for _, c := range b.channel.ApprovalCards(r.Show(b.channel.redact)) {
		r.Cards = append(r.Cards, approvals.Card{Channel: Name, Place: c.Place, Address: c.Address})
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.records[r.ID] = r
	b.order = append(b.order, r.ID)
	return r
}

func (b *book) record(id string) approvals.Record {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.records[id]
}

// step stores what a record became.
func (b *book) step(s approvals.Step) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.records[s.Record.ID] = s.Record
}

// cardItem is what is owed for one card of a record.
func (b *book) cardItem(id string, n, attempt int) sessions.Item {
	b.t.Helper()
	r := b.record(id)
	v, card := r.Show(b.channel.redact), r.Cards[n]
	item := b.item(sessions.KindApprovalCard, sessions.CardItem{ApprovalID: id, Place: card.Place, Version: r.Version})
	item.ID, item.Attempts, item.Approval, item.Card = "card:"+id, attempt, &v, &card
	return item
}

// drawCard makes one attempt at a card, and keeps what came of it.
func (b *book) drawCard(id string, n, attempt int) (sessions.Receipt, error) {
	b.t.Helper()
	receipt, err := b.deliver(b.cardItem(id, n, attempt))
	if receipt.Card != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.records[id].Cards[n] = *receipt.Card
	}
	return receipt, err
}

// drawCards brings all cards of a record up to it.
func (b *book) drawCards(id string) {
	b.t.Helper()
	for n := range b.record(id).Cards {
		_, err := b.drawCard(id, n, 1)
		must(b.t, err)
	}
}

// cardMessage is a card as people see it.
func (b *book) cardMessage(id string, n int) sim.SlackMessage {
	b.t.Helper()
	channel, ts := readRef(b.record(id).Cards[n].Ref)
	for _, m := range b.Messages(channel) {
		if m.TS == ts {
			return m
		}
	}
	b.t.Fatalf("there is no card %d of %s", n, id)
	return sim.SlackMessage{}
}

// decide weighs a delivery, casts its ballot and tells whoever cast it.
func (b *book) decide(d sim.SlackDelivery) sessions.Intent {
	b.t.Helper()
	in := b.weigh(d)
	if in.Action == sessions.ActionDecide {
		in.Effects = append(in.Effects, b.cast(in)...)
	}
	b.perform(in)
	return in
}

// cast casts a ballot as the engine does.
func (b *book) cast(in sessions.Intent) []sessions.Effect {
	b.mu.Lock()
	ballot := *in.Ballot
	verdict := sessions.DecisionVerdict{Ballot: ballot, Err: approvals.ErrUnknown}
	if r, found := b.records[ballot.ApprovalID]; found {
		step, err := r.Cast(ballot, time.Now())
		if verdict.Err = err; err == nil {
			b.records[r.ID] = step.Record
		}
		v := b.records[r.ID].Show(b.channel.redact)
		verdict.Approval = &v
	}
	b.mu.Unlock()
	return b.channel.DecisionEffects(in.Request, verdict)
}

// click has somebody press a button of a card.
func (b *book) click(id, user, action string) sessions.Intent {
	b.t.Helper()
	m := b.cardMessage(id, 0)
	b.Click(m.Channel, m.TS, user, action)
	return b.decide(b.last("block_actions"))
}

// wantState fails where a record is not as it should be.
func (b *book) wantState(id string, want approvals.State) {
	b.t.Helper()
	if got := b.record(id).State; got != want {
		b.t.Errorf("it is %s, not %s", got, want)
	}
}

// wantTold fails where somebody alone was not told just one thing with these words in it.
func (b *book) wantTold(user string, parts ...string) {
	b.t.Helper()
	var heard []string
	for _, m := range b.Messages(general) {
		if m.EphemeralTo == user {
			heard = append(heard, m.Text)
		}
	}
	if len(heard) != 1 {
		b.t.Fatalf("%s was told %q", user, heard)
	}
	for _, part := range parts {
		wantIn(b.t, "what "+user+" is told", heard[0], part)
	}
}
