package sim

import (
	"encoding/json"
	"slices"
	"time"
	"unicode/utf8"
)

// metadataBytes bounds a message's metadata.
const metadataBytes = 16_000

// channel finds the channel of an argument as the token sees it. write asks for
// one that takes messages of the bot.
func (q *slackRequest) channel(id string, write bool) (*slackChannel, object) {
	c := q.s.channels[id]
	if c == nil && write && q.s.users[id] != nil {
		c = q.s.direct(q.team.ID, id) // a user's id stands for the direct conversation
	}
	member := c != nil && c.has(q.team.BotUser)
	switch {
	case c == nil || !c.in(q.team.ID):
		return nil, slackFailed("channel_not_found")
	case !member && c.Kind != PublicChannel:
		return nil, slackFailed("channel_not_found")
	case !write:
		return c, nil
	case c.Archived:
		return nil, slackFailed("is_archived")
	case !member && !slices.Contains(q.token.scopes, "chat:write.public"):
		return nil, slackFailed("not_in_channel")
	case c.ReadOnly:
		return nil, slackFailed("restricted_action_read_only_channel")
	}
	return c, nil
}

// compose reads the content of a message and judges it.
func (q *slackRequest) compose(m *slackMessage) object {
	m.text = q.args["text"]
	if md := q.args["markdown_text"]; md != "" {
		switch {
		case m.text != "" || q.args["blocks"] != "":
			return slackFailed("markdown_text_conflict")
		case utf8.RuneCountInString(md) > markdownText:
			return slackFailed("msg_too_long")
		}
		m.text = md
		m.blocks = []any{object{"type": "markdown", "text": md}}
	} else {
		blocks, refusal := readBlocks([]byte(q.args["blocks"]))
		if refusal == nil {
			refusal = judgeBlocks(OnMessage, blocks)
		}
		if refusal != nil {
			return slackFailed(refusal.Code, refusal.Messages...)
		}
		m.blocks = blocks
	}
	if raw := q.args["attachments"]; raw != "" {
		if json.Unmarshal([]byte(raw), &m.attached) != nil {
			return slackFailed("invalid_attachments")
		}
		if len(m.attached) > 100 {
			return slackFailed("too_many_attachments")
		}
	}
	if m.text == "" && len(m.blocks) == 0 && len(m.attached) == 0 {
		return slackFailed("no_text")
	}
	if runes := []rune(m.text); len(runes) > shownTextLimit {
		m.text = string(runes[:shownTextLimit])
	}
	m.pings = q.flag("link_names") || q.args["parse"] == "full"
	m.name = q.args["username"]
	return q.readMetadata(m)
}

// readMetadata reads the metadata argument. An empty object takes it away.
func (q *slackRequest) readMetadata(m *slackMessage) object {
	raw := q.args["metadata"]
	if raw == "" {
		return nil
	}
	if len(raw) > metadataBytes {
		return slackFailed("metadata_too_large")
	}
	var o object
	if json.Unmarshal([]byte(raw), &o) != nil {
		return slackFailed("invalid_metadata_format")
	}
	if len(o) == 0 {
		m.metadata = nil
		return nil
	}
	_, isObject := o["event_payload"].(object)
	if str(o["event_type"]) == "" || !isObject {
		return slackFailed("invalid_metadata_schema")
	}
	m.metadata = o
	return nil
}

// thread sets the thread of a new message. A root that is gone leaves the
// message in the channel, and Slack reports no error.
func (q *slackRequest) thread(c *slackChannel, m *slackMessage) object {
	ts := q.args["thread_ts"]
	if ts == "" {
		return nil
	}
	if !isTS(ts) {
		return slackFailed("invalid_thread_ts")
	}
	root := c.find(ts)
	switch {
	case root == nil || root.subtype == "tombstone":
		return nil
	case root.thread != "" && root.thread != root.ts:
		return slackFailed("cannot_reply_to_message")
	}
	m.thread = ts
	m.broadcast = q.flag("reply_broadcast")
	if m.broadcast {
		m.subtype = "thread_broadcast"
	}
	return nil
}

// paced refuses more messages of the app in a channel than fit into a second.
func (q *slackRequest) paced(c *slackChannel) object {
	burst := q.s.opts.PostBurst
	if burst == 0 || len(c.messages) < burst {
		return nil
	}
	recent := 0
	for _, m := range c.messages {
		if m.byApp && q.s.opts.Now().UnixMicro()-microsOf(m.ts) < time.Second.Microseconds() {
			recent++
		}
	}
	if recent >= burst {
		return slackFailed("ratelimited")
	}
	return nil
}

