package web

import (
	"context"

	"github.com/slack-go/slack"
)

// OpenView opens a modal for whoever clicked, within three seconds of that and
// once, and returns its id. A trigger that is used up is an error of class [ErrGone].
func (c *Client) OpenView(ctx context.Context, at Place, triggerID string, view slack.ModalViewRequest) (id string, err error) {
	var said struct {
		View struct {
			ID string `json:"id"`
		} `json:"view"`
	}
	err = c.do(ctx, call{method: "views.open", at: at, into: &said}, func(ctx context.Context, api *slack.Client) error {
		_, err := api.OpenViewContext(ctx, triggerID, view)
		return err
	})
	return said.View.ID, err
}

// UpdateView gives a modal that is open another content.
func (c *Client) UpdateView(ctx context.Context, at Place, id string, view slack.ModalViewRequest) error {
	return c.do(ctx, call{method: "views.update", at: at}, func(ctx context.Context, api *slack.Client) error {
		_, err := api.UpdateViewContext(ctx, view, "", "", id)
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
