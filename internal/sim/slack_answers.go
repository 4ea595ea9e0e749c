package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// answered carries out what the app answered to a delivery: what a command
// shows, and what becomes of a modal that was submitted. Callers hold the lock.
func (s *Slack) answered(a SlackAttempt) {
	d := a.Delivery
	switch {
	case d.Kind == "slash_commands" && a.Status == http.StatusOK:
		s.answeredCommand(d, bytes.TrimSpace(a.Answer))
	case d.Type == "view_submission":
		s.answeredSubmission(d, a)
	}
}

// answeredCommand shows the text of an answer to a command, or the message that
// it describes.
func (s *Slack) answeredCommand(d SlackDelivery, answer []byte) {
	if len(answer) == 0 || string(answer) == "null" {
		return
	}
	if !json.Valid(answer) || answer[0] != '{' {
		answer = rawJSON(object{"text": string(answer)})
	}
	s.respond(s.interact.answers[strings.TrimPrefix(d.Form.Get("response_url"), s.base)], answer)
}

// answeredSubmission closes a modal, or leaves it open with errors, changed, or
// below another. An answer that Slack can not use leaves it open too.
func (s *Slack) answeredSubmission(d SlackDelivery, a SlackAttempt) {
	var v *slackView
	for _, other := range s.interact.views {
		if other.ID == d.view {
			v = other
		}
	}
	if v == nil {
		return
	}
	if a.Status != http.StatusOK {
		v.closed, v.Errors = false, map[string]string{"": "We had some trouble connecting. Try again?"}
		return
	}
	var o struct {
		Action string            `json:"response_action"`
		Errors map[string]string `json:"errors"`
		View   json.RawMessage   `json:"view"`
	}
	if len(bytes.TrimSpace(a.Answer)) > 0 && json.Unmarshal(a.Answer, &o) != nil {
		v.closed, v.Errors = false, map[string]string{"": "the answer is not JSON"}
		return
	}
	switch o.Action {
	case "":
	case "clear":
		for _, other := range s.interact.views {
			other.closed = other.closed || other.Root == v.Root
		}
	case "errors":
		v.closed, v.Errors = false, o.Errors
	case "update", "push":
		s.answeredView(v, o.Action, o.View)
	default:
		v.closed, v.Errors = false, map[string]string{"": "unknown response_action " + o.Action}
	}
}

// answeredView shows the view of an answer in the place of a modal, or above it.
func (s *Slack) answeredView(v *slackView, action string, raw json.RawMessage) {
	v.closed = false
	next, refusal := readView(string(raw))
	if refusal != nil {
		v.Errors = map[string]string{"": refusal.Error()}
		return
	}
	next.ID, next.Team, next.User, next.Root, next.Previous = v.ID, v.Team, v.User, v.Root, v.Previous
	next.Hash = s.newTS() + "." + digest(v.User)[:8]
	if action == "update" {
		*v = *next
		return
	}
	next.ID, next.Previous = s.newID("V"), v.ID
	s.interact.views = append(s.interact.views, next)
}

// VerifyURL sends the challenge by which Slack checks an address that an app's
// owner has entered, and returns why Slack would not take it.
// https://docs.slack.dev/reference/events/url_verification
func (s *Slack) VerifyURL(ctx context.Context, address string) error {
	s.mu.Lock()
	secret, challenge := s.sending.secret, digest(s.newID("challenge"))
	s.mu.Unlock()
	d := SlackDelivery{Kind: "events_api", Type: "url_verification", Payload: rawJSON(object{
		"type": "url_verification", "token": "verification-token-of-old", "challenge": challenge,
	})}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(d.Request(ctx, address, secret, s.opts.Now()))
	if err != nil {
		return fmt.Errorf("sim: verify %s: %w", address, err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
	if err != nil {
		return fmt.Errorf("sim: verify %s: %w", address, err)
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("sim: verify %s: the answer has status %d", address, resp.StatusCode)
	}
	var o struct{ Challenge string }
	if json.Unmarshal(body, &o) == nil && o.Challenge == challenge || strings.TrimSpace(string(body)) == challenge {
		return nil
	}
	return errors.New("sim: verify " + address + ": the answer is not the challenge")
}

// SendPayload has the app told any payload of the Events API, for envelopes that
// are not as they should be. It returns the delivery.
func (s *Slack) SendPayload(team string, payload json.RawMessage) SlackDelivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := SlackDelivery{ID: s.newID("Ev"), Kind: "events_api", Type: "payload", Team: team, Payload: payload}
	s.enqueue(d)
	return d
}
