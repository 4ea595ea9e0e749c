package slack_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/slack"
)

const (
	jsonType = "application/json"
	formType = "application/x-www-form-urlencoded"
)

func deliver(contentType, body string) sessions.Delivery {
	return sessions.Delivery{
		Source: "slack", ID: "Ev1", Event: "event_callback",
		Headers: map[string]string{"Content-Type": contentType}, Body: []byte(body),
	}
}

// Whatever Slack sends ends as ignored, with a reason that names what it was;
// an odd field takes nothing else with it.
func TestWhatCameIsNamed(t *testing.T) {
	t.Parallel()
	click := func(payload string) string { return "payload=" + url.QueryEscape(payload) }
	for name, tt := range map[string]struct{ contentType, body, says string }{
		"mention":                 {jsonType, `{"type":"event_callback","event":{"type":"app_mention","text":"hi"}}`, "event app_mention:"},
		"charset":                 {"application/json; charset=utf-8", `{"type":"event_callback","event":{"type":"message"}}`, "event message:"},
		"subtype":                 {jsonType, `{"type":"event_callback","event":{"type":"message","subtype":"message_changed"}}`, "event message (message_changed):"},
		"no event":                {jsonType, `{"type":"event_callback"}`, "event_callback without an event:"},
		"event null":              {jsonType, `{"type":"event_callback","event":null}`, "event of unknown type:"},
		"event a list":            {jsonType, `{"type":"event_callback","event":[]}`, "event_callback without an event:"},
		"event empty":             {jsonType, `{"type":"event_callback","event":{}}`, "event of unknown type:"},
		"event of a later year":   {jsonType, `{"type":"event_callback","event":{"type":"from_2030"}}`, "event from_2030:"},
		"a type that is a number": {jsonType, `{"type":"event_callback","event":{"type":7,"subtype":[]}}`, "event of unknown type:"},
		"odd fields elsewhere":    {jsonType, `{"type":"event_callback","event_time":"1","authorizations":null,"event":{"type":"message","files":[{"size":"12"}],"blocks":[{"type":"from_2030"}]}}`, "event message:"},
		"a type with markup":      {jsonType, `{"type":"event_callback","event":{"type":"<!channel>"}}`, "event of unknown type:"},
		"rate limited":            {jsonType, `{"type":"app_rate_limited","minute_rate_limited":1}`, "envelope app_rate_limited:"},
		"null":                    {jsonType, `null`, "envelope of unknown type:"},
		"click":                   {formType, click(`{"type":"block_actions","state":{"values":[]},"team":null}`), "interaction block_actions:"},
		"click, state a text":     {formType, click(`{"type":"block_actions","state":"x","is_enterprise_install":"false"}`), "interaction block_actions:"},
		"submission":              {formType, click(`{"type":"view_submission"}`), "interaction view_submission:"},
		"payload of no type":      {formType, click(`{}`), "interaction of unknown type:"},
		"command":                 {formType, "command=%2Fliaison&text=a%2Bb", "command /liaison:"},
		"probe":                   {formType, "ssl_check=1&token=x", "probe of the certificate:"},
		"other form":              {formType, "a=b", "form that is neither"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, err := slack.Channel{}.Map(deliver(tt.contentType, tt.body))
			if err != nil || in.Action != sessions.ActionIgnore || !strings.HasPrefix(in.Reason, tt.says) {
				t.Errorf("got %q, %v; want %q", in.Reason, err, tt.says)
			}
		})
	}
}

// What cannot be read at all is an error, so that it is kept where a person sees it.
func TestWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]sessions.Delivery{
		"no JSON":           deliver(jsonType, "hello"),
		"a list":            deliver(jsonType, "[]"),
		"nothing":           deliver(jsonType, ""),
		"cut short":         deliver(jsonType, `{"type":"event_callback","event":{`),
		"no form":           deliver(formType, "payload=%zz"),
		"payload null":      deliver(formType, "payload=null"),
		"payload empty":     deliver(formType, "payload="),
		"payload a list":    deliver(formType, "payload=[]"),
		"payload a text":    deliver(formType, `payload="x"`),
		"depth without end": deliver(jsonType, `{"a":`+strings.Repeat("[", 200_000)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if in, err := (slack.Channel{}).Map(d); err == nil {
				t.Errorf("got %+v", in)
			}
		})
	}
}

func FuzzMap(f *testing.F) {
	f.Add(jsonType, []byte(`{"type":"event_callback","event":{"type":"app_mention"}}`))
	f.Add(formType, []byte("payload=%7B%22type%22%3A%22block_actions%22%7D"))
	f.Fuzz(func(t *testing.T, contentType string, body []byte) {
		in, err := slack.Channel{}.Map(deliver(contentType, string(body)))
		if err == nil && (in.Action != sessions.ActionIgnore || in.Reason == "" || len(in.Reason) > 300) {
			t.Errorf("got %+v", in)
		}
	})
}
