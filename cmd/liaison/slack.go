package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/config"
	"github.com/liaison-bot/liaison/github"
	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/slack"
	"github.com/liaison-bot/liaison/state"
)

// slackOptions is the Slack channel as the settings have it.
func slackOptions(s *service, cfg *config.Config, redact func(string) string) slack.Options {
	o := slack.Options{
		Workspaces: s.reach.workspaces,
		OneToken:   cfg.Slack.BotToken != "",
		Settings:   slackSettings(cfg.Slack.Talk),
		APIURL:     cfg.Slack.APIURL.String(),
		PublicURL:  cfg.PublicURL,
		BotName:    cfg.BotName,
		Logger:     s.log,
		Redact:     redact,
		Sessions:   s.sessionsOf,
		Session:    s.sessionAt,
		// The engine and the agent's folder are made after their channels.
		Approval: func(ctx context.Context, id string) (approvals.View, error) { return s.engine.Approval(ctx, id) },
		Approvals: func(ctx context.Context, open bool, limit int) ([]approvals.View, error) {
			return s.engine.Approvals(ctx, sessions.ApprovalFilter{Open: open}, limit)
		},
		ApprovalChannel: func() string { return s.agents.source.Current().Approvals.SlackChannel },
	}
	if s.github != nil {
		o.Review = s.handReview
	}
	if s.reach.installs != nil {
		o.Removed = s.reach.installs.Removed
	}
	return o
}

// sessionsOf lists what somebody asked for in Slack, the last first.
func (s *service) sessionsOf(ctx context.Context, principal string, limit int) ([]slack.SessionLine, error) {
	recent, err := s.store.RecentSessions(ctx, state.SessionFilter{Principal: principal, Channel: slack.Name}, limit)
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	return s.sessionLines(ctx, recent)
}

// sessionAt finds the session of a thread in Slack.
func (s *service) sessionAt(ctx context.Context, key string) (slack.SessionLine, bool, error) {
	found, err := s.store.SessionByKey(ctx, key)
	if errors.Is(err, state.ErrNotFound) {
		return slack.SessionLine{}, false, nil
	}
	if err != nil {
		return slack.SessionLine{}, false, fmt.Errorf("find the session %s: %w", key, err)
	}
	lines, err := s.sessionLines(ctx, []state.Session{found})
	if err != nil {
		return slack.SessionLine{}, false, err
	}
	return lines[0], true, nil
}

// sessionLines are sessions as people see them in Slack.
func (s *service) sessionLines(ctx context.Context, all []state.Session) ([]slack.SessionLine, error) {
	if len(all) == 0 {
		return nil, nil
	}
	open, err := s.store.OpenTurns(ctx)
	if err != nil {
		return nil, fmt.Errorf("list turns: %w", err)
	}
	doing := map[string]string{} // by session
	for _, t := range open {
		switch {
		case t.Status == state.TurnRunning:
			doing[t.SessionID] = "running"
		case doing[t.SessionID] == "":
			doing[t.SessionID] = "waiting for its turn"
		}
	}
	lines := make([]slack.SessionLine, 0, len(all))
	for _, one := range all {
		line := slack.SessionLine{Key: one.Key, Title: one.Title, State: doing[one.ID], Updated: one.UpdatedAt}
		line.Working = line.State != ""
		switch {
		case one.Paused != "":
			line.State = "waiting for Slack"
		case line.Working:
		case one.Status == state.SessionArchived:
			line.State = "closed"
		default:
			line.State = "idle"
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// handReview stores a review that was asked for in Slack as a delivery to GitHub's
// side, which judges what the login may do. Stored again, it is the same.
func (s *service) handReview(ctx context.Context, r slack.Review) error {
	d, err := github.HandedReview{URL: r.URL, Login: r.Login, Caller: r.Caller}.Delivery(r.ID, time.Now())
	if err != nil {
		return err
	}
	_, err = s.store.Accept(ctx, d)
	if errors.Is(err, state.ErrUnavailable) {
		return &sessions.RetryError{Uncounted: true, Err: err}
	}
	return err
}

// slackSettings is how we talk in Slack, as the operator has it.
func slackSettings(t config.SlackTalk) slack.Settings {
	s := slack.Settings{
		MentionInThreads: t.MentionInThreads, DirectIsOne: t.DirectIsOne, Reply: slack.Reply(t.Reply),
		AllowGuests: t.AllowGuests, AllowExternal: t.AllowExternal,
		Channels: t.Channels, Users: t.Users, Bots: t.Apps, Reactions: t.Reactions, People: t.People,
	}
	for _, w := range t.Watch {
		s.Watch = append(s.Watch, slack.Watch{Channel: w.Channel, All: w.All, Debounce: w.Debounce})
	}
	return s
}
