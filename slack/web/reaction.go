package web

import (
	"context"

	"github.com/slack-go/slack"
)

// React puts a reaction on a message. One that is there already is put on.
func (c *Client) React(ctx context.Context, at Place, ts, name string) error {
	err := c.do(ctx, call{method: "reactions.add", at: at, write: &write{priority: Status}},
		func(ctx context.Context, api *slack.Client) error {
			return api.AddReactionContext(ctx, name, slack.NewRefToMessage(at.Channel, ts))
		})
	if Code(err) == "already_reacted" {
		return nil
	}
	return err
}

// Unreact takes a reaction of ours away. One that is not there is taken away.
func (c *Client) Unreact(ctx context.Context, at Place, ts, name string) error {
	err := c.do(ctx, call{method: "reactions.remove", at: at, write: &write{priority: Status}},
		func(ctx context.Context, api *slack.Client) error {
			return api.RemoveReactionContext(ctx, name, slack.NewRefToMessage(at.Channel, ts))
		})
	if Code(err) == "no_reaction" {
		return nil
	}
	return err
}
