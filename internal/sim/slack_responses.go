package sim

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"
)

// A response_url takes this many answers for so long.
// https://docs.slack.dev/interactivity/handling-user-interaction
const (
	responseUses = 5
	responseLife = 30 * time.Minute
)

// slackResponseURL is where an app answers somebody's click or command.
type slackResponseURL struct {
	channel, message, thread, user string
	at                             time.Time
	uses                           int
}

// newResponseURL gives out an address for answers. Callers hold the lock.
func (s *Slack) newResponseURL(c *slackChannel, message, thread, user string) string {
	path := "/actions/" + c.Team + "/" + digest(s.newID("response"), user)[:24]
	s.interact.answers[path] = &slackResponseURL{channel: c.ID, message: message, thread: thread, user: user, at: s.opts.Now()}
	return s.base + path
}

// takeResponse is an answer of the app at a response_url.
func (s *Slack) takeResponse(path string, body []byte) slackAnswer {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := s.respond(s.interact.answers[path], body)
	var said struct {
		Text   string          `json:"text"`
		Blocks json.RawMessage `json:"blocks"`
	}
	if json.Unmarshal(body, &said) == nil {
		s.judge("response_url", map[string]string{"text": said.Text, "blocks": string(said.Blocks)}, answer.body)
	}
	return answer
}

// respond shows an answer. Callers hold the lock.
func (s *Slack) respond(u *slackResponseURL, body []byte) slackAnswer {
	var o object
	switch {
	case u == nil || s.opts.Now().Sub(u.at) >= responseLife:
		return slackAnswer{status: http.StatusNotFound, body: slackFailed("expired_url")}
	case u.uses >= responseUses:
		return slackAnswer{status: http.StatusNotFound, body: slackFailed("used_url")}
	case json.Unmarshal(body, &o) != nil:
		return slackAnswer{status: http.StatusBadRequest, body: slackFailed("invalid_payload")}
	}
	m := &slackMessage{text: str(o["text"]), byApp: true, thread: str(o["thread_ts"])}
	m.blocks, _ = o["blocks"].([]any)
	if refusal := judgeBlocks(OnResponse, m.blocks); refusal != nil {
		return slackAnswer{status: http.StatusBadRequest, body: slackFailed(refusal.Code, refusal.Messages...)}
	}
	c := s.mustChannel(u.channel)
	replace, _ := o["replace_original"].(bool)
	remove, _ := o["delete_original"].(bool)
	if m.text == "" && len(m.blocks) == 0 && !remove {
		return slackAnswer{status: http.StatusBadRequest, body: slackFailed("no_text")}
	}
	u.uses++
	original := c.any(u.message)
	switch {
	case remove && original != nil:
		c.messages = slices.DeleteFunc(c.messages, func(other *slackMessage) bool { return other == original })
	case replace && original != nil:
		original.text, original.blocks, original.edited, original.editor = m.text, m.blocks, s.newTS(), original.user
	case o["response_type"] == "in_channel":
		m.subtype = "bot_message" // of nobody: such posts have no user
		m.name = s.opts.BotName
		s.add(c, m)
	default:
		m.user, m.seenBy, m.ts = s.botOf(c).BotUser, u.user, s.newTS()
		if m.thread == "" {
			m.thread = u.thread
		}
		c.messages = append(c.messages, m)
	}
	s.notify()
	return slackAnswer{body: slackDone(nil)}
}

// any returns a message of the channel, ephemeral ones included.
func (c *slackChannel) any(ts string) *slackMessage {
	i := slices.IndexFunc(c.messages, func(m *slackMessage) bool { return m.ts == ts })
	if i < 0 {
		return nil
	}
	return c.messages[i]
}
