package slack

import (
	"time"

	"github.com/liaison-bot/liaison/slack/event"
)

// asking is a message that asks something of us.
type asking struct {
	request
	// existing and quiet are those of the intent.
	existing bool
	quiet    time.Duration
}

// asking reports whether a message asks something of us, and what.
func (m mapper) asking(c event.Callback, msg event.Message) (asking, bool) {
	bot := m.bot(c)
	direct := isDirect(msg.ChannelType, msg.Channel)
	mentioned := c.Event.Type == "app_mention" || event.Mentions(msg.Text, bot)
	thread := msg.Thread != "" && msg.Thread != msg.TS
	a := asking{request: request{
		address:     m.place(c.Installation, msg.Channel, direct, msg.Thread, msg.TS),
		ChannelType: msg.ChannelType, TS: msg.TS, User: msg.User, UserTeam: msg.UserTeam, App: msg.App,
		Shared: c.Shared, Text: msg.Text, Files: files(msg.Files), Forwards: msg.Attached != "", Verb: verbAsk,
	}}
	if mentioned {
		a.Text = event.CutMention(msg.Text, bot)
	}
	spoken, argument := spokenVerb(a.Text)
	empty := a.Text == "" && len(a.Files) == 0 && !a.Forwards
	watch, watched := m.watch(msg.Channel, thread)
	switch {
	case direct:
		a.Trigger, a.Verb, a.Argument = byDirect, spoken, argument
		return a, !empty
	case mentioned:
		a.Trigger, a.Verb, a.Argument = byMention, spoken, argument
		if empty && !thread {
			// In a thread it points at what was said there; alone it points at nothing.
			a.Verb = verbHelp
		}
		return a, true
	case thread && spoken == verbStop:
		// Whoever wants a thread's work to end must not have to remember the mention.
		a.Trigger, a.Verb = byReply, verbStop
		return a, true
	case empty:
		return a, false
	case watched:
		a.Trigger, a.quiet = byWatch, watch.Debounce
		return a, true
	case thread && !m.settings.MentionInThreads:
		a.Trigger, a.existing = byReply, true
		return a, true
	}
	return a, false
}

// watch returns the watch on a channel, if it takes such a message.
func (m mapper) watch(channel string, thread bool) (Watch, bool) {
	for _, w := range m.settings.Watch {
		if w.Channel == channel && (w.All || !thread) {
			return w, true
		}
	}
	return Watch{}, false
}

func files(all []event.File) []file {
	var named []file
	for _, f := range all {
		named = append(named, file{ID: f.ID, Name: f.Name, MIME: f.MIME, Size: f.Size, URL: f.URL, External: f.External})
	}
	return named
}
