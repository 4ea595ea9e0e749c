package slack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/sessions"
)

const (
	jsonType = "application/json"
	formType = "application/x-www-form-urlencoded"
)

// self is who we are in these tests.
var self = Self{AppID: "A0LIAISON", Team: "T0ACME", BotUser: "U0BOT", BotID: "B0BOT"}

// settings are those of a workspace in which two channels are watched and one app is
// answered.
func settings() Settings {
	s := defaults()
	s.Watch = []Watch{{Channel: "C0WATCH", Debounce: 20 * time.Second}, {Channel: "C0ALL", All: true}}
	s.Bots = []string{"A0PAGER"}
	return s
}

func delivered(contentType string, body []byte) sessions.Delivery {
	return sessions.Delivery{
		Source: Name, ID: "Ev0000001", Event: "event_callback", Body: body,
		Headers:    map[string]string{"Content-Type": contentType},
		ReceivedAt: time.Unix(1767323001, 0).UTC(),
	}
}

// examples are the names of all deliveries that are kept for tests.
func examples(t testing.TB) []string {
	t.Helper()
	names, err := os.ReadDir(filepath.Join("testdata", "deliveries"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no deliveries: %v", err)
	}
	var all []string
	for _, n := range names {
		all = append(all, strings.TrimSuffix(n.Name(), filepath.Ext(n.Name())))
	}
	return all
}

// example is one of them as it comes. An interaction is kept as its payload.
func example(t testing.TB, name string) sessions.Delivery {
	t.Helper()
	kind, _, _ := strings.Cut(name, ".")
	path := filepath.Join("testdata", "deliveries", name)
	if kind == "command" {
		body, err := os.ReadFile(path + ".form")
		must(t, err)
		return delivered(formType, bytes.TrimSpace(body))
	}
	body, err := os.ReadFile(path + ".json")
	must(t, err)
	if kind == "interaction" {
		return delivered(formType, []byte("payload="+url.QueryEscape(string(body))))
	}
	return delivered(jsonType, body)
}

func mapped(t testing.TB, name string, s Settings) sessions.Intent {
	t.Helper()
	in, err := Map(example(t, name), self, s)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return in
}

// actions are the names of actions as tests show them.
var actions = map[sessions.Action]string{
	sessions.ActionIgnore: "ignore", sessions.ActionRun: "run", sessions.ActionArchive: "archive", sessions.ActionStop: "stop",
	sessions.ActionAmend: "amend", sessions.ActionNote: "note",
	sessions.ActionDecide: "decide",
}

// show is an intent as a reviewer of a change reads it.
func show(in sessions.Intent) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", actions[in.Action], in.Reason)
	line := func(name string, value any, shown bool) {
		if shown {
			fmt.Fprintf(&b, "  %-9s %v\n", name, value)
		}
	}
	line("weigh", in.Weigh, in.Weigh)
	line("urgent", in.Urgent, in.Urgent)
	line("existing", in.Existing, in.Existing)
	line("quiet", in.Quiet, in.Quiet > 0)
	line("key", in.Key, in.Key != "")
	line("prefixes", in.KeyPrefixes, len(in.KeyPrefixes) > 0)
	line("fact", in.Fact, in.Fact != "")
	line("id", in.MessageID, in.MessageID != "")
	line("by", in.Principal, in.Principal != "")
	line("title", in.Title, in.Title != "")
	line("message", fmt.Sprintf("%q", in.Message), in.Message != "")
	line("note", fmt.Sprintf("%s %s %s", in.Note.Event, in.Note.TurnID, in.Note.Data), in.Note.Event != "")
	line("request", string(in.Request), len(in.Request) > 0)
	for _, f := range in.Effects {
		line("effect", fmt.Sprintf("%s %s %s", f.Name, f.Kind, f.Payload), true)
	}
	return b.String()
}

// What each delivery asks for, as a reviewer of a change reads it.
func TestMapGolden(t *testing.T) {
	t.Parallel()
	tables := map[string]*strings.Builder{}
	for _, name := range examples(t) {
		kind, rest, _ := strings.Cut(name, ".")
		if tables[kind] == nil {
			tables[kind] = &strings.Builder{}
		}
		got := show(mapped(t, name, settings()))
		fmt.Fprintf(tables[kind], "# %s\n%s\n", strings.ReplaceAll(rest, "-", " "), got)
		if again := show(mapped(t, name, settings())); again != got {
			t.Errorf("%s: the same delivery gave another intent:\n%s\n%s", name, got, again)
		}
	}
	for kind, table := range tables {
		golden(t, "intents/"+kind+".golden", table.String())
	}
}

