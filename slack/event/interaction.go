package event

import (
	"maps"
	"slices"
)

// Interaction is a click, a shortcut or what became of a view.
type Interaction struct {
	Installation
	Type string
	User string
	// UserTeam is where that account is at home.
	UserTeam string
	Channel  string
	// Message is the one on which was clicked or that a shortcut is about.
	Message *Message
	// MessageTS and Thread say where the click was, also where Slack sends no message.
	MessageTS string
	Thread    string
	// Ephemeral is set where only who clicked sees the message.
	Ephemeral bool
	Actions   []Action
	View      View
	// Callback names a shortcut.
	Callback string
	// TriggerID opens one view within 3 s. ResponseURL answers for 30 minutes, at most
	// five times; it is a credential
	// (https://docs.slack.dev/interactivity/handling-user-interaction).
	TriggerID   string
	ResponseURL string
}

// Action is what was used of a message or a view.
type Action struct {
	ID    string
	Block string
	Type  string
	Value string
	TS    string
}

// View is a modal or a home tab.
type View struct {
	ID       string
	Callback string
	// Metadata is what its opener left in it: nobody else can write it.
	Metadata string
	// Inputs is what was written or chosen, by the ids of the actions.
	Inputs map[string]string
}

const (
	// maxActions bounds the actions of one interaction; Slack sends one.
	maxActions = 25
	// maxInput bounds one input in bytes; Slack's own limit is 3,000 characters
	// (https://docs.slack.dev/reference/block-kit/block-elements/plain-text-input-element).
	maxInput = 12_000
	// maxMetadata is Slack's limit of a view's private metadata, in characters
	// (https://docs.slack.dev/reference/views/modal-views).
	maxMetadata = 3000
	// maxActionID and maxValue are Slack's limits of a button
	// (https://docs.slack.dev/reference/block-kit/block-elements/button-element).
	maxActionID = 255
	maxValue    = 2000
	// maxURL bounds a URL in bytes.
	maxURL = 3000
)

// readInteraction reads the payload of an interaction.
// Fields: https://docs.slack.dev/reference/interaction-payloads
func readInteraction(o object) Interaction {
	user, container, view := o.object("user"), o.object("container"), o.object("view")
	i := Interaction{
		Installation: Installation{
			// An installation in an organisation comes with "team": null.
			Team: first(o.id("team"), view.id("app_installed_team_id"), user.id("team_id")),
			App:  o.id("api_app_id"),
		},
		Type:        o.word("type"),
		User:        user.id("id"),
		UserTeam:    user.id("team_id"),
		Channel:     first(o.id("channel"), container.id("channel_id")),
		MessageTS:   first(container.time("message_ts"), o.time("message_ts")),
		Thread:      container.time("thread_ts"),
		Ephemeral:   container.flag("is_ephemeral"),
		View:        readView(view),
		Callback:    clip(o.text("callback_id"), maxActionID),
		TriggerID:   clip(o.text("trigger_id"), maxActionID),
		ResponseURL: clip(o.text("response_url"), maxURL),
	}
	if o.flag("is_enterprise_install") {
		i.Enterprise = first(o.id("enterprise"), user.id("enterprise_id"))
	}
	if o.has("message") {
		m := readMessage(o.object("message"))
		m.Channel = i.Channel
		i.Message = &m
		i.MessageTS, i.Thread = first(i.MessageTS, m.TS), first(i.Thread, m.Thread)
	}
	for _, a := range o.objects("actions", maxActions) {
		i.Actions = append(i.Actions, Action{
			ID: clip(a.text("action_id"), maxActionID), Block: clip(a.text("block_id"), maxActionID),
			Type: a.word("type"), Value: clip(inputValue(a), maxValue), TS: a.time("action_ts"),
		})
	}
	return i
}

// readView reads a view.
func readView(o object) View {
	v := View{
		ID: o.id("id"), Callback: clip(o.text("callback_id"), maxActionID),
		Metadata: clip(o.text("private_metadata"), maxMetadata),
	}
	// Where there are no inputs, "values" has been an empty list
	// (https://github.com/slack-go/slack/issues/943).
	values := o.object("state").object("values")
	for _, block := range slices.Sorted(maps.Keys(values)) {
		inputs := values.object(block)
		for _, action := range slices.Sorted(maps.Keys(inputs)) {
			if text := clip(inputValue(inputs.object(action)), maxInput); text != "" {
				if v.Inputs == nil {
					v.Inputs = make(map[string]string)
				}
				v.Inputs[action] = text
			}
		}
	}
	return v
}

// inputValue is what an element holds: a text, or the value of what was chosen.
func inputValue(o object) string {
	chosen := o.object("selected_option")
	return first(
		o.text("value"), chosen.text("value"), o.text("selected_channel"), o.text("selected_conversation"),
		o.text("selected_user"), o.text("selected_date"), o.text("selected_time"),
	)
}
