package approvals

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/liaison-bot/liaison/internal/unseen"
)

// View is a record as people may see it: everything in it is redacted, and
// characters that nobody can see are shown. All cards are drawn from it, in every
// state of the call.
type View struct {
	ID        string
	Version   uint64
	SessionID string
	TurnID    string
	CallID    string

	Tool    string
	Summary string
	Risk    Risk
	Subject string
	// Input is what will run, as indented JSON, whole. InputHash is of what runs.
	Input     string
	InputHash string

	Channel   string
	Request   json.RawMessage
	Requester Identity
	Policy    Policy
	// Deciders are the groups of people who may decide now.
	Deciders []Approvers

	State    State
	Votes    []Vote
	Decision *Vote
	Reason   string
	Parked   bool
	Outcome  *Outcome

	CreatedAt  time.Time
	ExpiresAt  time.Time
	ReminderAt time.Time
	DecidedAt  time.Time
	StartedAt  time.Time
	EndedAt    time.Time

	Cards []Card
}

// Show returns a record as people may see it. mask masks secrets in a text.
func (r Record) Show(mask func(string) string) View {
	prose := func(s string) string {
		s, _ = unseen.Reveal(unseen.Joined(strings.ToValidUTF8(s, "\uFFFD"), mask))
		return s
	}
	v := View{
		ID: r.ID, Version: r.Version, SessionID: r.SessionID, TurnID: r.TurnID, CallID: r.CallID,
		Tool: r.Tool, Summary: prose(r.Summary), Risk: r.Risk, Subject: prose(r.Subject),
		Input: showInput(r.Input, mask), InputHash: r.InputHash,
		Channel: r.Channel, Request: r.Request, Requester: r.Requester, Policy: r.Policy, Deciders: r.Deciders(),
		State: r.State, Reason: prose(r.Reason), Parked: r.Parked,
		CreatedAt: r.CreatedAt, ExpiresAt: r.ExpiresAt, ReminderAt: r.ReminderAt,
		DecidedAt: r.DecidedAt, StartedAt: r.StartedAt, EndedAt: r.EndedAt,
		Cards: append([]Card(nil), r.Cards...),
	}
	for _, vote := range r.Votes {
		v.Votes = append(v.Votes, shownVote(vote, prose))
	}
	if r.Decision != nil {
		d := shownVote(*r.Decision, prose)
		v.Decision = &d
	}
	if r.Outcome != nil {
		o := *r.Outcome
		o.Text = prose(o.Text)
		v.Outcome = &o
	}
	return v
}

func shownVote(v Vote, prose func(string) string) Vote {
	v.Reason = prose(v.Reason)
	return v
}
