package slack

import (
	"strings"

	"github.com/liaison-bot/liaison/sessions"
)

// refuse is the intent of what somebody asks who may not. Who spoke to us is told
// so, once in a thread; a click or a command is answered each time, as nobody else
// sees it. Who only spoke in our presence, and bots, hear nothing.
func (c *Channel) refuse(in sessions.Intent, r request, why denial) sessions.Intent {
	in = owing(in)
	in.Reason += ": refused, " + string(why)
	text := c.denialText(why)
	if text == "" || r.App != "" {
		return in
	}
	switch r.Trigger {
	case byMention, byDirect:
		in.Fact = strings.Join([]string{Name, "refused", r.install(), r.Channel, r.Thread, r.User}, ":")
	case byCommand, byShortcut, byClick, bySubmit, byStopEvent, byAnswer:
	default:
		return in
	}
	in.Effects = aside(r, "refused", text)
	return in
}

// denialText is what somebody is told, or nothing for what is no person.
func (c *Channel) denialText(why denial) string {
	const ask = " Whoever runs me here can change that."
	switch why {
	case deniedGuest:
		return "I answer full members of this workspace, and you are a guest here." + ask
	case deniedExternal:
		return "I answer members of the workspace that I belong to, and your account is of another organisation." + ask
	case deniedUser:
		return "You are not on the list of people whom I answer." + ask
	case deniedChannel:
		return "I do not answer in this channel." + ask
	}
	return ""
}
