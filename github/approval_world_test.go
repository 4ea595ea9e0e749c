package github

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/sessions"
)

// court is a world in which calls wait for people, with their records kept as the
// engine keeps them.
type court struct {
	*world
	records map[string]approvals.Record
}

// asked is when the approvals of tests were asked for.
var askedAt = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func newCourt(t *testing.T, options ...worldOption) *court {
	t.Helper()
	c := &court{records: map[string]approvals.Record{}}
	c.world = newWorld(t, append(options, func(_ *sim.GitHubOptions, o *Options) {
		o.Approval = func(_ context.Context, id string) (approvals.View, error) {
			r, ok := c.records[id]
			if !ok {
				return approvals.View{}, approvals.ErrUnknown
			}
			return shown(r), nil
		}
		o.People = map[string]string{"U0ANN": "ann"}
	})...)
	for _, login := range []string{"mona", "ann", "bob"} {
		c.SetPermission(repoName, login, "write")
	}
	c.SetPermission(repoName, "rob", "read")
	return c
}

func shown(r approvals.Record) approvals.View { return r.Show(func(s string) string { return s }) }

// sampleRecord is a call that waits, about a request.
func sampleRecord(id string, r request, input string) approvals.Record {
	return approvals.Open(approvals.Record{
		ID: id, SessionID: "ses_1", TurnID: "trn_1", CallID: "call_1", Tool: "set_labels", Summary: "Sets labels of the pull request",
		Input: json.RawMessage(input), InputHash: approvals.HashInput(json.RawMessage(input)), Channel: Name, Request: r.encode(),
		Subject: r.name(), Requester: approvals.Identity{Principal: "github:user:11", GitHub: "mona"},
		Policy: approvals.Policy{
			Approvers:    approvals.Approvers{GitHub: []string{"Ann", "bob", "mona"}, GitHubTeams: []string{"octo/security"}, CodeOwners: true},
			MinApprovals: 1, OperatorMayDecide: true, ExpiresAfter: 24 * time.Hour,
		},
	}, askedAt).Record
}

// aprID is the id of a test's nth approval.
func aprID(n int) string { return fmt.Sprintf("apr_%032x", n) }

// open has a call wait, with its card drawn.
func (c *court) open(n int, change func(*approvals.Record)) string {
	c.t.Helper()
	id := aprID(n)
	r := c.request()
	r.Author, r.Actor = c.somebody("mona"), c.somebody("mona")
	record := sampleRecord(id, r, `{"add":["deployment"]}`)
	record.Requester = c.channel.identity(r.Actor)
	if change != nil {
		change(&record)
	}
	for _, card := range c.channel.ApprovalCards(shown(record)) {
		record.Cards = append(record.Cards, approvals.Card{Channel: Name, Place: card.Place, Address: card.Address})
	}
	c.records[id] = record
	if _, err := c.draw(id, 1); err != nil {
		c.t.Fatal(err)
	}
	return id
}

// draw attempts to draw the card of an approval, and keeps what comes of it.
func (c *court) draw(id string, attempts int) (sessions.Receipt, error) {
	c.t.Helper()
	record := c.records[id]
	if len(record.Cards) != 1 {
		c.t.Fatalf("%d cards", len(record.Cards))
	}
	payload, err := json.Marshal(sessions.CardItem{ApprovalID: id, Place: record.Cards[0].Place, Version: record.Version})
	must(c.t, err)
	view := shown(record)
	card := record.Cards[0]
	receipt, err := c.channel.Deliver(c.t.Context(), sessions.Item{
		ID: id + "/card", SessionID: record.SessionID, Kind: sessions.KindApprovalCard, Payload: payload, Attempts: attempts,
		Approval: &view, Card: &card,
	})
	if receipt.Card != nil {
		record.Cards = []approvals.Card{*receipt.Card}
		c.records[id] = record
	}
	return receipt, err
}

// check is the check run of an approval.
func (c *court) check(id string) sim.CheckRun {
	c.t.Helper()
	var found []sim.CheckRun
	for _, run := range c.checks() {
		if run.ExternalID == id {
			found = append(found, run)
		}
	}
	if len(found) != 1 {
		c.t.Fatalf("%d check runs of %s", len(found), id)
	}
	return found[0]
}

func (c *court) checkID(id string) int64 {
	n, err := strconv.ParseInt(c.records[id].Cards[0].Ref, 10, 64)
	must(c.t, err)
	return n
}

// mapped is what mapping makes of a delivery.
func (c *court) mapped(hook sim.Webhook) sessions.Intent {
	c.t.Helper()
	in, err := Map(sessions.Delivery{Source: Name, ID: hook.DeliveryID, Event: hook.Event, Body: hook.Body}, Self{AppID: appID, Handle: "liaison"})
	must(c.t, err)
	return in
}

// press is a press of a button, mapped and weighed.
func (c *court) press(id, login, verdict string) sessions.Intent {
	c.t.Helper()
	hook, err := c.PressButton(c.checkID(id), login, verdict)
	must(c.t, err)
	return c.weigh(c.mapped(hook))
}

// say is a comment, mapped and weighed.
func (c *court) say(login, text string) sessions.Intent {
	c.t.Helper()
	return c.weigh(c.wrote(login, text))
}

// judge casts a ballot as the engine does, draws the card anew, and delivers what
// whoever cast it is told.
func (c *court) judge(in sessions.Intent) error {
	c.t.Helper()
	var err error
	if in.Action == sessions.ActionDecide {
		record := c.records[in.Ballot.ApprovalID]
		var step approvals.Step
		if step, err = record.Cast(*in.Ballot, askedAt.Add(3*time.Minute)); err == nil {
			c.records[record.ID] = step.Record
			_, drawn := c.draw(record.ID, 1)
			must(c.t, drawn)
		}
		view := shown(c.records[record.ID])
		in.Effects = append(in.Effects, c.channel.DecisionEffects(in.Request, sessions.DecisionVerdict{Ballot: *in.Ballot, Err: err, Approval: &view})...)
	}
	for _, e := range in.Effects {
		_, err := c.deliver(sessions.Item{ID: in.Fact + e.Name, Kind: e.Kind, Payload: e.Payload, Attempts: 1})
		must(c.t, err)
	}
	return err
}
