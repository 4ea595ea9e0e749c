package sim

// OpenHome has somebody open the app: the tab "home" or "messages".
func (s *Slack) OpenHome(user, tab string) SlackDelivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.mustTeam(s.mustUser(user).Team)
	o := object{"type": "app_home_opened", "user": user, "channel": s.direct(t.ID, user).ID, "tab": tab, "event_ts": s.newTS()}
	if v := s.homeOf(user); v != nil && tab == "home" {
		o["view"] = s.viewJSON(v, nil)
	}
	return s.told(t, o)
}

// OpenAssistantThread has somebody open a new thread of the assistant beside a
// channel, and returns the conversation and the root of the thread.
func (s *Slack) OpenAssistantThread(user, beside string) (channel, thread string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.mustTeam(s.mustUser(user).Team)
	c := s.direct(t.ID, user)
	root := &slackMessage{ts: s.newTS(), user: t.BotUser, byApp: true, subtype: "assistant_app_thread", text: "New assistant thread"}
	root.thread = root.ts
	c.messages = append(c.messages, root)
	context := object{}
	if beside != "" {
		context = object{"channel_id": beside, "team_id": t.ID, "enterprise_id": nullable(t.Enterprise)}
	}
	s.told(t, object{
		"type": "assistant_thread_started", "event_ts": s.newTS(),
		"assistant_thread": object{"user_id": user, "context": context, "channel_id": c.ID, "thread_ts": root.ts},
	})
	return c.ID, root.ts
}

// StopSession has somebody press the stop button of an agent's session, which
// ends the streams of the thread.
func (s *Slack) StopSession(channel, thread, user string) SlackDelivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.mustChannel(channel)
	var stopped []string
	for _, m := range c.messages {
		if m.stream != nil && m.stream.open && (m.thread == thread || m.ts == thread) {
			m.stream.open = false
			stopped = append(stopped, m.ts)
		}
	}
	o := object{"type": "agent_session_stopped", "channel": channel, "thread_ts": thread, "user": user, "event_ts": s.newTS()}
	if len(stopped) > 0 {
		o["streaming_message_ts"] = stopped
	}
	return s.told(s.botOf(c), o)
}

// InviteBot has somebody add the app's bot to a channel.
func (s *Slack) InviteBot(channel, user string) SlackDelivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.mustChannel(channel)
	t := s.botOf(c)
	if !c.has(t.BotUser) {
		c.Members = append(c.Members, t.BotUser)
	}
	return s.told(t, object{
		"type": "member_joined_channel", "user": t.BotUser, "channel": channel, "channel_type": "C", "team": t.ID, "inviter": user,
		"event_ts": s.newTS(),
	})
}

// Uninstall takes the app out of a workspace: its tokens end, and two events
// tell of it in no certain order.
func (s *Slack) Uninstall(team string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.uninstall(s.mustTeam(team))
}

// uninstall does what [Slack.Uninstall] says. Callers hold the lock.
func (s *Slack) uninstall(t *workspace) {
	s.toldRevoked(t)
	s.told(t, object{"type": "app_uninstalled", "event_ts": s.newTS()})
	s.revokeAll(t)
	t.uninstalled = true
}

// toldRevoked tells the app that its bot tokens of a workspace have ended.
func (s *Slack) toldRevoked(t *workspace) SlackDelivery {
	return s.told(t, object{
		"type": "tokens_revoked", "tokens": object{"oauth": []string{}, "bot": []string{t.BotUser}}, "event_ts": s.newTS(),
	})
}

// Revoke ends the bot tokens of a workspace and leaves the app installed.
func (s *Slack) Revoke(team string) SlackDelivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.mustTeam(team)
	s.revokeAll(t)
	return s.toldRevoked(t)
}

func (s *Slack) revokeAll(t *workspace) {
	for _, tok := range s.tokens {
		if tok.team == t.ID && tok.kind == "bot" {
			tok.revoked = true
		}
	}
	s.notify()
}

// told makes an event of a workspace and returns its delivery. Callers hold the lock.
func (s *Slack) told(t *workspace, inner object) SlackDelivery {
	s.event(t, inner, "", false)
	return s.sending.made[len(s.sending.made)-1]
}
