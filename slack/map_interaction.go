package slack

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/slack/event"
)

// interaction maps a click, a shortcut or a view that was sent.
func (m mapper) interaction(i event.Interaction) (sessions.Intent, error) {
	switch {
	case i.Team == "" && i.Enterprise == "":
		return sessions.Intent{}, missing("workspace")
	case i.User == "":
		return ignore("it names nobody who did it"), nil
	}
	switch i.Type {
	case "block_actions":
		return m.clicks(i), nil
	case "view_submission":
		return m.submission(i), nil
	case "message_action", "shortcut":
		return m.shortcut(i), nil
	}
	return ignore("asks for nothing"), nil
}

// begin is what every request of an interaction has.
func (m mapper) begin(i event.Interaction, by trigger) request {
	r := request{
		address: address{Team: i.Team, Enterprise: i.Enterprise, Channel: i.Channel},
		Trigger: by, User: i.User, UserTeam: i.UserTeam,
		TriggerID: i.TriggerID, ResponseURL: i.ResponseURL, MessageTS: i.MessageTS,
	}
	if i.MessageTS != "" {
		r.address = m.place(i.Installation, i.Channel, isDirect("", i.Channel), i.Thread, i.MessageTS)
	}
	return r
}

// shortcut maps "Ask Liaison" in a message's menu, or among the shortcuts.
func (m mapper) shortcut(i event.Interaction) sessions.Intent {
	if i.Callback != shortcutAsk {
		return ignore("the shortcut is none of ours")
	}
	r := m.begin(i, byShortcut)
	if i.Message != nil {
		r.Text, r.Files = cmp.Or(i.Message.Text, i.Message.Attached), files(i.Message.Files)
	}
	in := m.answer(r)
	in.Urgent = true
	return in
}

// submission maps a view that was filled in.
func (m mapper) submission(i event.Interaction) sessions.Intent {
	switch i.View.Callback {
	case viewAsk:
	case viewShow, viewDeny:
		return m.decided(i)
	default:
		return ignore("the view is none of ours")
	}
	r := m.begin(i, bySubmit)
	var place viewPlace
	if json.Unmarshal([]byte(i.View.Metadata), &place) == nil && place.install() == r.install() {
		r.Channel, r.Thread, r.MessageTS = event.ID(place.Channel), event.TS(place.Thread), event.TS(place.MessageTS)
	}
	begins := r.Channel == ""
	if begins {
		r.Channel = event.ID(i.View.Inputs[inputChannel])
	}
	r.Verb, r.Text, r.Inputs = verbAsk, strings.TrimSpace(i.View.Inputs[inputQuestion]), i.View.Inputs
	switch {
	case r.Channel == "":
		return ignore("the view does not say where it is asked")
	case r.Text == "":
		return ignore("the view asks nothing")
	}
	in := m.newRun(r, r.Thread == "" && (!isDirect("", r.Channel) || !m.settings.DirectIsOne))
	if i.View.ID != "" {
		in.Fact = Name + ":" + r.install() + ":view:" + i.View.ID
	}
	return in
}
