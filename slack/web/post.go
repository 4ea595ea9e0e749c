package web

import (
	"context"
	"errors"

	"github.com/slack-go/slack"
)

const (
	methodPost   = "chat.postMessage"
	methodUpdate = "chat.update"
)

// MarkerType is the event_type of the metadata that every message of ours carries
// whose repetition must be noticed.
const MarkerType = "liaison_post"

// Message is a message as Slack takes it.
type Message struct {
	// Text is mrkdwn: what notifications and screen readers get, and all that there
	// is where Blocks is empty.
	Text   string
	Blocks []slack.Block
	// Key marks the message, so that [Client.Own] tells it apart. Empty marks nothing.
	Key string
	// Unfurl lets Slack show previews of links.
	Unfurl bool
}

// options are the message as slack-go wants it.
func (m Message) options() []slack.MsgOption {
	o := []slack.MsgOption{slack.MsgOptionText(m.Text, false)}
	if len(m.Blocks) > 0 {
		o = append(o, slack.MsgOptionBlocks(m.Blocks...))
	}
	if m.Key != "" {
		o = append(o, slack.MsgOptionMetadata(marker(m.Key)))
	}
	return o
}

func marker(key string) slack.SlackMetadata {
	return slack.SlackMetadata{EventType: MarkerType, EventPayload: map[string]any{"key": key}}
}

// Post posts a message and returns its ts. Slack posts at channel level, and says
// that all is well, where the root of a thread was deleted: that message is
// deleted again, and the error is one of class [ErrDetached].
// https://github.com/slack-go/slack/issues/1571
func (c *Client) Post(ctx context.Context, at Place, m Message) (ts string, err error) {
	options := m.options()
	if !m.Unfurl {
		options = append(options, slack.MsgOptionDisableLinkUnfurl(), slack.MsgOptionDisableMediaUnfurl())
	}
	if at.Thread != "" {
		options = append(options, slack.MsgOptionTS(at.Thread))
	}
	var posted struct {
		TS      string `json:"ts"`
		Message *struct {
			Thread string `json:"thread_ts"`
		} `json:"message"`
	}
	err = c.do(ctx, call{method: methodPost, at: at, write: &write{priority: Answer, spends: true}, into: &posted},
		func(ctx context.Context, api *slack.Client) error {
			_, _, err := api.PostMessageContext(ctx, at.Channel, options...)
			return err
		})
	switch {
	case err != nil:
		return "", err
	case posted.TS == "":
		return "", &Error{Class: ErrAmbiguous, Method: methodPost, Err: errors.New("the answer names no message")}
	case at.Thread != "" && posted.Message != nil && posted.Message.Thread != at.Thread:
		if err := c.Delete(ctx, at, posted.TS); err != nil {
			c.log.Warn("a message went astray, because its thread is gone, and could not be deleted",
				"team", at.Team, "channel", at.Channel, "ts", posted.TS, "error", err)
		}
		return "", &Error{Class: ErrDetached, Method: methodPost}
	}
	return posted.TS, nil
}

// Update gives a message of ours another content: all of it, so that no blocks of
// the old one stay.
func (c *Client) Update(ctx context.Context, at Place, ts string, m Message, p Priority) error {
	options := m.options()
	if len(m.Blocks) == 0 {
		options = append(options, slack.MsgOptionBlocks())
	}
	return c.do(ctx, call{method: methodUpdate, at: at, write: &write{priority: p, spends: true, about: ts}},
		func(ctx context.Context, api *slack.Client) error {
			_, _, _, err := api.UpdateMessageContext(ctx, at.Channel, ts, options...)
			return err
		})
}

// Delete deletes a message of ours. One that is not there is deleted.
func (c *Client) Delete(ctx context.Context, at Place, ts string) error {
	err := c.do(ctx, call{method: "chat.delete", at: at, write: &write{priority: Answer}},
		func(ctx context.Context, api *slack.Client) error {
			_, _, err := api.DeleteMessageContext(ctx, at.Channel, ts)
			return err
		})
	if Code(err) == "message_not_found" {
		return nil
	}
	return err
}
