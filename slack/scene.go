package slack

import (
	"context"

	"github.com/liaison-bot/liaison/slack/event"
	"github.com/liaison-bot/liaison/slack/web"
)

// scene is where somebody asks.
type scene struct {
	// where is a line that is safe to say; channel is the id.
	where   string
	channel string
	// audience says who reads what is answered.
	audience string
}

// scene finds out where it is asked. What cannot be found out has only an id.
func (n *names) scene(ctx context.Context, r request) scene {
	s := scene{channel: event.ID(r.Channel), audience: "Everybody in the channel can read the answer."}
	if isDirect(r.ChannelType, r.Channel) {
		s.where, s.audience = "a direct conversation with you", "Nobody but who asks reads the answer."
		return s
	}
	var ch web.Channel
	if n.left > 0 {
		n.left--
		ch, _ = n.web.Channel(ctx, n.at) // without it, the place has only an id
	}
	kind := "a channel"
	switch {
	case ch.Group || r.ChannelType == "mpim":
		kind, s.audience = "a group of people", "Everybody in the group can read the answer."
	case ch.Private || r.ChannelType == "group":
		kind = "a private channel"
	}
	s.where = kind
	if name := label(ch.Name); name != "" && kind != "a group of people" {
		s.where += " named " + code("#"+name)
	}
	if r.Shared || ch.Shared {
		s.where += ", shared with other organisations"
		s.audience = "People of other organisations can read the answer too."
	}
	return s
}

// code is a label as a code span.
func code(text string) string { return "`" + text + "`" }
