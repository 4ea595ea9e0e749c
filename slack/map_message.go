package slack

import (
	"slices"

	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/slack/event"
)

// slackbot is Slack's own user, in every workspace.
const slackbot = "USLACKBOT"

// message maps the events message and app_mention. Slack sends both about one
// message that mentions us, in any order; they have one fact and ask once.
func (m mapper) message(c event.Callback) (sessions.Intent, error) {
	switch msg := c.Event.Message; {
	case c.Event.Subtype == "message_changed":
		return m.edited(c)
	case c.Event.Subtype == "message_deleted":
		return m.deleted(c)
	case m.deafTo(c, msg) != "":
		return ignore("%s", m.deafTo(c, msg)), nil
	case msg.Channel == "":
		return sessions.Intent{}, missing("channel")
	case msg.TS == "":
		return sessions.Intent{}, missing("ts")
	case c.Event.Type == "app_mention" && msg.Edited != "":
		// Whether it says anything new is not told; giving it its text again is no harm.
		return m.amend(c, msg)
	default:
		return m.heed(c, msg), nil
	}
}

// deafTo says why a message is none to us whatever it says, or "".
func (m mapper) deafTo(c event.Callback, msg event.Message) string {
	switch {
	case !speaks(msg.Subtype):
		return silentKind(msg.Subtype)
	case m.own(c, msg):
		return "our own post"
	case msg.User == slackbot:
		return "Slackbot wrote it"
	case msg.FromApp && (msg.App == "" || !slices.Contains(m.settings.Bots, msg.App)):
		return "an app wrote it that is not on the list of bots"
	case msg.User == "" && msg.App == "":
		return "it names nobody who wrote it"
	}
	return ""
}

// own reports whether we wrote a message. It comes back without our user id where
// it was posted under another name or through a response_url, so that any of our
// ids tells it (https://github.com/slackapi/bolt-python/issues/683).
func (m mapper) own(c event.Callback, msg event.Message) bool {
	same := func(id, ours string) bool { return id != "" && id == ours }
	return same(msg.User, m.bot(c)) || same(msg.App, c.App) || same(msg.App, m.self.AppID) ||
		m.isHome(c.Team) && same(msg.Bot, m.self.BotID)
}

// heed maps a message that says something for the first time.
func (m mapper) heed(c event.Callback, msg event.Message) sessions.Intent {
	a, ok := m.asking(c, msg)
	if !ok {
		return ignore("nothing is asked of us")
	}
	if m.late(c) {
		return m.tooLate(a)
	}
	var in sessions.Intent
	switch a.Verb {
	case verbAsk:
		in = m.run(a.request)
		in.Existing, in.Quiet, in.MessageID = a.existing, a.quiet, a.TS
	case verbStop:
		in = m.stop(a.request)
	default:
		in = m.answer(a.request)
	}
	in.Fact = a.fact(a.TS)
	return in
}
