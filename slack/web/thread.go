package web

import (
	"context"
	"encoding/json"
	"iter"

	"github.com/slack-go/slack"
)

// Reply is a message of a thread or a channel, as far as it could be read: a field
// that is not as documented is empty.
type Reply struct {
	TS     string
	Thread string // of the root, on which a root names itself
	// User wrote it, at home in Team where Slack says so; App and Bot are set where
	// an app did.
	User, Team string
	App, Bot   string
	Subtype    string
	// Name is what an app called itself there, and Text in mrkdwn.
	Name, Text string
	Edited     bool
	// Fields are all of the message, as they came.
	Fields map[string]json.RawMessage
	// FileNames are those of its files.
	FileNames []string
	// Key is the marker of a message that carries one of ours; see [MarkerType]. Any
	// app can write one.
	Key string
}

// Range is a stretch of a thread by ts; an empty end is open. The ends belong to it.
type Range struct{ Oldest, Latest string }

// Replies yields the messages of a place's thread, its root first, oldest first,
// or those of the channel, newest first, where the place has no thread. It ends
// with an error, or when there are no more, or after some thousands.
func (c *Client) Replies(ctx context.Context, at Place, within Range) iter.Seq2[Reply, error] {
	return func(yield func(Reply, error) bool) {
		cursor := ""
		for range maxPages {
			replies, next, err := c.page(ctx, at, within, cursor)
			if err != nil {
				yield(Reply{}, err)
				return
			}
			for _, r := range replies {
				if !yield(r, nil) {
					return
				}
			}
			if cursor = next; cursor == "" {
				return
			}
		}
	}
}

// page reads one page and returns the cursor of the next.
func (c *Client) page(ctx context.Context, at Place, within Range, cursor string) ([]Reply, string, error) {
	var said struct {
		Messages []json.RawMessage `json:"messages"`
		More     bool              `json:"has_more"`
		Metadata struct {
			Cursor string `json:"next_cursor"`
		} `json:"response_metadata"`
	}
	what := call{method: "conversations.replies", at: at, into: &said}
	request := func(ctx context.Context, api *slack.Client) error {
		_, _, _, err := api.GetConversationRepliesContext(ctx, &slack.GetConversationRepliesParameters{
			ChannelID: at.Channel, Timestamp: at.Thread, Cursor: cursor, Inclusive: true,
			Oldest: within.Oldest, Latest: within.Latest, Limit: pageSize, IncludeAllMetadata: true,
		})
		return err
	}
	if at.Thread == "" {
		what.method = "conversations.history"
		request = func(ctx context.Context, api *slack.Client) error {
			_, err := api.GetConversationHistoryContext(ctx, &slack.GetConversationHistoryParameters{
				ChannelID: at.Channel, Cursor: cursor, Inclusive: true,
				Oldest: within.Oldest, Latest: within.Latest, Limit: pageSize, IncludeAllMetadata: true,
			})
			return err
		}
	}
	if err := c.do(ctx, what, request); err != nil {
		return nil, "", err
	}
	replies := make([]Reply, 0, len(said.Messages))
	for _, raw := range said.Messages {
		if r, ok := readReply(raw); ok {
			replies = append(replies, r)
		}
	}
	return replies, said.Metadata.Cursor, nil
}

// Message returns one message of a channel, or of the place's thread. That there is
// none is an error of class [ErrGone].
func (c *Client) Message(ctx context.Context, at Place, ts string) (Reply, error) {
	for r, err := range c.Replies(ctx, at, Range{Oldest: ts, Latest: ts}) {
		if err != nil || r.TS == ts {
			return r, err
		}
	}
	return Reply{}, &Error{Class: ErrGone, Method: "look for a message", Code: "message_not_found"}
}

// Own yields what the app itself wrote into the place's thread, or into its channel
// where it has none, from oldest on; see [Client.Replies]. A thread that is gone
// holds nothing.
func (c *Client) Own(ctx context.Context, at Place, oldest string) iter.Seq2[Reply, error] {
	return func(yield func(Reply, error) bool) {
		w, err := c.Workspace(ctx, at)
		if err != nil {
			yield(Reply{}, withoutWorkspace("look for messages of ours", err))
			return
		}
		for r, err := range c.Replies(ctx, at, Range{Oldest: oldest}) {
			switch {
			case Code(err) == "thread_not_found" || Code(err) == "message_not_found":
				return
			case err != nil:
				yield(Reply{}, err)
				return
			case w.BotUser != "" && r.User == w.BotUser, w.BotID != "" && r.Bot == w.BotID:
				if !yield(r, nil) {
					return
				}
			}
		}
	}
}

// readReply reads a message field by field; false means that it has no ts.
func readReply(raw json.RawMessage) (Reply, bool) {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return Reply{}, false
	}
	r := Reply{
		TS: text(m["ts"]), Thread: text(m["thread_ts"]), User: text(m["user"]), Team: text(m["user_team"]),
		App: text(m["app_id"]), Bot: text(m["bot_id"]), Subtype: text(m["subtype"]), Name: text(m["username"]), Text: text(m["text"]),
		Fields: m, Edited: len(m["edited"]) > 0 && string(m["edited"]) != "null",
	}
	if r.Team == "" {
		r.Team = text(m["team"])
	}
	var files []json.RawMessage
	_ = json.Unmarshal(m["files"], &files) // what is no list holds no file
	for _, raw := range files {
		var f map[string]json.RawMessage
		if json.Unmarshal(raw, &f) == nil && text(f["name"]) != "" {
			r.FileNames = append(r.FileNames, text(f["name"]))
		}
	}
	var metadata struct {
		Type    string `json:"event_type"`
		Payload struct {
			Key string `json:"key"`
		} `json:"event_payload"`
	}
	if json.Unmarshal(m["metadata"], &metadata) == nil && metadata.Type == MarkerType {
		r.Key = metadata.Payload.Key
	}
	return r, r.TS != ""
}

// text is a JSON text, and an empty one for all else.
func text(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s) // what is no text says nothing
	return s
}
