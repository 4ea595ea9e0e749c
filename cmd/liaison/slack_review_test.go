package main_test

import (
	"context"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/internal/sim"
)

const (
	slackTeam    = "T0ACME"
	slackAnn     = "U0ANN" // mona at GitHub
	slackBob     = "U0BOB" // nobody there
	slackChannel = "C0GENERAL"
)

// workspace is a Slack with one workspace, two people and a channel.
func workspace(t *testing.T) (*sim.Slack, sim.Workspace) {
	t.Helper()
	s := sim.NewSlack(sim.SlackOptions{SigningSecret: webhookSecret, AckTimeout: patience})
	if _, err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, misfit := range s.Unfit() {
			t.Error(misfit)
		}
		_ = s.Close()
	})
	acme := s.AddWorkspace(sim.Workspace{ID: slackTeam})
	s.AddUser(sim.SlackUser{ID: slackAnn, Team: slackTeam})
	s.AddUser(sim.SlackUser{ID: slackBob, Team: slackTeam})
	s.AddChannel(sim.SlackChannel{ID: slackChannel, Team: slackTeam})
	return s, acme
}

// A review that is asked for in Slack is made on GitHub with the permissions of who
// asks there, and its outcome is told in the thread; who is nobody there is refused.
func TestReviewIsAskedForInSlack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s, acme := workspace(t)
	w.hub.SetPermission(repo, "mona", "write")
	p := w.serve(
		"SLACK_SIGNING_SECRET="+webhookSecret, "SLACK_BOT_TOKEN="+acme.BotToken, "SLACK_API_URL="+s.URL(),
		"LIAISON_PEOPLE="+slackAnn+"=mona",
	)
	s.SetTarget(p.url + "/webhooks/slack")
	pull := w.open("Say hello")

	root := s.Mention(slackChannel, slackAnn, "review <"+pull.HTMLURL+">")
	saidInThread(t, s, root.TS, "Done: octo/shop#1")
	w.reviewed(pull.Number, pull.HeadSHA)

	other := s.Mention(slackChannel, slackBob, "review <"+pull.HTMLURL+">")
	slackWait(t, s, "refusal", func() bool {
		for _, m := range s.Messages(slackChannel) {
			if m.EphemeralTo == slackBob && strings.Contains(m.Text, "people:") {
				return true
			}
		}
		return false
	})
	if thread := s.Thread(slackChannel, other.TS); len(thread) != 1 {
		t.Errorf("the thread of who is refused is %+v", thread)
	}
	w.once(pull.Number, pull.HeadSHA)
	if code := p.terminate(); code != 0 {
		t.Errorf("left with %d", code)
	}
}

// saidInThread waits until something stands in a thread.
func saidInThread(t *testing.T, s *sim.Slack, root, text string) {
	t.Helper()
	slackWait(t, s, text, func() bool {
		for _, m := range s.Thread(slackChannel, root) {
			if m.ByApp && strings.Contains(m.Shown, text) {
				return true
			}
		}
		return false
	})
}

// slackWait waits until the simulated Slack looks as cond wants.
func slackWait(t *testing.T, s *sim.Slack, what string, cond func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := s.Wait(ctx, cond); err != nil {
		for _, m := range s.Messages(slackChannel) {
			t.Logf("%s (to %q): %s", m.User, m.EphemeralTo, m.Shown)
		}
		t.Fatalf("%s: %v", what, err)
	}
}
