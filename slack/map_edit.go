package slack

import (
	"cmp"

	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/slack/event"
)

// edited maps message_changed. Slack sends it also when a link is unfolded, a reply
// is written or a file is looked at; only another text means anything
// (https://github.com/slackapi/bolt-js/issues/463).
func (m mapper) edited(c event.Callback) (sessions.Intent, error) {
	now, before := c.Event.Changed, c.Event.Previous
	switch {
	case now == nil:
		return sessions.Intent{}, missing("message")
	case now.Subtype == "tombstone":
		return m.withdraw(c, cmp.Or(before, now), now.TS) // Slackbot is who a tombstone is by
	case m.deafTo(c, *now) != "":
		return ignore("%s", m.deafTo(c, *now)), nil
	case before == nil && now.Edited == "", before != nil && now.Text == before.Text:
		return ignore("its text is what it was"), nil
	case now.Channel == "":
		return sessions.Intent{}, missing("channel")
	case now.TS == "":
		return sessions.Intent{}, missing("ts")
	}
	if before != nil {
		// A mention that was forgotten, and put in by an edit, is a question at last.
		_, asks := m.asking(c, *now)
		_, asked := m.asking(c, *before)
		switch {
		case asks && !asked:
			return m.heed(c, *now), nil
		case asked && !asks:
			return m.withdraw(c, now, now.TS)
		}
	}
	return m.amend(c, *now)
}

// amend gives a message that waits another text.
func (m mapper) amend(c event.Callback, msg event.Message) (sessions.Intent, error) {
	a, ok := m.asking(c, msg)
	switch {
	case !ok:
		return ignore("nothing is asked of us"), nil
	case a.Verb == verbStop:
		return m.withdraw(c, &msg, msg.TS)
	}
	at := msg.Edited
	if at == "" {
		at = c.Event.At
	}
	return sessions.Intent{
		Action: sessions.ActionAmend, Reason: "edited: " + a.reason(), Key: a.key(), Principal: a.principal(),
		Fact: a.fact(a.TS) + ":edited:" + at, MessageID: a.TS, Message: said(a.request), Request: a.encode(),
	}, nil
}

// deleted maps message_deleted.
func (m mapper) deleted(c event.Callback) (sessions.Intent, error) {
	before := c.Event.Previous
	if before != nil && m.own(c, *before) {
		return ignore("our own post"), nil
	}
	ts := c.Event.Deleted
	if ts == "" && before != nil {
		ts = before.TS
	}
	return m.withdraw(c, before, ts)
}

// withdraw takes back what a message asks. Of one that was deleted Slack may not say
// what it was.
func (m mapper) withdraw(c event.Callback, msg *event.Message, ts string) (sessions.Intent, error) {
	where := c.Event.Message
	switch {
	case where.Channel == "":
		return sessions.Intent{}, missing("channel")
	case ts == "":
		return sessions.Intent{}, missing("ts")
	}
	r := request{Trigger: byWithdrawal, TS: ts}
	thread := ""
	if msg != nil {
		thread, r.User, r.App = msg.Thread, msg.User, msg.App
	}
	r.address = m.place(c.Installation, where.Channel, isDirect(where.ChannelType, where.Channel), thread, ts)
	return sessions.Intent{
		Action: sessions.ActionAmend, Reason: r.reason(), Key: r.key(), Principal: r.principal(),
		Fact: r.fact(ts) + ":withdrawn", MessageID: ts,
	}, nil
}
