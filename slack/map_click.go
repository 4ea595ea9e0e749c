package slack

import (
	"strings"

	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/slack/event"
)

// What people see who click on something.
const (
	clickUnknown = "This button is not in use any more."
	clickThanks  = "Thank you, noted."
)

// clicks maps what was used of a message or a view: the first thing that is ours.
func (m mapper) clicks(i event.Interaction) sessions.Intent {
	for _, a := range i.Actions {
		if strings.HasPrefix(a.ID, actionPrefix) {
			return m.click(i, a)
		}
	}
	return ignore("nothing of ours was clicked")
}

func (m mapper) click(i event.Interaction, a event.Action) sessions.Intent {
	r := m.begin(i, byClick)
	r.Value = a.Value
	switch {
	case a.ID == actionOpen:
		return ignore("it opens a page")
	case a.ID == actionAsk:
		in := m.answer(r)
		in.Urgent = true
		return in
	case approvalVerbs[a.ID] != "" && m.ours(i):
		return m.decide(i, r, approvalVerbs[a.ID])
	case strings.HasPrefix(a.ID, actionChoice) && a.Value != "" && r.MessageTS != "" && m.ours(i):
		return m.chosen(r)
	case a.ID == actionStop && namesTurn(a.Value) && r.MessageTS != "" && m.ours(i):
		in := m.stop(r)
		in.TurnID = a.Value
		return in
	case a.ID == actionFeedback && r.MessageTS != "" && m.ours(i):
		if verdict, turn, ok := readFeedback(a.Value); ok {
			return m.feedback(r, verdict, turn)
		}
	}
	// No click is silent: who sees a button must learn that it does nothing.
	in := ignore("an unknown button, or one whose turn is unknown")
	in.Effects = tell(r, clickUnknown)
	in.Urgent = true
	return in
}

// ours reports whether the message on which was clicked can be ours, as Slack says.
func (m mapper) ours(i event.Interaction) bool {
	return i.Message == nil || i.Message.App == "" || i.App == "" || i.Message.App == i.App
}

// feedback is the intent of a judgement on an answer.
func (m mapper) feedback(r request, verdict, turn string) sessions.Intent {
	return sessions.Intent{
		Action: sessions.ActionNote, Reason: "feedback (" + verdict + "): " + r.reason(), Key: r.key(), Principal: r.principal(),
		Note: sessions.Note{
			Event: sessions.EventFeedbackReceived, TurnID: turn,
			Data: encode(sessions.Feedback{Principal: r.principal(), Verdict: verdict}),
		},
		Effects: tell(r, clickThanks), Urgent: true,
	}
}

// tell shows a text to who clicked, and to nobody else.
func tell(r request, text string) []sessions.Effect {
	if r.Channel == "" && r.ResponseURL == "" {
		return nil // on a home tab nothing can be said
	}
	return []sessions.Effect{effect("told", kindEphemeral, ephemeralPayload{
		To: r.address, User: r.User, Markdown: text, ResponseURL: r.ResponseURL,
	})}
}

// namesTurn reports whether a button's value can be a turn's id.
func namesTurn(value string) bool { return value != "" && event.ID(value) == value }
