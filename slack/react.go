package slack

import (
	"context"
	"errors"

	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/slack/web"
)

// react puts a reaction on a message and takes another away. They are exchanged in
// this order, so that one of them is always there.
func (c *Channel) react(ctx context.Context, _ sessions.Item, p reactionPayload) (sessions.Receipt, error) {
	at := p.To.place()
	var err error
	if p.Add != "" {
		err = c.web.React(ctx, at, p.TS, p.Add)
	}
	if p.Add == reactionSeen && errors.Is(err, web.ErrLimited) {
		return sessions.Receipt{Note: "no reaction: " + err.Error()}, nil // the answer, which stands in line behind it, says more
	}
	if p.Remove != "" && p.Remove != p.Add && (err == nil || lasting(err) && !revoked(err)) {
		if removed := c.web.Unreact(ctx, at, p.TS, p.Remove); err == nil {
			err = removed
		}
	}
	return minor("reacted", "reaction", err)
}
