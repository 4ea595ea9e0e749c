package event

import (
	"net/url"
	"strings"
)

// Command is a slash command.
type Command struct {
	Installation
	// Name is the command with its slash, and Text what stands behind it.
	Name string
	Text string
	User string
	// Channel is where it was given; Direct is set in a direct message.
	Channel string
	Direct  bool
	// TriggerID and ResponseURL are those of an [Interaction].
	TriggerID   string
	ResponseURL string
}

// maxCommandText bounds what stands behind a command, in bytes.
const maxCommandText = 40_000

// readCommand reads a command.
// Fields: https://docs.slack.dev/interactivity/implementing-slash-commands
func readCommand(form url.Values) Command {
	c := Command{
		Installation: Installation{Team: ID(form.Get("team_id")), App: ID(form.Get("api_app_id"))},
		Name:         clip(form.Get("command"), maxWord),
		Text:         strings.TrimSpace(clip(form.Get("text"), maxCommandText)),
		User:         ID(form.Get("user_id")),
		Channel:      ID(form.Get("channel_id")),
		Direct:       form.Get("channel_name") == "directmessage",
		TriggerID:    clip(form.Get("trigger_id"), maxActionID),
		ResponseURL:  clip(form.Get("response_url"), maxURL),
	}
	if strings.EqualFold(form.Get("is_enterprise_install"), "true") {
		c.Enterprise = ID(form.Get("enterprise_id"))
	}
	return c
}
