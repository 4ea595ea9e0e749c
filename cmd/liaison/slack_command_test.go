package main_test

import (
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/internal/sim"
)

// A question by command is posed in the channel and answered in its thread; a guest
// is told that they may not, and status is told to who asks alone.
func TestCommandsInSlack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s, acme := workspace(t)
	s.AddUser(sim.SlackUser{ID: "U0GUS", Team: slackTeam, Guest: true})
	s.AddChannel(sim.SlackChannel{ID: slackChannel, Team: slackTeam, Members: []string{acme.BotUser, slackAnn, slackBob, "U0GUS"}})
	p := w.serve("SLACK_SIGNING_SECRET="+webhookSecret, "SLACK_BOT_TOKEN="+acme.BotToken, "SLACK_API_URL="+s.URL())
	s.SetTarget(p.url + "/webhooks/slack")

	heard := func(user, text string) func() bool {
		return func() bool {
			for _, m := range s.Messages(slackChannel) {
				if m.EphemeralTo == user && strings.Contains(m.Text, text) {
					return true
				}
			}
			return false
		}
	}
	s.Command(slackChannel, slackAnn, "/liaison", "ask what can you do?")
	root := ""
	slackWait(t, s, "the question", func() bool {
		for _, m := range s.Messages(slackChannel) {
			if m.ByApp && m.EphemeralTo == "" && strings.Contains(m.Text, "what can you do?") {
				root = m.TS
			}
		}
		return root != ""
	})
	slackWait(t, s, "the answer", func() bool { return len(s.Thread(slackChannel, root)) > 1 })
	s.Command(slackChannel, slackAnn, "/liaison", "status")
	slackWait(t, s, "status", heard(slackAnn, "what can you do?"))
	s.Command(slackChannel, slackBob, "/liaison", "status")
	slackWait(t, s, "status of somebody else", heard(slackBob, "You have not asked me"))
	s.Command(slackChannel, slackBob, "/liaison", "stop")
	slackWait(t, s, "stop", heard(slackBob, "Nothing of yours"))
	s.Command(slackChannel, "U0GUS", "/liaison", "ask why?")
	slackWait(t, s, "refusal", heard("U0GUS", "guest"))
	if code := p.terminate(); code != 0 {
		t.Errorf("left with %d", code)
	}
}
