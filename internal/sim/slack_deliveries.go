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
	"strconv"
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
