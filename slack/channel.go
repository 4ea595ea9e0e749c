package slack

import (
	"context"
	"errors"

	"github.com/liaison-bot/liaison/sessions"
)

// Name is the channel's word; deliveries with this source are its own.
const Name = "slack"

// Channel is Slack as the engine sees it. The zero value is ready for use.
type Channel struct{}

var _ sessions.Channel = Channel{}

// errNoTurns is what a turn of Slack's would fail with; Map asks for none.
var errNoTurns = errors.New("slack: this version takes Slack's events and runs no turns for them")

// Name implements [sessions.Channel].
func (Channel) Name() string { return Name }

// Map implements [sessions.Channel]. It names what came and asks for nothing.
func (Channel) Map(d sessions.Delivery) (sessions.Intent, error) {
	kind, err := describe(d)
	if err != nil {
		return sessions.Intent{}, err
	}
	return sessions.Intent{
		Action: sessions.ActionIgnore,
		Reason: kind + ": this version keeps what Slack sends and does nothing about it",
	}, nil
}

// Prepare implements [sessions.Channel].
func (Channel) Prepare(context.Context, sessions.Turn, string) (sessions.Brief, error) {
	return sessions.Brief{}, errNoTurns
}

// Effects implements [sessions.Channel].
func (Channel) Effects(sessions.Turn, sessions.Report) ([]sessions.Effect, error) {
	return nil, errNoTurns
}

// Deliver implements [sessions.Channel].
func (Channel) Deliver(context.Context, sessions.Item) (sessions.Receipt, error) {
	return sessions.Receipt{}, errNoTurns
}
