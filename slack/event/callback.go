package event

import "time"

// Callback is an event with what Slack says of whom it is for.
type Callback struct {
	Installation
	// Time is when it happened; zero where Slack did not say it.
	Time time.Time
	// Shared is set where other organisations are in the channel.
	Shared bool
	Event  Event
}

// Event is one of the events that mean something here; of the others only the type
// is worth anything.
type Event struct {
	Type    string
	Subtype string
	// Message is what message and app_mention speak of; of other events it has
	// Channel and User.
	Message Message
	// Changed and Previous are a message after and before it was edited or deleted.
	Changed  *Message
	Previous *Message
	// Deleted is the ts of a message that was deleted.
	Deleted string
	// At is the event's own ts.
	At string
	// Tab is what was opened of the app's home: "home" or "messages".
	Tab string
	// RevokedBots are the user ids of bots whose tokens were revoked.
	RevokedBots []string
	// NewChannel is the id that a channel has from now on; its old one is Message.Channel.
	NewChannel string
}

// maxAuthorizations bounds how many authorizations are read; Slack sends one.
const maxAuthorizations = 8

// readCallback reads the envelope of an event.
// Fields: https://docs.slack.dev/apis/events-api/#event-type-structure
func readCallback(o object) Callback {
	c := Callback{
		Installation: Installation{Team: first(o.id("context_team_id"), o.id("team_id")), App: o.id("api_app_id")},
		Shared:       o.flag("is_ext_shared_channel"),
		Event:        readEvent(o.object("event")),
	}
	if seconds := o.number("event_time"); seconds > 0 && seconds < maxSeconds {
		c.Time = time.Unix(seconds, 0).UTC()
	}
	// In a channel that is shared, team_id may be the workspace of who wrote: ours
	// is in the authorization (https://github.com/slackapi/bolt-js/issues/935).
	for i, a := range o.objects("authorizations", maxAuthorizations) {
		if i == 0 {
			c.Team = first(a.id("team_id"), c.Team)
			if a.flag("is_enterprise_install") {
				c.Enterprise = first(a.id("enterprise_id"), o.id("context_enterprise_id"), o.id("enterprise_id"))
			}
		}
		if c.BotUser == "" && a.flag("is_bot") {
			c.BotUser = a.id("user_id")
		}
	}
	return c
}

// maxSeconds is beyond any time of Slack's, in seconds: the year 5138.
const maxSeconds = 100_000_000_000

// readEvent reads the event itself.
func readEvent(o object) Event {
	e := Event{
		Type: o.word("type"), Subtype: o.word("subtype"), Message: readMessage(o),
		Deleted: o.time("deleted_ts"), At: o.time("event_ts"), Tab: o.word("tab"),
	}
	if o.has("message") {
		e.Changed = e.within(o.object("message"))
	}
	if o.has("previous_message") {
		e.Previous = e.within(o.object("previous_message"))
	}
	switch e.Type {
	case "assistant_thread_started", "assistant_thread_context_changed":
		thread := o.object("assistant_thread")
		e.Message.Channel, e.Message.User = thread.id("channel_id"), thread.id("user_id")
		e.Message.Thread = thread.time("thread_ts")
	case "tokens_revoked":
		e.RevokedBots = o.object("tokens").texts("bot")
	case "channel_id_changed":
		e.Message.Channel, e.NewChannel = o.id("old_channel_id"), o.id("new_channel_id")
	}
	return e
}

// within reads a message inside the event, which does not say again where it is.
func (e Event) within(o object) *Message {
	m := readMessage(o)
	m.Channel, m.ChannelType = e.Message.Channel, e.Message.ChannelType
	return &m
}

// first returns the first text that is not empty.
func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
