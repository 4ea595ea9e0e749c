package sim

import (
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits of what an app shows beside its messages.
// https://docs.slack.dev/reference/methods/assistant.threads.setSuggestedPrompts
// https://docs.slack.dev/ai/agent-sessions
const (
	promptsMost  = 4
	loadingMost  = 10
	sessionTitle = 200
	statusLife   = 2 * time.Minute
)

// statusPlace is where a status shows; thread is empty for a whole conversation.
type statusPlace struct{ channel, thread string }

// SlackStatus is what an app shows beside its messages in a thread.
type SlackStatus struct {
	Channel, ThreadTS string
	// Status is the text while it works ("is thinking…"), Loading the texts that
	// take turns with it. Both are empty once the status has ended.
	Status  string
	Loading []string
	// Title of the thread, and the prompts that it suggests, titles to messages.
	Title   string
	Prompts map[string]string
	// Session is "active", "processing", "suspended" or "closed"; empty if the
	// app never set it.
	Session string

	since time.Time
}

// Status returns what the app shows in a thread now.
func (s *Slack) Status(channel, thread string) SlackStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.statuses[statusPlace{channel, thread}]
	st.Channel, st.ThreadTS = channel, thread
	if s.opts.Now().Sub(st.since) >= statusLife {
		st.Status, st.Loading = "", nil
	}
	return st
}

// place finds the thread that a status call is about.
func (q *slackRequest) place() (statusPlace, object) {
	c, refusal := q.channel(q.args["channel_id"], true)
	if refusal != nil {
		return statusPlace{}, refusal
	}
	ts := q.args["thread_ts"]
	if ts != "" && c.find(ts) == nil || ts == "" && c.Kind != DirectChannel {
		return statusPlace{}, slackFailed("invalid_thread_ts")
	}
	return statusPlace{c.ID, ts}, nil
}

// setStatus shows a text until the app posts, clears it, or two minutes pass.
func (q *slackRequest) setStatus() object {
	p, refusal := q.place()
	if refusal != nil {
		return refusal
	}
	var loading []string
	if raw := q.args["loading_messages"]; raw != "" && json.Unmarshal([]byte(raw), &loading) != nil {
		loading = strings.Split(raw, ",")
	}
	if len(loading) > loadingMost {
		return slackFailed("invalid_arguments", "[ERROR] no more than 10 items allowed [json-pointer:/loading_messages]")
	}
	st := q.s.statuses[p]
	st.Status, st.Loading, st.since = q.args["status"], loading, q.s.opts.Now()
	if st.Status == "" {
		st.Loading = nil
	}
	q.s.statuses[p] = st
	return slackDone(nil)
}

// endStatus takes a text away once the app has said something. Callers hold the lock.
func (s *Slack) endStatus(channel, thread string) {
	p := statusPlace{channel, thread}
	if st, has := s.statuses[p]; has {
		st.Status, st.Loading = "", nil
		s.statuses[p] = st
	}
}

func (q *slackRequest) setTitle() object {
	p, refusal := q.place()
	if refusal != nil {
		return refusal
	}
	st := q.s.statuses[p]
	st.Title = q.args["title"]
	q.s.statuses[p] = st
	return slackDone(object{"title": st.Title})
}

func (q *slackRequest) setPrompts() object {
	p, refusal := q.place()
	if refusal != nil {
		return refusal
	}
	var prompts []struct{ Title, Message string }
	if json.Unmarshal([]byte(q.args["prompts"]), &prompts) != nil {
		return slackFailed("invalid_arguments", "[ERROR] must be a list [json-pointer:/prompts]")
	}
	if len(prompts) == 0 || len(prompts) > promptsMost {
		return slackFailed("invalid_arguments", "[ERROR] 1 to 4 items allowed [json-pointer:/prompts]")
	}
	st := q.s.statuses[p]
	st.Prompts = map[string]string{}
	for _, prompt := range prompts {
		if prompt.Title == "" || prompt.Message == "" {
			return slackFailed("invalid_arguments", "[ERROR] must have a title and a message [json-pointer:/prompts]")
		}
		st.Prompts[prompt.Title] = prompt.Message
	}
	q.s.statuses[p] = st
	return slackDone(nil)
}

func (q *slackRequest) setSessionStatus() object {
	p, refusal := q.place()
	if refusal != nil {
		return refusal
	}
	switch q.args["status"] {
	case "active", "processing", "suspended", "closed":
	default:
		return slackFailed("invalid_arguments", "[ERROR] must be a valid enum value [json-pointer:/status]")
	}
	if utf8.RuneCountInString(q.args["title"]) > sessionTitle {
		return slackFailed("invalid_arguments", "[ERROR] must be less than 201 characters [json-pointer:/title]")
	}
	st := q.s.statuses[p]
	if st.Session == "" && q.args["title"] != "" { // a title counts only when the call begins the session
		st.Title = q.args["title"]
	}
	st.Session = q.args["status"]
	q.s.statuses[p] = st
	return slackDone(object{"status": st.Session, "agent_status": st.Session, "title": st.Title})
}

func (q *slackRequest) renameSession() object {
	p, refusal := q.place()
	if refusal != nil {
		return refusal
	}
	if utf8.RuneCountInString(q.args["title"]) > sessionTitle {
		return slackFailed("invalid_arguments", "[ERROR] must be less than 201 characters [json-pointer:/title]")
	}
	st := q.s.statuses[p]
	if st.Session == "" {
		return slackFailed("session_not_found")
	}
	st.Title = q.args["title"]
	q.s.statuses[p] = st
	return slackDone(object{"title": st.Title})
}
