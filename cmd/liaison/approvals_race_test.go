package main_test

import (
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/internal/sim"
)

// Fifty decisions from everywhere race each other, and the end of the time that
// people have. One of them holds, and every card says which.
func TestFiftyRacingDecisions(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	c := newCircle(t, "  expiresAfter: 4s\n")
	c.start("LIAISON_GITHUB_ACTOR_PER_DAY=100000", "LIAISON_GITHUB_REPOSITORY_PER_DAY=100000") // all are asked for by one person
	won := map[approvals.State]int{}
	for i := range soakOr(3, 1000) {
		c.hub.SetRateLimit(5000, time.Now().Add(time.Hour)) // a thousand races take many hours' worth
		c.slack.Hold()
		pull, hook := c.opened("race-" + itoa(i))
		c.p.deliver(hook)
		a := asked{circle: c, pull: pull}
		c.wait("the card", func() bool {
			a.id = a.check().ExternalID
			return a.id != ""
		})
		slackWait(t, c.slack, "the cards in Slack", func() bool { return a.direct(slackAnn).TS != "" && a.direct(slackBob).TS != "" })
		rec, check := c.p.approval(a.id), a.check().ID
		for k := range 10 {
			switch user := []string{slackAnn, slackBob}[k%2]; k % 3 {
			case 0:
				c.slack.Command(slackChannel, user, "/liaison", "deny "+a.id+" no")
			default:
				c.slack.Command(slackChannel, user, "/liaison", "approve "+a.id)
			}
		}
		clicks := c.slack.TakeHeld()
		if i%3 == 2 { // nearly at the end
			<-time.After(time.Until(rec.ExpiresAt.Add(-time.Duration(random.Int64N(int64(100 * time.Millisecond))))))
		}
		var race sync.WaitGroup
		for _, d := range clicks {
			race.Go(func() {
				if _, err := c.slack.Deliver(t.Context(), d); err != nil {
					t.Error(err)
				}
			})
		}
		for k := range 40 {
			verdict := []string{"approve", "deny"}[random.IntN(2)]
			login := []string{"ann", "bob"}[k%2]
			if k%2 == 0 {
				race.Go(func() {
					status, body := send(t, http.MethodPost, c.p.url+"/v1/session/"+rec.SessionID+"/approvals/"+a.id, `{"decision":"`+verdict+`"}`,
						map[string]string{"Authorization": "Bearer " + apiToken, "Content-Type": "application/json"})
					if status != http.StatusOK && status != http.StatusConflict {
						t.Errorf("answered %d: %s", status, body)
					}
				})
				continue
			}
			press := c.hub.CheckRunEvent(check, "requested_action", login, verdict)
			race.Go(func() { c.deliverTo(press) })
		}
		race.Wait()
		c.slack.Release()
		r := a.settled(approvals.Done, approvals.Denied, approvals.Expired)
		won[r.State]++
	}
	t.Logf("ended as %v", won)
	c.p.terminate()
}

// deliverTo posts a delivery from beside the test.
func (c *circle) deliverTo(hook sim.Webhook) {
	if status, err := c.hub.Deliver(c.t.Context(), c.p.url+"/webhooks/github", hook); err != nil || status != http.StatusAccepted {
		c.t.Errorf("a delivery is answered %d, %v", status, err)
	}
}
