package sim

import "strings"

// Saying is what somebody says. Only Channel, User and Text are usual.
type Saying struct {
	Channel, User, Text string
	// ThreadTS is the root of the thread that it is a reply to.
	ThreadTS string
	// Broadcast sends a reply to the channel too.
	Broadcast bool
	// Files are ids of [Slack.AddFile].
	Files []string
	// Subtype such as "me_message".
	Subtype string
	// MentionFirst sends the app_mention event before its twin, the message event.
	MentionFirst bool
}

// Post has somebody say something, and the app told of it. People's clients
// send a rich text with it, which is left out here.
func (s *Slack) Post(a Saying) SlackMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.mustChannel(a.Channel)
	u := s.mustUser(a.User)
	m := &slackMessage{
		user: a.User, text: a.Text, subtype: a.Subtype, thread: a.ThreadTS, broadcast: a.Broadcast, mentionFirst: a.MentionFirst,
		clientID: guid("message", s.newID("")),
	}
	if u.Bot {
		m.clientID, m.subtype = "", "bot_message"
	}
	for _, id := range a.Files {
		m.files = append(m.files, s.mustFile(id))
		m.subtype = "file_share"
	}
	if a.Broadcast {
		m.subtype = "thread_broadcast"
	}
	s.add(c, m)
	if a.Broadcast { // Slack then changes the reply, with the same text
		s.announceChange(c, m, s.messageJSON(c, m, true))
	}
	return s.public(c, m)
}

// Say has somebody say something in a channel.
func (s *Slack) Say(channel, user, text string) SlackMessage {
	return s.Post(Saying{Channel: channel, User: user, Text: text})
}

// Mention has somebody say something to the app's bot.
func (s *Slack) Mention(channel, user, text string) SlackMessage {
	return s.Post(Saying{Channel: channel, User: user, Text: s.addressed(channel, text)})
}

// MentionIn is [Slack.Mention] in a thread.
func (s *Slack) MentionIn(channel, thread, user, text string) SlackMessage {
	return s.Post(Saying{Channel: channel, User: user, ThreadTS: thread, Text: s.addressed(channel, text)})
}

// addressed puts the bot's mention before a text.
func (s *Slack) addressed(channel, text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.botOf(s.mustChannel(channel))
	if t == nil {
		panic("sim: the app is in no workspace of " + channel)
	}
	return strings.TrimSuffix("<@"+t.BotUser+"> "+text, " ")
}

// Reply has somebody say something in a thread.
func (s *Slack) Reply(channel, thread, user, text string) SlackMessage {
	return s.Post(Saying{Channel: channel, User: user, ThreadTS: thread, Text: text})
}

// Broadcast is [Slack.Reply] that is also sent to the channel.
func (s *Slack) Broadcast(channel, thread, user, text string) SlackMessage {
	return s.Post(Saying{Channel: channel, User: user, ThreadTS: thread, Text: text, Broadcast: true})
}

// DirectMessage has somebody write to the app's bot alone.
func (s *Slack) DirectMessage(user, text string) SlackMessage {
	s.mu.Lock()
	id := s.direct(s.mustUser(user).Team, user).ID
	s.mu.Unlock()
	return s.Post(Saying{Channel: id, User: user, Text: text})
}

// DirectChannelOf is the id of the conversation of a person with the app's bot.
func (s *Slack) DirectChannelOf(user string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.direct(s.mustUser(user).Team, user).ID
}

// Edit has the writer of a message change its text. Naming the bot by an edit
// sends its mention again.
func (s *Slack) Edit(channel, ts, text string) SlackMessage {
	return s.change(channel, ts, func(c *slackChannel, m *slackMessage) {
		m.text, m.edited, m.editor = text, s.newTS(), m.user
		s.announceMention(c, m, s.messageJSON(c, m, true))
	})
}

// Unfurl has Slack add the preview of a link to a message, which tells the app
// of a change although the text is the same.
func (s *Slack) Unfurl(channel, ts, link string) SlackMessage {
	return s.change(channel, ts, func(_ *slackChannel, m *slackMessage) {
		m.attached = append(m.attached, object{"from_url": link, "id": 1, "title": "A page", "fallback": "A page"})
	})
}

func (s *Slack) change(channel, ts string, edit func(*slackChannel, *slackMessage)) SlackMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, m := s.mustMessage(channel, ts)
	before := s.messageJSON(c, m, true)
	edit(c, m)
	s.announceChange(c, m, before)
	return s.public(c, m)
}

// Delete has a message taken away, whoever wrote it. A root with replies leaves
// a tombstone.
func (s *Slack) Delete(channel, ts string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, m := s.mustMessage(channel, ts)
	s.remove(c, m)
}

// React has somebody react to a message; name has no colons.
func (s *Slack) React(channel, ts, user, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, m := s.mustMessage(channel, ts)
	if code, is := refused(s.react(c, m, user, name)); is {
		panic("sim: react to " + ts + ": " + code)
	}
}

func (s *Slack) mustMessage(channel, ts string) (*slackChannel, *slackMessage) {
	c := s.mustChannel(channel)
	m := c.find(ts)
	if m == nil {
		panic("sim: no message " + ts + " in " + channel)
	}
	return c, m
}
