package sim

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// slackMessage is one message of a channel.
type slackMessage struct {
	ts, thread string // thread is the root's ts, empty outside a thread
	user       string
	subtype    string
	text       string
	blocks     []any
	attached   []any
	files      []*slackFile
	metadata   any
	edited     string // ts of the last edit
	editor     string
	reactions  []slackReaction
	byApp      bool // written with a token of the app
	broadcast  bool
	name       string // shown in the place of the bot's
	seenBy     string // the only reader of an ephemeral message
	stream     *slackStream
	pings      bool // plain @channel pings too (link_names, parse)
	clientID   string
	// mentionFirst sends the mention before its twin.
	mentionFirst bool
}

type slackReaction struct {
	name  string
	users []string
}

// find returns a message of the channel, ephemeral ones excepted.
func (c *slackChannel) find(ts string) *slackMessage {
	i := slices.IndexFunc(c.messages, func(m *slackMessage) bool { return m.ts == ts && m.seenBy == "" })
	if i < 0 {
		return nil
	}
	return c.messages[i]
}

// replies are the messages below a root, the root excepted.
func (c *slackChannel) replies(root string) []*slackMessage {
	var found []*slackMessage
	for _, m := range c.messages {
		if m.thread == root && m.ts != root && m.seenBy == "" {
			found = append(found, m)
		}
	}
	return found
}

// messageJSON is a message as the API and the events show it. Callers hold the lock.
func (s *Slack) messageJSON(c *slackChannel, m *slackMessage, metadata bool) object {
	o := object{"type": "message", "ts": m.ts, "text": m.text}
	if m.subtype != "" {
		o["subtype"] = m.subtype
	}
	if u := s.users[m.user]; u != nil {
		o["user"], o["team"] = m.user, u.Team
		if u.Bot {
			o["bot_id"] = u.BotID
			o["bot_profile"] = object{"id": u.BotID, "app_id": u.AppID, "user_id": u.ID, "name": u.Name, "team_id": u.Team, "deleted": false}
			if u.AppID != "" {
				o["app_id"] = u.AppID
			}
		}
	} else if m.user != "" {
		o["user"] = m.user
	} else if t := s.botOf(c); t != nil && m.byApp { // an answer to a response_url
		o["bot_id"], o["app_id"] = t.BotID, s.opts.AppID
	}
	if m.name != "" {
		o["username"] = m.name
	}
	if len(m.blocks) > 0 {
		o["blocks"] = m.blocks
	}
	if len(m.attached) > 0 {
		o["attachments"] = m.attached
	}
	if len(m.files) > 0 {
		o["files"] = rows(m.files, s.fileJSON)
		o["upload"] = false
	}
	if m.clientID != "" {
		o["client_msg_id"] = m.clientID
	}
	if m.edited != "" {
		o["edited"] = object{"user": m.editor, "ts": m.edited}
	}
	if metadata && m.metadata != nil {
		o["metadata"] = m.metadata
	}
	if len(m.reactions) > 0 {
		o["reactions"] = rows(m.reactions, slackReaction.json)
	}
	if m.stream != nil && m.stream.open {
		o["streaming_state"] = "in_progress"
	}
	s.threadJSON(c, m, o)
	return o
}

// threadJSON adds what ties a message to its thread.
func (s *Slack) threadJSON(c *slackChannel, m *slackMessage, o object) {
	replies := c.replies(m.ts)
	switch {
	case m.thread != "" && m.thread != m.ts:
		o["thread_ts"] = m.thread
		if root := c.find(m.thread); root != nil {
			o["parent_user_id"] = root.user
			if m.broadcast {
				o["root"] = s.messageJSON(c, root, false)
			}
		}
	case len(replies) > 0:
		var users []string
		for _, r := range replies {
			if !slices.Contains(users, r.user) {
				users = append(users, r.user)
			}
		}
		o["thread_ts"], o["reply_count"], o["reply_users"] = m.ts, len(replies), users
		o["reply_users_count"], o["latest_reply"], o["is_locked"] = len(users), replies[len(replies)-1].ts, false
	}
}

func (r slackReaction) json() object {
	return object{"name": r.name, "users": r.users, "count": len(r.users)}
}