// What cannot be read at all, or does not say what no work can do without, is an
// error, so that it is kept where a person sees it.
func TestWhatCannotBeUnderstood(t *testing.T) {
	t.Parallel()
	event := func(inner string) string {
		return `{"type":"event_callback","team_id":"T0ACME","event":` + inner + `}`
	}
	click := func(payload string) string { return "payload=" + url.QueryEscape(payload) }
	for name, tt := range map[string]struct{ contentType, body, says string }{
		"no JSON":              {jsonType, "hello", "no JSON object"},
		"a list":               {jsonType, "[]", "no JSON object"},
		"nothing":              {jsonType, "", "no JSON object"},
		"cut short":            {jsonType, `{"type":"event_callback","event":{`, "no JSON object"},
		"no form":              {formType, "payload=%zz", "no form"},
		"payload null":         {formType, "payload=null", "null"},
		"payload empty":        {formType, "payload=", "no JSON object"},
		"payload a list":       {formType, "payload=[]", "no JSON object"},
		"payload a text":       {formType, `payload="x"`, "no JSON object"},
		"depth without end":    {jsonType, `{"a":` + strings.Repeat("[", 200_000), "no JSON object"},
		"no workspace":         {jsonType, `{"type":"event_callback","event":{"type":"app_mention"}}`, "workspace"},
		"click, no workspace":  {formType, click(`{"type":"block_actions","team":null}`), "workspace"},
		"message, no channel":  {jsonType, event(`{"type":"message","user":"U0ADA","ts":"1.1"}`), "channel"},
		"message, no ts":       {jsonType, event(`{"type":"message","user":"U0ADA","channel":"C0DEV"}`), "ts"},
		"ts that is none":      {jsonType, event(`{"type":"app_mention","user":"U0ADA","channel":"C0DEV","ts":"1.1:x"}`), "ts"},
		"channel that is none": {jsonType, event(`{"type":"app_mention","user":"U0ADA","channel":"C0:DEV","ts":"1.1"}`), "channel"},
		"edit of nothing":      {jsonType, event(`{"type":"message","subtype":"message_changed","channel":"C0DEV"}`), "message"},
		"deletion of nothing":  {jsonType, event(`{"type":"message","subtype":"message_deleted","channel":"C0DEV"}`), "ts"},
		"command, no user":     {formType, "command=%2Fliaison&team_id=T0ACME&channel_id=C0DEV", "user"},
		"command, no channel":  {formType, "command=%2Fliaison&team_id=T0ACME&user_id=U0ADA", "channel"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, err := Map(delivered(tt.contentType, []byte(tt.body)), self, settings())
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v and %s", err, show(in))
			}
		})
	}
}

// What is no event, click or command ends as ignored, with a reason that names it.
func TestWhatIsNothingToUsIsNamed(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ contentType, body, says string }{
		"null":                 {jsonType, `null`, "envelope of unknown type"},
		"unknown envelope":     {jsonType, `{"type":"from_2030"}`, "envelope from_2030"},
		"a type with markup":   {jsonType, `{"type":"<!channel>"}`, "envelope of unknown type"},
		"probe":                {formType, "ssl_check=1&token=x", "probe of the certificate"},
		"other form":           {formType, "a=b", "form that is neither"},
		"interaction, no type": {formType, "payload=" + url.QueryEscape(`{"team":{"id":"T0ACME"},"user":{"id":"U0ADA"}}`), "interaction of unknown type"},
		"charset":              {"application/json; charset=utf-8", `{"type":"event_callback","team_id":"T0ACME","event":{"type":"message","subtype":"huddle_thread"}}`, "event message (huddle_thread): messages of this kind"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, err := Map(delivered(tt.contentType, []byte(tt.body)), self, settings())
			if err != nil || in.Action != sessions.ActionIgnore || in.Weigh || !strings.HasPrefix(in.Reason, tt.says) {
				t.Errorf("got %v and %s", err, show(in))
			}
		})
	}
}

// FuzzMap holds what the engine relies on: keys of our own, a reason that is one
// line, effects and requests that are JSON.
func FuzzMap(f *testing.F) {
	for _, name := range examples(f) {
		d := example(f, name)
		f.Add(d.Headers["Content-Type"], d.Body)
	}
	f.Fuzz(func(t *testing.T, contentType string, body []byte) {
		d := delivered(contentType, body)
		in, err := Map(d, self, settings())
		if err != nil {
			return
		}
		if actions[in.Action] == "" || in.Reason == "" || len(in.Reason) > 400 || strings.ContainsAny(in.Reason, "\n\r") {
			t.Fatalf("got %s", show(in))
		}
		for _, key := range append([]string{in.Key, in.Fact}, in.KeyPrefixes...) {
			if key != "" && !strings.HasPrefix(key, "slack:") {
				t.Errorf("key or fact %q", key)
			}
		}
		switch in.Action {
		case sessions.ActionRun:
			if !in.Weigh || in.Message == "" || in.Key == "" || in.Principal == "" {
				t.Errorf("got %s", show(in))
			}
		case sessions.ActionStop:
			if !in.Weigh || in.Key == "" {
				t.Errorf("got %s", show(in))
			}
		}
		if in.Weigh {
			if r, err := parseRequest(in.Request); err != nil || r.Trigger == "" {
				t.Errorf("request %s: %v", in.Request, err)
			}
		}
		for _, e := range in.Effects {
			if e.Name == "" || e.Kind == "" || !json.Valid(e.Payload) {
				t.Errorf("effect %+v", e)
			}
		}
		if second, err := Map(d, self, settings()); err != nil || show(second) != show(in) {
			t.Errorf("not the same again: %s", show(second))
		}
	})
}
