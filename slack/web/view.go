package web

import (
	"context"

	"github.com/slack-go/slack"
)

// OpenView opens a modal for whoever clicked, within three seconds of that and
// once. A trigger that is used up is an error of class [ErrGone].
func (c *Client) OpenView(ctx context.Context, at Place, triggerID string, view slack.ModalViewRequest) error {
	return c.do(ctx, call{method: "views.open", at: at}, func(ctx context.Context, api *slack.Client) error {
		_, err := api.OpenViewContext(ctx, triggerID, view)
		return err
	})
}

// PublishHome shows somebody their home tab.
func (c *Client) PublishHome(ctx context.Context, at Place, user string, blocks []slack.Block) error {
	return c.do(ctx, call{method: "views.publish", at: at}, func(ctx context.Context, api *slack.Client) error {
		_, err := api.PublishViewContext(ctx, slack.PublishViewContextRequest{UserID: user, View: slack.HomeTabViewRequest{
			Type: slack.VTHomeTab, Blocks: slack.Blocks{BlockSet: blocks},
		}})
		return err
	})
}
