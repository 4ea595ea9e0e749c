package main

import (
	"context"
	"fmt"

	"github.com/liaison-bot/liaison/config"
	"github.com/liaison-bot/liaison/slack"
	"github.com/liaison-bot/liaison/state"
)

// slackOptions is the Slack channel as the settings have it.
func slackOptions(s *service, cfg *config.Config, redact func(string) string) slack.Options {
	return slack.Options{
		Workspaces: s.reach.workspaces,
		OneToken:   cfg.Slack.BotToken != "",
		Settings:   slackSettings(cfg.Slack.Talk),
		APIURL:     cfg.Slack.APIURL.String(),
		PublicURL:  cfg.PublicURL,
		BotName:    cfg.BotName,
		Logger:     s.log,
		Redact:     redact,
		Sessions:   s.sessionsOf,
	}
}

// sessionsOf lists what somebody asked for in Slack, the last first.
func (s *service) sessionsOf(ctx context.Context, principal string, limit int) ([]slack.SessionLine, error) {
	recent, err := s.store.RecentSessions(ctx, state.SessionFilter{Principal: principal, Channel: slack.Name}, limit)
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	lines := make([]slack.SessionLine, 0, len(recent))
	for _, one := range recent {
		line := slack.SessionLine{Key: one.Key, Title: one.Title, State: string(one.Status), Updated: one.UpdatedAt}
		if one.Paused != "" {
			line.State = "waiting for Slack"
		}
		lines = append(lines, line)
	}
	return lines, nil
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
