package slack

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/slack/event"
)

// command maps a slash command. Slack gives none in threads, so that a question
// begins a session that has no thread yet.
func (m mapper) command(c event.Command) (sessions.Intent, error) {
	switch {
	case c.Team == "" && c.Enterprise == "":
		return sessions.Intent{}, missing("workspace")
	case c.User == "":
		return sessions.Intent{}, missing("user")
	case c.Channel == "":
		return sessions.Intent{}, missing("channel")
	}
	r := request{
		address: address{Team: c.Team, Enterprise: c.Enterprise, Channel: c.Channel},
		Trigger: byCommand, User: c.User, TriggerID: c.TriggerID, ResponseURL: c.ResponseURL,
	}
	direct := c.Direct || isDirect("", c.Channel)
	if direct {
		r.ChannelType = "im"
	}
	one := direct && m.settings.DirectIsOne // the session that the command is given in
	var words string
	r.Verb, words = commandVerb(c.Text)
	switch {
	case r.Verb == verbAsk:
		r.Text = words
		return m.newRun(r, !one), nil
	case r.Verb == verbStop && one:
		return m.stop(r), nil
	}
	r.Argument = words
	in := m.answer(r)
	in.Urgent = true
	return in, nil
}

// newRun is the intent of a question that stands in no thread. Its key is the
// delivery's until it was weighed and a thread was begun for it, unless there is a
// session without one.
func (m mapper) newRun(r request, begins bool) sessions.Intent {
	in := m.run(r)
	if begins {
		sum := sha256.Sum256([]byte(m.delivery.ID))
		in.Key = r.channelKeys() + "new-" + hex.EncodeToString(sum[:8])
		in.Urgent = true // in no order with a session that does not exist
	}
	return in
}
