package sim

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"
)

// SlackDelivery is something that Slack tells the app, before it is signed.
// Sending the same value twice is a duplicate.
type SlackDelivery struct {
	// ID is the event's id; made up for interactions and commands.
	ID string
	// Kind is "events_api", "interactive" or "slash_commands", as the envelopes of
	// Socket Mode name it.
	Kind string
	// Type is the inner type: "app_mention", "message", "block_actions", "/liaison".
	Type string
	// Team that the app is told for.
	Team string
	// Payload is the JSON of it; Form has it as the fields of a command.
	Payload json.RawMessage
	Form    url.Values
	// RetryNum counts from 1 how often Slack has tried again; RetryReason says why:
	// "http_timeout", "http_error", "connection_failed".
	RetryNum    int
	RetryReason string

	view string // that was submitted
}

// Body is the raw body of the delivery over HTTP, and its type.
func (d SlackDelivery) Body() (body []byte, contentType string) {
	switch d.Kind {
	case "events_api":
		return d.Payload, "application/json"
	case "interactive":
		return []byte(url.Values{"payload": {string(d.Payload)}}.Encode()), "application/x-www-form-urlencoded"
	}
	return []byte(d.Form.Encode()), "application/x-www-form-urlencoded"
}

// SlackSignature signs a body as Slack does, for the headers
// X-Slack-Signature and X-Slack-Request-Timestamp.
// https://docs.slack.dev/authentication/verifying-requests-from-slack
func SlackSignature(secret string, at time.Time, body []byte) (signature, timestamp string) {
	timestamp = strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("v0:" + timestamp + ":"))
	mac.Write(body)
	return "v0=" + hex.EncodeToString(mac.Sum(nil)), timestamp
}

// Request is the signed request that carries the delivery.
func (d SlackDelivery) Request(ctx context.Context, address, secret string, at time.Time) *http.Request {
	body, contentType := d.Body()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		panic("sim: delivery URL: " + err.Error())
	}
	signature, timestamp := SlackSignature(secret, at, body)
	r.Header.Set("Content-Type", contentType)
	r.Header.Set("Accept", "*/*")
	r.Header.Set("User-Agent", "Slackbot 1.0 (+https://api.slack.com/robots)")
	r.Header.Set("X-Slack-Signature", signature)
	r.Header.Set("X-Slack-Request-Timestamp", timestamp)
	if d.RetryNum > 0 {
		r.Header.Set("X-Slack-Retry-Num", strconv.Itoa(d.RetryNum))
		r.Header.Set("X-Slack-Retry-Reason", d.RetryReason)
	}
	return r
}

// SlackAttempt is one attempt at a delivery.
type SlackAttempt struct {
	Delivery SlackDelivery
	// Status is 0 when nobody answered in time. Over a socket it is 200 once the
	// envelope was acknowledged.
	Status int
	// Answer is the body or the payload that came back.
	Answer []byte
	Err    error
}

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

// errNoRetry is an answer with X-Slack-No-Retry.
var errNoRetry = errors.New("the app wants no retry")

// Deliver sends a delivery now, signed with the present secret, and returns the
// status. It makes no retry.
func (s *Slack) Deliver(ctx context.Context, d SlackDelivery) (status int, err error) {
	a := s.attempt(ctx, d)
	if errors.Is(a.Err, errNoRetry) {
		return a.Status, nil
	}
	return a.Status, a.Err
}

// attempt sends a delivery and records how it went: over a socket if one is
// open, or else over HTTP.
func (s *Slack) attempt(ctx context.Context, d SlackDelivery) SlackAttempt {
	ctx, cancel := context.WithTimeout(ctx, s.opts.AckTimeout)
	defer cancel()
	defer s.untilStopped(cancel)()
	a, sent := s.attemptSocket(ctx, d)
	if !sent {
		a = s.attemptHTTP(ctx, d)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sending.attempts = append(s.sending.attempts, a)
	s.answered(a)
	s.notify()
	return a
}

// attemptHTTP sends a delivery to the target. It follows no redirect.
func (s *Slack) attemptHTTP(ctx context.Context, d SlackDelivery) SlackAttempt {
	s.mu.Lock()
	target, secret := s.sending.target, s.sending.secret
	s.mu.Unlock()
	a := SlackAttempt{Delivery: d}
	transport := &http.Transport{DisableKeepAlives: true}
	client := &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(d.Request(ctx, target, secret, s.opts.Now()))
	if err == nil {
		a.Status = resp.StatusCode
		a.Answer, err = io.ReadAll(io.LimitReader(resp.Body, 1<<20))
		_ = resp.Body.Close()
		if err == nil && resp.Header.Get("X-Slack-No-Retry") == "1" {
			a.Err = errNoRetry
		}
	}
	if err != nil {
		a.Status, a.Err = 0, fmt.Errorf("sim: deliver %s %s: %w", d.Type, d.ID, err)
	}
	return a
}

// untilStopped has [Slack.Close] call cancel, until the returned function is called.
func (s *Slack) untilStopped(cancel context.CancelFunc) (release func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-s.stop:
			cancel()
		case <-done:
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}
