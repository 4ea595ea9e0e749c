package socket_test

import (
	"maps"
	"net/url"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/slack/socket"
)

const (
	jsonType = "application/json"
	formType = "application/x-www-form-urlencoded"
)

// What comes by a socket is stored as what comes by HTTP.
func TestDeliveryLooksAsByHTTP(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		frame           string
		id, event, kind string
		body            string
		more            map[string]string
	}{
		"event": {
			`{"envelope_id":"e-1","type":"events_api","payload":{ "type":"event_callback", "event_id":"Ev1","event":{"text":"<é>"}}}`,
			"Ev1", "event_callback", jsonType, `{ "type":"event_callback", "event_id":"Ev1","event":{"text":"<é>"}}`, nil,
		},
		"event that comes again": {
			`{"envelope_id":"e-2","type":"events_api","retry_attempt":2,"retry_reason":"timeout","payload":{"type":"event_callback","event_id":"Ev1"}}`,
			"Ev1", "event_callback", jsonType, `{"type":"event_callback","event_id":"Ev1"}`,
			map[string]string{"X-Slack-Retry-Num": "2", "X-Slack-Retry-Reason": "timeout"},
		},
		"event without an id": {
			`{"envelope_id":"e-3","type":"events_api","payload":{"type":"app_rate_limited","event_id":7}}`,
			"envelope:e-3", "app_rate_limited", jsonType, `{"type":"app_rate_limited","event_id":7}`, nil,
		},
		"click": {
			`{"envelope_id":"e-4","type":"interactive","payload":{"type":"block_actions","a":"1+1&x=%é"}}`,
			"envelope:e-4", "interaction", formType, "payload=" + url.QueryEscape(`{"type":"block_actions","a":"1+1&x=%é"}`), nil,
		},
		"click of nothing": {
			`{"envelope_id":"e-5","type":"interactive","payload":null}`,
			"envelope:e-5", "interaction", formType, "payload=null", nil,
		},
		"command": {
			`{"envelope_id":"e-6","type":"slash_commands","payload":{"command":"/liaison","text":"a+b & é","is_enterprise_install":"false","number":7,"nothing":null}}`,
			"envelope:e-6", "command", formType,
			"command=%2Fliaison&is_enterprise_install=false&nothing=&number=7&text=a%2Bb+%26+%C3%A9", nil,
		},
		"command that is none": {
			`{"envelope_id":"e-7","type":"slash_commands","payload":[1]}`,
			"envelope:e-7", "unknown", jsonType, "[1]", nil,
		},
		"event that is none": {
			`{"envelope_id":"e-8","type":"events_api","payload":"x"}`,
			"envelope:e-8", "unknown", jsonType, `"x"`, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, ok := socket.ReadFrame([]byte(tt.frame))
			if !ok {
				t.Fatal("no frame")
			}
			received := time.Unix(1_700_000_000, 5)
			d := f.Delivery(received)
			headers := map[string]string{"Content-Type": tt.kind, "X-Slack-Request-Timestamp": "1700000000"}
			maps.Copy(headers, tt.more)
			if d.Source != "slack" || d.ID != tt.id || d.Event != tt.event || string(d.Body) != tt.body ||
				!d.ReceivedAt.Equal(received) || !maps.Equal(d.Headers, headers) {
				t.Errorf("got %+v %s", d, d.Body)
			}
		})
	}
}

func FuzzReadFrame(f *testing.F) {
	f.Add([]byte(`{"envelope_id":"e-1","type":"events_api","payload":{"type":"event_callback","event_id":"Ev1"}}`))
	f.Add([]byte(`{"envelope_id":"e-2","type":"slash_commands","retry_attempt":1,"payload":{"command":"/liaison","text":"x"}}`))
	f.Add([]byte(`{"envelope_id":"e-3","type":"interactive","payload":{}}`))
	f.Fuzz(func(t *testing.T, message []byte) {
		frame, ok := socket.ReadFrame(message)
		if !ok {
			return
		}
		d := frame.Delivery(time.Unix(1, 0))
		if d.ID == "" || len(d.ID) > 200 || d.Event == "" || len(d.Event) > 128 {
			t.Errorf("id %q, event %q", d.ID, d.Event)
		}
		if d.Headers["Content-Type"] == formType {
			form, err := url.ParseQuery(string(d.Body))
			if err != nil || form.Has("payload") == form.Has("command") && frame.Type == socket.TypeInteractive {
				t.Errorf("form %q: %v", d.Body, err)
			}
			if frame.Type == socket.TypeInteractive && form.Get("payload") != string(frame.Payload) {
				t.Errorf("payload %q became %q", frame.Payload, form.Get("payload"))
			}
		}
	})
}
