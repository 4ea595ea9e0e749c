package main_test

import (
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/internal/sim"
)

// However often Slack sends an event, as a first try and as retries, all at once, and
// again after the service was killed, it is one turn and one reply.
func TestOneEventManyTimesIsOneReply(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s, acme := workspace(t)
	env := []string{"SLACK_SIGNING_SECRET=" + webhookSecret, "SLACK_BOT_TOKEN=" + acme.BotToken, "SLACK_API_URL=" + s.URL()}
	p := w.serve(env...)
	root := s.Mention(slackChannel, slackAnn, "what can you do?")
	events := s.Deliveries() // the mention and its twin, which nobody took yet
	if len(events) != 2 {
		t.Fatalf("Slack tells of %d events", len(events))
	}
	p.sendFiftyTimes(events)
	p.kill()
	p = w.serve(env...)
	p.sendFiftyTimes(events)
	saidInThread(t, s, root.TS, "")
	p.sendFiftyTimes(events)

	// What comes later in the thread is answered later: by then all else was.
	s.SetTarget(p.url + "/webhooks/slack")
	s.MentionIn(slackChannel, root.TS, slackAnn, "and what else?")
	answers := func() (n int) {
		for _, m := range s.Thread(slackChannel, root.TS) {
			if m.ByApp {
				n++
			}
		}
		return n
	}
	slackWait(t, s, "both answers", func() bool { return answers() > 1 })
	if code := p.terminate(); code != 0 {
		t.Errorf("left with %d", code)
	}
	if n := answers(); n != 2 {
		t.Errorf("two questions have %d answers", n)
	}
}

// sendFiftyTimes posts each event fifty times at once.
func (p *process) sendFiftyTimes(events []sim.SlackDelivery) {
	p.w.t.Helper()
	var sending sync.WaitGroup
	for i, d := range slices.Repeat(events, 50) {
		if d.RetryNum = i % 4; d.RetryNum > 0 {
			d.RetryReason = "http_timeout"
		}
		sending.Go(func() {
			resp, err := http.DefaultClient.Do(d.Request(p.w.t.Context(), p.url+"/webhooks/slack", webhookSecret, time.Now()))
			if err != nil {
				p.w.t.Error(err)
				return
			}
			defer resp.Body.Close()
			if body, err := io.ReadAll(resp.Body); resp.StatusCode != http.StatusOK || len(body) > 0 || err != nil {
				p.w.t.Errorf("answered %d: %s, %v", resp.StatusCode, body, err)
			}
		})
	}
	sending.Wait()
}
