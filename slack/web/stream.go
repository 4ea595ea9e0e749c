package web

import (
	"context"
	"errors"

	"github.com/slack-go/slack"
)

// Recipient is for whom a stream is. Slack wants it outside of direct messages.
type Recipient struct{ User, Team string }

// StartStream begins a message that grows, with the given Markdown, and returns
// its ts. It takes no marker until it is stopped.
func (c *Client) StartStream(ctx context.Context, at Place, to Recipient, markdown string) (ts string, err error) {
	const method = "chat.startStream"
	options := []slack.MsgOption{slack.MsgOptionTS(at.Thread)}
	if markdown != "" {
		options = append(options, slack.MsgOptionMarkdownText(markdown))
	}
	if to.User != "" {
		options = append(options, slack.MsgOptionRecipientUserID(to.User), slack.MsgOptionRecipientTeamID(to.Team))
	}
	var started struct {
		TS string `json:"ts"`
	}
	err = c.do(ctx, call{method: method, at: at, write: &write{priority: Live, spends: true}, into: &started},
		func(ctx context.Context, api *slack.Client) error {
			_, _, err := api.StartStreamContext(ctx, at.Channel, options...)
			return err
		})
	if err == nil && started.TS == "" {
		err = &Error{Class: ErrAmbiguous, Method: method, Err: errors.New("the answer names no message")}
	}
	return started.TS, err
}

// AppendStream adds Markdown to a stream. The code message_not_in_streaming_state
// says that Slack has closed it. A text that was not added by [ErrLate] is still to
// be added.
func (c *Client) AppendStream(ctx context.Context, at Place, ts, markdown string) error {
	return c.do(ctx, call{method: "chat.appendStream", at: at, write: &write{priority: Live, spends: true}},
		func(ctx context.Context, api *slack.Client) error {
			_, _, err := api.AppendStreamContext(ctx, at.Channel, ts, slack.MsgOptionMarkdownText(markdown))
			return err
		})
}

// StopStream ends a stream: m.Text is the Markdown that is still missing, m.Blocks
// stand below it, and m.Key marks it.
func (c *Client) StopStream(ctx context.Context, at Place, ts string, m Message) error {
	var options []slack.MsgOption
	if m.Text != "" {
		options = append(options, slack.MsgOptionMarkdownText(m.Text))
	}
	if len(m.Blocks) > 0 {
		options = append(options, slack.MsgOptionBlocks(m.Blocks...))
	}
	if m.Key != "" {
		options = append(options, slack.MsgOptionMetadata(marker(m.Key)))
	}
	return c.do(ctx, call{method: "chat.stopStream", at: at, write: &write{priority: Answer, spends: true}},
		func(ctx context.Context, api *slack.Client) error {
			_, _, err := api.StopStreamContext(ctx, at.Channel, ts, options...)
			return err
		})
}
