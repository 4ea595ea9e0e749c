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

var (
	_ sessions.Channel = Channel{}
	_ sessions.Weigher = Channel{}
)

// errNoTurns is what a turn of Slack's would fail with; none is taken up.
var errNoTurns = errors.New("slack: this version takes Slack's events and runs no turns for them")

// Name implements [sessions.Channel].
func (Channel) Name() string { return Name }

// Map implements [sessions.Channel].
func (Channel) Map(d sessions.Delivery) (sessions.Intent, error) {
	return Map(d, Self{}, DefaultSettings())
}

// Weigh implements [sessions.Weigher]. Nobody may do anything yet.
func (Channel) Weigh(_ context.Context, in sessions.Intent) (sessions.Intent, error) {
	return ignore("%s: this version keeps what Slack sends and does nothing about it", in.Reason), nil
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
