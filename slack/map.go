package slack

import (
	"fmt"
	"time"

	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/slack/event"
	"github.com/liaison-bot/liaison/state"
)

// Self says who we are at Slack, as far as it is known without a delivery: most of
// them say it themselves. Empty means not known.
type Self struct {
	// AppID is the app's id (A…).
	AppID string
	// Team is the workspace in which BotUser (U…) and BotID (B…) are our bot's ids.
	Team    string
	BotUser string
	BotID   string
}

// maxAge is how long after it happened an event is still answered. Slack tries
// again for minutes, and for a day where an app asks for it: by then nobody waits
// (https://docs.slack.dev/apis/events-api/#delayed-events).
const maxAge = time.Hour

// Map reads one delivery and says what it asks for. It is pure. What means nothing
// is ignored with a reason; an error means that it cannot be understood, and belongs
// among the dead letters.
//
// What somebody asks for is weighed: Map knows what was said and not who may say
// it. A question is [sessions.ActionRun], a wish to stop [sessions.ActionStop]; all
// else that is answered (help, status, review, views, the home tab) comes as
// [sessions.ActionIgnore] with Weigh set and its request, and is nothing but that
// until it was weighed.
func Map(d sessions.Delivery, self Self, s Settings) (sessions.Intent, error) {
	read, err := event.Read(d.Headers["Content-Type"], d.Body)
	if err != nil {
		return sessions.Intent{}, err
	}
	m := mapper{delivery: d, self: self, settings: s}
	var in sessions.Intent
	switch {
	case read.Callback != nil:
		in, err = m.callback(*read.Callback)
	case read.Interaction != nil:
		in, err = m.interaction(*read.Interaction)
	case read.Command != nil:
		in, err = m.command(*read.Command)
	case read.Name == "envelope app_rate_limited":
		in = ignore("Slack held events back: there were more than 30,000 in an hour, and what was said meanwhile is lost")
	default:
		return ignore("%s asks for nothing", read.Name), nil
	}
	if err != nil {
		return sessions.Intent{}, fmt.Errorf("%s: %w", read.Name, err)
	}
	if in.Action == sessions.ActionIgnore {
		in.Reason = read.Name + ": " + in.Reason
	}
	return in, nil
}

// mapper maps one delivery.
type mapper struct {
	delivery sessions.Delivery
	self     Self
	settings Settings
}

// callback maps an event. Each kind is read by a method of its own.
func (m mapper) callback(c event.Callback) (sessions.Intent, error) {
	if c.Team == "" && c.Enterprise == "" {
		return sessions.Intent{}, missing("workspace")
	}
	switch c.Event.Type {
	case "message", "app_mention":
		return m.message(c)
	case "app_home_opened":
		return m.homeOpened(c), nil
	case "assistant_thread_started":
		return m.assistantThread(c)
	case "agent_session_stopped":
		return m.sessionStopped(c)
	case "app_uninstalled":
		return m.uninstalled(c, "the app was uninstalled"), nil
	case "tokens_revoked":
		return m.tokensRevoked(c), nil
	case "member_left_channel":
		return m.memberLeft(c)
	case "channel_archive", "group_archive", "channel_deleted", "group_deleted", "channel_left", "group_left":
		return m.channelGone(c, c.Event.Type)
	case "channel_id_changed":
		return m.channelGone(c, "the channel has another id now")
	}
	return ignore("asks for nothing"), nil
}

// bot is our bot's user id in the workspace of an event.
func (m mapper) bot(c event.Callback) string {
	if c.BotUser == "" && m.isHome(c.Team) {
		return m.self.BotUser
	}
	return c.BotUser
}

// isHome reports whether what is known of us is about this workspace.
func (m mapper) isHome(team string) bool { return m.self.Team == "" || m.self.Team == team }

// late reports whether something happened too long ago to be answered.
func (m mapper) late(c event.Callback) bool {
	return !c.Time.IsZero() && m.delivery.ReceivedAt.Sub(c.Time) > maxAge
}

// place is where a message stands: in the session of its thread, or of the
// conversation where direct messages are one.
func (m mapper) place(i event.Installation, channel string, direct bool, thread, ts string) address {
	a := address{Team: i.Team, Enterprise: i.Enterprise, Channel: channel, Thread: thread}
	if a.Thread == "" && (!direct || !m.settings.DirectIsOne) {
		a.Thread = ts
	}
	return a
}

// isDirect reports whether a channel is a conversation of one person with us. Of a
// mention Slack does not tell the channel's kind.
func isDirect(channelType, channel string) bool {
	switch channelType {
	case "im", "app_home":
		return true
	case "":
		return channel != "" && channel[0] == 'D'
	}
	return false
}

// principal is who asks: a person, or else an app.
func (r request) principal() string {
	if r.User == "" {
		return principal(r.install(), r.App)
	}
	return principal(r.install(), r.User)
}

// run is the intent of a question, with what all of them have in common.
func (m mapper) run(r request) sessions.Intent {
	text := said(r)
	return sessions.Intent{
		Action: sessions.ActionRun, Reason: r.reason(), Key: r.key(), Principal: r.principal(),
		Mode: state.ModeChat, Admission: sessions.AdmitCoalesce,
		Title: title(text), NameOnce: true, Message: text, Request: r.encode(), Weigh: true,
	}
}

// stop is the intent of a wish to stop.
func (m mapper) stop(r request) sessions.Intent {
	return sessions.Intent{
		Action: sessions.ActionStop, Reason: r.reason(), Key: r.key(), Principal: r.principal(),
		Request: r.encode(), Weigh: true, Urgent: true,
	}
}

// answer is the intent of what is answered without a turn.
func (m mapper) answer(r request) sessions.Intent {
	in := sessions.Intent{
		Action: sessions.ActionIgnore, Reason: r.reason(), Principal: r.principal(), Request: r.encode(), Weigh: true,
	}
	if r.Thread != "" {
		in.Key = r.key()
	}
	return in
}

// reason is one line for a person.
func (r request) reason() string {
	text := string(r.Trigger)
	if r.Verb != "" {
		text += " (" + string(r.Verb) + ")"
	}
	if r.Channel != "" {
		text += " in " + r.Channel
	}
	return text + " by " + r.principal()
}

func ignore(format string, args ...any) sessions.Intent {
	return sessions.Intent{Action: sessions.ActionIgnore, Reason: fmt.Sprintf(format, args...)}
}

func missing(what string) error { return fmt.Errorf("it names no usable %s", what) }
