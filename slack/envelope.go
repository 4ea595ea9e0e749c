package slack

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/liaison-bot/liaison/sessions"
)

// envelope is what all of Slack's JSON has outside. Fields are read one by one,
// so that one that is not as documented costs nothing but itself.
type envelope struct {
	Type  json.RawMessage `json:"type"`
	Event json.RawMessage `json:"event"`
}

// describe says in a few words what a delivery is. An error means that it is not
// even readable.
func describe(d sessions.Delivery) (string, error) {
	kind, _, _ := strings.Cut(d.Headers["Content-Type"], ";")
	if strings.TrimSpace(strings.ToLower(kind)) == "application/x-www-form-urlencoded" {
		return describeForm(d.Body)
	}
	var e envelope
	if err := json.Unmarshal(d.Body, &e); err != nil {
		return "", fmt.Errorf("the body is no JSON object: %w", err)
	}
	outer := word(e.Type)
	if outer != "event_callback" {
		return named("envelope", outer), nil
	}
	var event struct {
		Type    json.RawMessage `json:"type"`
		Subtype json.RawMessage `json:"subtype"`
	}
	if !readable(e.Event, &event) {
		return "event_callback without an event", nil
	}
	inner := named("event", word(event.Type))
	if subtype := word(event.Subtype); subtype != "" {
		inner += " (" + subtype + ")"
	}
	return inner, nil
}

// describeForm reads a click, a submission or a command.
func describeForm(body []byte) (string, error) {
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return "", fmt.Errorf("the body is no form: %w", err)
	}
	switch {
	case form.Has("command"):
		return named("command", plain(form.Get("command"))), nil
	case form.Has("ssl_check"):
		return "probe of the certificate", nil
	case !form.Has("payload"):
		return "form that is neither an interaction nor a command", nil
	}
	var payload *envelope
	if err := json.Unmarshal([]byte(form.Get("payload")), &payload); err != nil {
		return "", fmt.Errorf("the payload of an interaction is no JSON object: %w", err)
	}
	if payload == nil {
		return "", errors.New("the payload of an interaction is null")
	}
	return named("interaction", word(payload.Type)), nil
}

func named(what, name string) string {
	if name == "" {
		return what + " of unknown type"
	}
	return what + " " + name
}

// word returns a JSON text that is a plain word, and an empty one for all else.
func word(raw json.RawMessage) string {
	var text string
	if !readable(raw, &text) {
		return ""
	}
	return plain(text)
}

// readable reads JSON into a value and reports whether it is of that kind.
func readable(raw json.RawMessage, into any) bool { return json.Unmarshal(raw, into) == nil }

// maxWord bounds a word; Slack's longest event type has some 40 characters.
const maxWord = 64

// plain returns s if it is a name of Slack's kind and nothing else.
func plain(s string) string {
	other := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("_-./", r)
	}
	if len(s) > maxWord || strings.ContainsFunc(s, other) {
		return ""
	}
	return s
}
