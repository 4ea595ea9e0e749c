package slack

import (
	"context"

	"github.com/liaison-bot/liaison/sessions"
)

// react puts a reaction on a message and takes another away. They are exchanged in
// this order, so that one of them is always there.
func (c *Channel) react(ctx context.Context, _ sessions.Item, p reactionPayload) (sessions.Receipt, error) {
	at := p.To.place()
	var err error
	if p.Add != "" {
		err = c.web.React(ctx, at, p.TS, p.Add)
	}
	if p.Remove != "" && p.Remove != p.Add && (err == nil || lasting(err) && !revoked(err)) {
		if removed := c.web.Unreact(ctx, at, p.TS, p.Remove); err == nil {
			err = removed
		}
	}
	return minor("reacted", "reaction", err)
}
