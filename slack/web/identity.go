package web

import (
	"context"

	"github.com/slack-go/slack"
)

// Identity is who Slack says that a token speaks for.
type Identity struct {
	Team     string `json:"team_id"`
	TeamName string `json:"team"`
	// Name is the bot's, as people write it after @.
	Name    string `json:"user"`
	BotUser string `json:"user_id"`
	BotID   string `json:"bot_id"`
	URL     string `json:"url"`
}

// Identity asks Slack whether it takes the token of a workspace, and as whom.
func (c *Client) Identity(ctx context.Context, at Place) (Identity, error) {
	var who Identity
	err := c.do(ctx, call{method: "auth.test", at: at, into: &who}, func(ctx context.Context, api *slack.Client) error {
		_, err := api.AuthTestContext(ctx)
		return err
	})
	return who, err
}
