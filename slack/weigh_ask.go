package slack

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/slack/event"
	"github.com/liaison-bot/liaison/slack/markup"
	"github.com/liaison-bot/liaison/slack/web"
)

// pose puts a question that stands in no message where others can read it, and
// gives it to the session of that thread.
func (c *Channel) pose(ctx context.Context, in sessions.Intent, r request) (sessions.Intent, error) {
	key := askedKey(in, r)
	response := r.ResponseURL
	r.ResponseURL, r.TriggerID = "", "" // credentials have no place in a turn
	if in.Key == r.key() && r.Thread == "" {
		in.Request = r.encode() // direct messages that are one session begin no threads
		return in, nil
	}
	ts, text, err := c.asked(ctx, r, r.Text, key)
	if err != nil {
		return in, err
	}
	if text != "" {
		in.Reason += ": it cannot be asked there"
		if r.Trigger == bySubmit {
			// The app may be in no such channel: then a direct message tells it.
			return owing(in, effect("asked", kindPost, postPayload{
				To: address{Team: r.Team, Enterprise: r.Enterprise, Channel: r.Channel}, Key: key + ":refused",
				Mention: r.User, User: r.User, Failed: true, Markdown: text,
			})), nil
		}
		r.ResponseURL = response
		return owing(in, aside(r, "asked", text)...), nil
	}
	if r.Thread == "" {
		r.Thread = ts
	}
	r.TS = ts
	in.Key, in.MessageID, in.Request = r.key(), ts, r.encode()
	if in.Fact == "" {
		in.Fact = r.fact(ts)
	}
	return in, nil
}

// askedKey marks the message that poses a question: the same however often the
// delivery is weighed. It tells nothing of the credentials that it is made of.
func askedKey(in sessions.Intent, r request) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{in.Fact, in.Key, r.TriggerID, r.ResponseURL}, "\x00")))
	return "asked:" + hex.EncodeToString(sum[:16])
}

// askedWithin bounds how far back in a channel a question that was posed is looked
// for: a delivery is weighed again for some hours.
const askedWithin = 24 * time.Hour

// maxAsked bounds a question as it is shown, in bytes; the agent gets all of it.
const maxAsked = 3000

// asked posts what somebody asks, once, and returns its ts; or says to a person why
// it cannot be posted.
func (c *Channel) asked(ctx context.Context, r request, question, key string) (ts, refused string, err error) {
	at := r.place()
	if ts, err = c.findAsked(ctx, r, key); err == nil && ts == "" {
		quote := "> " + strings.ReplaceAll(strings.TrimSpace(c.redact(event.Plain(question))), "\n", "\n> ")
		ts, err = c.web.Post(ctx, at, web.Message{
			Text: "<@" + r.User + "> asks:\n" + markup.Mrkdwn(quote, maxAsked), Key: key,
		})
	}
	if errors.Is(err, web.ErrAmbiguous) {
		if found, lookErr := c.findAsked(ctx, r, key); lookErr == nil && found != "" {
			return found, "", nil
		}
	}
	if text := c.cannotAsk(ctx, r, err); text != "" {
		return "", text, nil
	}
	if err != nil {
		return "", "", fmt.Errorf("pose the question in %s: %w", r.Channel, err)
	}
	return ts, "", nil
}

// findAsked looks for a question that was posed already.
func (c *Channel) findAsked(ctx context.Context, r request, key string) (ts string, err error) {
	oldest := ""
	if r.Thread == "" {
		oldest = fmt.Sprintf("%d.000000", c.now().Add(-askedWithin).Unix())
	}
	for m, err := range c.web.Own(ctx, r.place(), oldest) {
		if err != nil {
			return "", err
		}
		if m.Key == key {
			return m.TS, nil
		}
	}
	return "", nil
}

// cannotAsk says to a person why nothing can be asked in a place, or nothing where
// it is worth another try.
func (c *Channel) cannotAsk(ctx context.Context, r request, err error) string {
	switch code := web.Code(err); {
	case err == nil:
		return ""
	case errors.Is(err, web.ErrDetached):
		return "I cannot answer in that thread: its first message was deleted. Ask again in the channel."
	case code == "not_in_channel" || code == "channel_not_found":
		if r.isDirect() {
			return "I cannot read this conversation. Mention me in a channel, or write to me directly."
		}
		return "I am not in that channel. Invite me with `" + c.invitation(ctx, r.place()) + "` and ask again, or write to me directly."
	case errors.Is(err, web.ErrGone):
		return "I may not write there (" + because(err) + "). Ask me in another channel, or write to me directly."
	case errors.Is(err, web.ErrRefused):
		return "Slack does not take your question from me (" + because(err) + "). Mention me in a message instead."
	}
	return ""
}

// invitation is the command that brings us into a channel, with the name that we
// have in that workspace.
func (c *Channel) invitation(ctx context.Context, at web.Place) string {
	name := c.botName
	if who, err := c.web.Identity(ctx, at); err == nil && who.Name != "" {
		name = who.Name
	}
	return "/invite @" + label(name)
}