func (q *slackRequest) postMessage() object {
	c, refusal := q.channel(q.args["channel"], true)
	if refusal == nil {
		refusal = q.paced(c)
	}
	if refusal != nil {
		return refusal
	}
	m := &slackMessage{user: q.team.BotUser, byApp: true}
	if refusal := q.compose(m); refusal != nil {
		return refusal
	}
	if refusal := q.thread(c, m); refusal != nil {
		return refusal
	}
	q.s.add(c, m)
	return slackDone(object{"channel": c.ID, "ts": m.ts, "message": q.s.messageJSON(c, m, true)})
}

// add puts a message into a channel and tells the app of it. What the app says
// in a thread ends its status there. Callers hold the lock.
func (s *Slack) add(c *slackChannel, m *slackMessage) {
	m.ts = s.newTS()
	c.messages = append(c.messages, m)
	if m.byApp {
		s.endStatus(c.ID, m.thread)
	}
	s.announce(c, m, s.messageJSON(c, m, true))
	s.notify()
}

func (q *slackRequest) postEphemeral() object {
	c, refusal := q.channel(q.args["channel"], true)
	if refusal != nil {
		return refusal
	}
	reader := q.s.users[q.args["user"]]
	switch {
	case reader == nil:
		return slackFailed("user_not_found")
	case !c.has(reader.ID):
		return slackFailed("user_not_in_channel")
	}
	m := &slackMessage{user: q.team.BotUser, byApp: true, seenBy: reader.ID}
	if refusal := q.compose(m); refusal != nil {
		return refusal
	}
	if ts := q.args["thread_ts"]; ts != "" && c.find(ts) != nil {
		m.thread = ts
	}
	m.ts = q.s.newTS()
	c.messages = append(c.messages, m)
	return slackDone(object{"message_ts": m.ts})
}

// own finds a message that the app may change.
func (q *slackRequest) own(refusalForOthers string) (*slackChannel, *slackMessage, object) {
	c, refusal := q.channel(q.args["channel"], false)
	if refusal != nil {
		return nil, nil, refusal
	}
	m := c.find(q.args["ts"])
	switch {
	case m == nil || m.subtype == "tombstone":
		return nil, nil, slackFailed("message_not_found")
	case !m.byApp || m.user != q.team.BotUser:
		return nil, nil, slackFailed(refusalForOthers)
	}
	return c, m, nil
}

func (q *slackRequest) updateMessage() object {
	c, m, refusal := q.own("cant_update_message")
	switch {
	case refusal != nil:
		return refusal
	case c.Archived:
		return slackFailed("is_archived")
	case m.stream != nil && m.stream.open:
		return slackFailed("streaming_state_conflict")
	case len(q.args["text"]) > updateBytes:
		return slackFailed("msg_too_long")
	}
	next := slackMessage{metadata: m.metadata}
	if refusal := q.compose(&next); refusal != nil {
		return refusal
	}
	before := q.s.messageJSON(c, m, true)
	m.text, m.blocks, m.attached, m.metadata, m.pings = next.text, next.blocks, next.attached, next.metadata, next.pings
	m.edited, m.editor, m.stream = q.s.newTS(), m.user, nil
	q.s.announceChange(c, m, before)
	return slackDone(object{"channel": c.ID, "ts": m.ts, "text": m.text, "message": q.s.messageJSON(c, m, true)})
}

func (q *slackRequest) deleteMessage() object {
	c, m, refusal := q.own("cant_delete_message")
	if refusal != nil {
		return refusal
	}
	q.s.remove(c, m)
	return slackDone(object{"channel": c.ID, "ts": m.ts})
}

// remove takes a message away. A root with replies leaves a tombstone. Callers
// hold the lock.
func (s *Slack) remove(c *slackChannel, m *slackMessage) {
	before := s.messageJSON(c, m, true)
	if len(c.replies(m.ts)) > 0 {
		*m = slackMessage{ts: m.ts, user: "USLACKBOT", subtype: "tombstone", text: "This message was deleted."}
		s.announceChange(c, m, before)
		return
	}
	c.messages = slices.DeleteFunc(c.messages, func(other *slackMessage) bool { return other == m })
	s.announceDeletion(c, m.ts, before)
	s.notify()
}

func (q *slackRequest) permalink() object {
	c, refusal := q.channel(q.args["channel"], false)
	if refusal != nil {
		return refusal
	}
	m := c.find(q.args["message_ts"])
	if m == nil {
		return slackFailed("message_not_found")
	}
	return slackDone(object{"channel": c.ID, "permalink": q.s.link(q.team, c, m)})
}

// link is the address of a message for people.
func (s *Slack) link(t *workspace, c *slackChannel, m *slackMessage) string {
	u := "https://" + t.Domain + ".slack.com/archives/" + c.ID + "/p" + m.ts[:len(m.ts)-7] + m.ts[len(m.ts)-6:]
	if m.thread != "" && m.thread != m.ts {
		u += "?thread_ts=" + m.thread + "&cid=" + c.ID
	}
	return u
}
