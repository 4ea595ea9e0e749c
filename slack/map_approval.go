package slack

import (
	"strings"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/slack/event"
)

// approvalVerbs are the buttons of cards.
var approvalVerbs = map[string]verb{actionApprove: verbApprove, actionDeny: verbDeny, actionShow: verbShow}

// decides reports whether a request is about approvals, about which others may
// decide than those who may ask for something.
func (r request) decides() bool {
	switch r.Verb {
	case verbApprovals, verbApprove, verbDeny, verbShow:
		return true
	}
	return false
}

// decide maps a click on a card, or on a list of approvals, which is no card.
func (m mapper) decide(i event.Interaction, r request, v verb) sessions.Intent {
	r.Verb, r.Argument, r.Value = v, r.Value, ""
	if i.Ephemeral {
		r.MessageTS, r.Thread = "", i.Thread
	}
	return m.look(r)
}

// decided maps a window about an approval that was sent.
func (m mapper) decided(i event.Interaction) sessions.Intent {
	place, ok := readWindowPlace(i.View.Metadata)
	r := m.begin(i, bySubmit)
	if !ok || place.install() != r.install() {
		return ignore("the view does not say which approval it is about")
	}
	r.address, r.MessageTS, r.Argument = place.address, place.MessageTS, place.ID
	r.Verb = verbApprove
	if i.View.Callback == viewDeny {
		r.Verb = verbDeny
		r.Text = strings.TrimSpace(i.View.Inputs[inputReason])
	}
	in := m.look(r)
	if i.View.ID != "" {
		in.Fact = Name + ":" + r.install() + ":view:" + i.View.ID
	}
	return in
}

// approvalNamed takes what stands behind a command's verb apart: an approval's id,
// and a reason.
func approvalNamed(argument string) (id, reason string) {
	id, reason, _ = strings.Cut(argument, " ")
	return strings.Trim(id, "`*_.,;:"), strings.TrimSpace(reason)
}

// verdicts are what verbs say about a call.
var verdicts = map[verb]approvals.Verdict{verbApprove: approvals.Approve, verbDeny: approvals.Deny}
