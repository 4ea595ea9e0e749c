package sim

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// slackSending is what Slack has to tell the app.
type slackSending struct {
	secret   string
	target   string
	copies   int
	held     bool
	running  bool
	queue    []SlackDelivery
	made     []SlackDelivery
	failed   []SlackDelivery // waiting for their next retry
	attempts []SlackAttempt
	workers  sync.WaitGroup
}

// SetTarget says where the app takes deliveries, such as
// "http://127.0.0.1:8080/webhooks/slack". Without a target, and without a socket,
// deliveries are kept for [Slack.Deliveries] only.
func (s *Slack) SetTarget(address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sending.target = address
	s.pump()
}

// SetSigningSecret has later deliveries signed with another secret.
func (s *Slack) SetSigningSecret(secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sending.secret = secret
}

// SetCopies has Slack send every later delivery n times, one after the other.
func (s *Slack) SetCopies(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sending.copies = n
}

// Hold stops deliveries until [Slack.Release].
func (s *Slack) Hold() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sending.held = true
}

// Release sends what was held, in order.
func (s *Slack) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sending.held = false
	s.pump()
}

// TakeHeld hands out what is held, to be sent by [Slack.Deliver] in any order.
func (s *Slack) TakeHeld() []SlackDelivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.sending.queue
	s.sending.queue = nil
	return taken
}

// Deliveries returns everything that Slack had to tell the app so far, sent or
// not, oldest first.
func (s *Slack) Deliveries() []SlackDelivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sending.made)
}

// Attempts returns every attempt at a delivery so far, oldest first.
func (s *Slack) Attempts() []SlackAttempt {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sending.attempts)
}

// Settle waits until everything that can be sent has been sent.
func (s *Slack) Settle(ctx context.Context) error {
	return s.Wait(ctx, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		q := &s.sending
		return !q.running && (len(q.queue) == 0 || q.held || !s.reachable())
	})
}

// RetryFailed sends again what the app did not take, up to three times each as
// Slack does. The first retry needs no call: it follows at once. Slack waits a
// minute before the second and five before the third.
// https://docs.slack.dev/apis/events-api
func (s *Slack) RetryFailed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sending.queue = append(s.sending.queue, s.sending.failed...)
	s.sending.failed = nil
	s.pump()
}

// reachable reports whether the app has anywhere to be told. Callers hold the lock.
func (s *Slack) reachable() bool { return s.sending.target != "" || len(s.sockets.open) > 0 }

// enqueue has the app told something. Callers hold the lock.
func (s *Slack) enqueue(d SlackDelivery) {
	s.sending.made = append(s.sending.made, d)
	for range max(1, s.sending.copies) {
		s.sending.queue = append(s.sending.queue, d)
	}
	s.pump()
}

// pump sends the queue in the background, in order. Callers hold the lock.
func (s *Slack) pump() {
	q := &s.sending
	if q.running || q.held || len(q.queue) == 0 || !s.reachable() || s.stopped() {
		return
	}
	q.running = true
	q.workers.Go(func() {
		for s.sendNext(context.Background()) {
		}
	})
}

func (s *Slack) stopped() bool {
	select {
	case <-s.stop:
		return true
	default:
		return false
	}
}

// sendNext sends the first delivery of the queue, and reports whether to go on.
func (s *Slack) sendNext(ctx context.Context) bool {
	s.mu.Lock()
	q := &s.sending
	if q.held || len(q.queue) == 0 || !s.reachable() || s.stopped() {
		q.running = false
		s.notify()
		s.mu.Unlock()
		return false
	}
	d := q.queue[0]
	q.queue = q.queue[1:]
	s.mu.Unlock()

	a := s.attempt(ctx, d)

	s.mu.Lock()
	defer s.mu.Unlock()
	if next, again := a.retry(); again {
		if next.RetryNum == 1 {
			q.queue = slices.Insert(q.queue, 0, next)
		} else {
			q.failed = append(q.failed, next)
		}
	}
	return true
}

// retry is the delivery that follows a failed attempt. Slack tries events again,
// and neither interactions nor commands, whose person has seen an error.
func (a SlackAttempt) retry() (SlackDelivery, bool) {
	d := a.Delivery
	if a.Status >= 200 && a.Status < 300 || d.Kind != "events_api" || d.RetryNum == 3 || errors.Is(a.Err, errNoRetry) {
		return d, false
	}
	d.RetryNum++
	switch {
	case a.Status != 0:
		d.RetryReason = "http_error"
	case errors.Is(a.Err, context.DeadlineExceeded):
		d.RetryReason = "http_timeout"
	default:
		d.RetryReason = "connection_failed"
	}
	return d, true
}
