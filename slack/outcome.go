package slack

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/liaison-bot/liaison/sessions"
)

// outcomeAddress is where the outcome of work on another channel is told, and whom.
type outcomeAddress struct {
	address
	User string `json:"user,omitempty"`
}

// outcome tells how work goes that was asked for here and is done elsewhere.
func (c *Channel) outcome(ctx context.Context, item sessions.Item, o sessions.Outcome) (sessions.Receipt, error) {
	var to outcomeAddress
	if err := json.Unmarshal(o.Address, &to); err != nil || to.Channel == "" {
		return sessions.Receipt{}, errors.New("the outcome names no place in Slack")
	}
	return c.post(ctx, item, renderOutcome(item.ID, to, o))
}

// renderOutcome is the message about an outcome. Who asked is called when it is over.
func renderOutcome(key string, to outcomeAddress, o sessions.Outcome) postPayload {
	p := postPayload{To: to.address, Key: key, Mention: to.User, Model: o.Model, Duration: o.Duration}
	if o.URL != "" {
		p.Link, p.LinkText = o.URL, "Open "+o.Subject
	}
	say := func(lead string) string {
		if text := strings.TrimSpace(o.Text); text != "" {
			return lead + "\n\n" + text
		}
		return lead
	}
	switch o.Stage {
	case sessions.OutcomeAccepted:
		p.Mention, p.Markdown = "", say("On it: "+o.Subject+".")
	case sessions.OutcomeWaiting:
		p.Mention, p.Markdown = "", say(o.Subject+" has to wait.")
	case sessions.OutcomeRefused:
		p.Failed, p.Markdown = true, say("I did not take up "+o.Subject+".")
	case sessions.OutcomeCompleted:
		p.Markdown = say("Done: " + o.Subject + ".")
	case sessions.OutcomeInterrupted:
		p.Failed, p.Markdown = true, say("The work on "+o.Subject+" was stopped.")
	default:
		p.Failed, p.Markdown = true, say("The work on "+o.Subject+" failed.")
	}
	return p
}
