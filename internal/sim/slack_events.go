package sim

import (
	"encoding/json"
	"strings"
)

// event has the app told of an event in a workspace. Callers hold the lock.
func (s *Slack) event(t *workspace, inner object, origin string, shared bool) {
	if t == nil {
		return
	}
	if origin == "" {
		origin = t.ID
	}
	id := s.newID("Ev")
	payload := object{
		"token": "verification-token-of-old", "team_id": origin, "context_team_id": t.ID, "context_enterprise_id": nullable(t.Enterprise),
		"api_app_id": s.opts.AppID, "event": inner, "type": "event_callback", "event_id": id, "event_time": s.opts.Now().Unix(),
		"authorizations": []object{{
			"enterprise_id": nullable(t.Enterprise), "team_id": t.ID, "user_id": t.BotUser, "is_bot": true,
			"is_enterprise_install": t.OrgInstall,
		}},
		"is_ext_shared_channel": shared, "event_context": "4-" + digest(id)[:32],
	}
	s.contexts["4-"+digest(id)[:32]] = t.ID
	if t.OrgInstall {
		payload["enterprise_id"] = t.Enterprise
		payload["authorizations"].([]object)[0]["team_id"] = nil
	}
	s.enqueue(SlackDelivery{ID: id, Kind: "events_api", Type: str(inner["type"]), Team: t.ID, Payload: rawJSON(payload)})
}

// inChannel has the app told of an event in a channel. The team of an envelope
// is that of the sender, which in a shared channel may be another. Callers hold
// the lock.
func (s *Slack) inChannel(c *slackChannel, sender string, inner object) {
	t := s.botOf(c)
	if t == nil {
		return
	}
	origin := ""
	shared := len(c.SharedWith) > 0
	if u := s.users[sender]; u != nil && shared {
		origin = u.Team
		inner["user_team"], inner["source_team"] = u.Team, u.Team
	}
	s.event(t, inner, origin, shared)
}

// heard reports whether the app's bot is told of messages in a channel.
func (s *Slack) heard(c *slackChannel) bool {
	t := s.botOf(c)
	return t != nil && c.has(t.BotUser)
}

// messageEvent wraps a message as an event.
func (s *Slack) messageEvent(c *slackChannel, fields object) object {
	fields["type"], fields["channel"], fields["channel_type"] = "message", c.ID, string(c.Kind)
	if fields["ts"] == nil {
		fields["ts"] = s.newTS()
	}
	fields["event_ts"] = fields["ts"]
	return fields
}

// announce tells the app of a new message: as a message where its bot is a
// member, and as a mention where it is named. Callers hold the lock.
func (s *Slack) announce(c *slackChannel, m *slackMessage, shown object) {
	message := func() {
		if s.heard(c) {
			s.inChannel(c, m.user, s.messageEvent(c, shown))
		}
	}
	mention := func() { s.announceMention(c, m, shown) }
	if m.mentionFirst {
		mention()
		message()
		return
	}
	message()
	mention()
}

// announceMention tells the app that it is named. There are no such events in
// direct messages, nor of what the app itself says.
func (s *Slack) announceMention(c *slackChannel, m *slackMessage, shown object) {
	t := s.botOf(c)
	if t == nil || c.Kind == DirectChannel || m.byApp || !s.heard(c) && c.Kind != PublicChannel || !strings.Contains(m.text, "<@"+t.BotUser+">") {
		return
	}
	mention := object{"type": "app_mention", "channel": c.ID, "event_ts": m.ts}
	for _, key := range []string{"user", "ts", "text", "team", "thread_ts", "parent_user_id", "blocks", "files", "client_msg_id", "edited", "bot_id", "app_id", "bot_profile"} {
		if v, has := shown[key]; has {
			mention[key] = v
		}
	}
	s.inChannel(c, m.user, mention)
}

// announceChange tells the app that a message is not what it was. Callers hold
// the lock.
func (s *Slack) announceChange(c *slackChannel, m *slackMessage, before object) {
	s.notify()
	if !s.heard(c) {
		return
	}
	s.inChannel(c, m.user, s.messageEvent(c, object{
		"subtype": "message_changed", "hidden": true, "message": s.messageJSON(c, m, true), "previous_message": before,
	}))
}

// announceDeletion tells the app that a message is gone. Callers hold the lock.
func (s *Slack) announceDeletion(c *slackChannel, ts string, before object) {
	if !s.heard(c) {
		return
	}
	s.inChannel(c, str(before["user"]), s.messageEvent(c, object{
		"subtype": "message_deleted", "hidden": true, "deleted_ts": ts, "previous_message": before,
	}))
}

// announceReaction tells the app of a reaction. Callers hold the lock.
func (s *Slack) announceReaction(c *slackChannel, m *slackMessage, kind, user, name string) {
	s.notify()
	if !s.heard(c) {
		return
	}
	s.inChannel(c, user, object{
		"type": kind, "user": user, "reaction": name, "item_user": m.user, "event_ts": s.newTS(),
		"item": object{"type": "message", "channel": c.ID, "ts": m.ts},
	})
}

// SendEvent has the app told of any event in a workspace, for shapes that the
// simulated people do not produce. It returns the delivery.
func (s *Slack) SendEvent(team string, event json.RawMessage) SlackDelivery {
	var inner object
	if err := json.Unmarshal(event, &inner); err != nil {
		panic("sim: event: " + err.Error())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.event(s.mustTeam(team), inner, "", false)
	return s.sending.made[len(s.sending.made)-1]
}
