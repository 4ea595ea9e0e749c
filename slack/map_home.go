package slack

import (
	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/slack/event"
)

// homeOpened maps app_home_opened: somebody looks at us, at the home tab or at the
// messages, where something to ask is offered.
func (m mapper) homeOpened(c event.Callback) sessions.Intent {
	e := c.Event
	r := request{address: address{Team: c.Team, Enterprise: c.Enterprise}, User: e.Message.User}
	switch {
	case r.User == "":
		return ignore("it names nobody who looks")
	case m.late(c):
		return ignore("nobody looks any more")
	case e.Tab == "home":
		r.Trigger = byHome
	case e.Tab == "messages" && e.Message.Channel != "":
		r.Trigger, r.Channel, r.ChannelType = byAssistant, e.Message.Channel, "im"
	default:
		return ignore("nothing is shown there")
	}
	return m.look(r)
}

// assistantThread maps assistant_thread_started.
func (m mapper) assistantThread(c event.Callback) (sessions.Intent, error) {
	msg := c.Event.Message
	switch {
	case msg.Channel == "":
		return sessions.Intent{}, missing("channel")
	case msg.Thread == "":
		return sessions.Intent{}, missing("thread")
	case m.late(c):
		return ignore("nobody looks any more"), nil
	}
	return m.look(request{
		address: address{Team: c.Team, Enterprise: c.Enterprise, Channel: msg.Channel, Thread: msg.Thread},
		Trigger: byAssistant, ChannelType: "im", User: msg.User,
	}), nil
}

// look is the intent of what is drawn for somebody who looks at a screen.
func (m mapper) look(r request) sessions.Intent {
	in := m.answer(r)
	in.Urgent = true
	return in
}

// sessionStopped maps agent_session_stopped: Slack's own button to stop.
func (m mapper) sessionStopped(c event.Callback) (sessions.Intent, error) {
	msg := c.Event.Message
	switch {
	case msg.Channel == "":
		return sessions.Intent{}, missing("channel")
	case msg.Thread == "":
		return sessions.Intent{}, missing("thread")
	case m.late(c):
		return ignore("it came too late"), nil
	}
	return m.stop(request{
		address: address{Team: c.Team, Enterprise: c.Enterprise, Channel: msg.Channel, Thread: msg.Thread},
		Trigger: byStopEvent, User: msg.User,
	}), nil
}
