package socket

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strconv"
	"time"

	"github.com/liaison-bot/liaison/state"
)

const (
	mediaJSON = "application/json"
	mediaForm = "application/x-www-form-urlencoded"
)

// Delivery is the frame as a webhook would have brought it: events as JSON,
// interactions and commands as forms. An event keeps its own id, so that it is
// known however often and whichever way it comes; all else has the envelope's.
// A payload that cannot be what its type says is kept as it came, for a person
// to see.
func (f Frame) Delivery(received time.Time) state.Delivery {
	d := state.Delivery{
		Source: "slack",
		ID:     "envelope:" + f.EnvelopeID,
		Event:  "unknown",
		Headers: map[string]string{
			"Content-Type":              mediaJSON,
			"X-Slack-Request-Timestamp": strconv.FormatInt(received.Unix(), 10),
		},
		Body:       f.Payload,
		ReceivedAt: received,
	}
	if f.RetryAttempt > 0 {
		d.Headers["X-Slack-Retry-Num"] = strconv.Itoa(f.RetryAttempt)
	}
	if f.RetryReason != "" {
		d.Headers["X-Slack-Retry-Reason"] = f.RetryReason
	}
	switch f.Type {
	case TypeEvents:
		var payload struct {
			Type    json.RawMessage `json:"type"`
			EventID json.RawMessage `json:"event_id"`
		}
		// What is no object has neither.
		_ = json.Unmarshal(f.Payload, &payload)
		if id := name(payload.EventID); id != "" {
			d.ID = id
		}
		if kind := name(payload.Type); kind != "" {
			d.Event = kind
		}
	case TypeInteractive:
		d.Event = "interaction"
		d.Headers["Content-Type"] = mediaForm
		d.Body = []byte("payload=" + url.QueryEscape(string(f.Payload)))
	case TypeCommands:
		if form, ok := commandForm(f.Payload); ok {
			d.Event = "command"
			d.Headers["Content-Type"] = mediaForm
			d.Body = form
		}
	}
	return d
}

// commandForm makes the form of a command's JSON. Slack's has texts only; what
// is none is written as it came.
func commandForm(payload []byte) ([]byte, bool) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(payload, &fields) != nil || fields["command"] == nil {
		return nil, false
	}
	form := url.Values{}
	for key, raw := range fields {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			text = string(bytes.TrimSpace(raw))
		}
		form.Set(key, text) // null is an empty text
	}
	return []byte(form.Encode()), true
}