// SlackMessage is a message as people see it.
type SlackMessage struct {
	Team, Channel, TS string
	// ThreadTS is the root's; empty on a message that is in no thread.
	ThreadTS string
	// User wrote it. ByApp tells what was written with the app's token.
	User  string
	ByApp bool
	// Subtype as in Slack's events; "tombstone" is what is left of a deleted root.
	Subtype string
	Text    string
	// Blocks, Metadata and Attachments are as they were sent; nil without any.
	Blocks, Metadata, Attachments json.RawMessage
	Files                         []SlackFile
	// Reactions are names with who gave them.
	Reactions map[string][]string
	Edited    bool
	// Broadcast is a reply that was also sent to the channel.
	Broadcast bool
	// EphemeralTo is the only reader; empty for everybody.
	EphemeralTo string
	// Streaming is a stream that has not been stopped.
	Streaming bool
	// Shown is everything that a person reads: the text of the blocks, or the
	// text if there are none.
	Shown string
	// Pings are the mentions that notify somebody: "<!channel>", "<@U0ANN>".
	Pings []string
	At    time.Time
}

// public copies a message for the outside. Callers hold the lock.
func (s *Slack) public(c *slackChannel, m *slackMessage) SlackMessage {
	p := SlackMessage{
		Team: c.Team, Channel: c.ID, TS: m.ts, ThreadTS: m.thread, User: m.user, ByApp: m.byApp, Subtype: m.subtype,
		Text: m.text, Blocks: rawList(m.blocks), Attachments: rawList(m.attached), Edited: m.edited != "",
		Broadcast: m.broadcast, EphemeralTo: m.seenBy, Streaming: m.stream != nil && m.stream.open,
		Shown: shownText(m), Pings: pingsOf(m), At: time.UnixMicro(microsOf(m.ts)).UTC(),
	}
	if m.thread == "" && len(c.replies(m.ts)) > 0 {
		p.ThreadTS = m.ts
	}
	if m.metadata != nil {
		p.Metadata = rawJSON(m.metadata)
	}
	for _, f := range m.files {
		p.Files = append(p.Files, f.SlackFile)
	}
	for _, r := range m.reactions {
		if p.Reactions == nil {
			p.Reactions = map[string][]string{}
		}
		p.Reactions[r.name] = slices.Clone(r.users)
	}
	return p
}

func rawJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic("sim: encode: " + err.Error()) // it was decoded from JSON
	}
	return b
}

func rawList(all []any) json.RawMessage {
	if len(all) == 0 {
		return nil
	}
	return rawJSON(all)
}

// Transcript prints a channel as people see it, a line for each line of a
// message, with the replies indented below their roots.
func (s *Slack) Transcript(channel string) string {
	var b strings.Builder
	all := s.Messages(channel)
	for _, m := range all {
		if m.ThreadTS != "" && m.ThreadTS != m.TS {
			continue
		}
		s.writeLines(&b, "", m)
		for _, reply := range all {
			if reply.ThreadTS == m.TS && reply.TS != m.TS {
				s.writeLines(&b, "    ", reply)
			}
		}
	}
	return b.String()
}

func (s *Slack) writeLines(b *strings.Builder, indent string, m SlackMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	who := s.opts.BotName
	if u := s.users[m.User]; u != nil {
		who = u.Name
	}
	if u := s.users[m.EphemeralTo]; u != nil {
		who += " (only to " + u.Name + ")"
	}
	for line := range strings.SplitSeq(m.Shown, "\n") {
		b.WriteString(indent + who + ": " + line + "\n")
	}
	for _, f := range m.Files {
		b.WriteString(indent + who + ": [file " + f.Name + "]\n")
	}
}

// Messages returns all messages of a channel as people see them, ephemeral ones
// included, oldest first.
func (s *Slack) Messages(channel string) []SlackMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.mustChannel(channel)
	var found []SlackMessage
	for _, m := range c.messages {
		found = append(found, s.public(c, m))
	}
	return found
}

// Thread returns the root and the replies of a thread as people see them,
// ephemeral ones included, oldest first. A root that was deleted is missing.
func (s *Slack) Thread(channel, ts string) []SlackMessage {
	var found []SlackMessage
	for _, m := range s.Messages(channel) {
		if m.TS == ts || m.ThreadTS == ts {
			found = append(found, m)
		}
	}
	return found
}
