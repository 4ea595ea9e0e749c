package github

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/state"
)

// self is who we are in these tests; sender 77 is our own bot.
var self = Self{AppID: appID, BotID: 77, Handle: "liaison"}

const (
	headSHA   = "2222222222222222222222222222222222222222"
	beforeSHA = "1111111111111111111111111111111111111111"
)

func delivery(event string, body []byte) sessions.Delivery {
	return sessions.Delivery{
		Source: Name, ID: "d-1", Event: event, Body: body,
		Headers:    map[string]string{targetHeader: "integration"},
		ReceivedAt: time.Date(2026, 1, 2, 4, 5, 9, 0, time.UTC),
	}
}

// fixtures are the names of all events that are kept as examples.
func fixtures(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "events", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(filepath.Base(f), ".json")
	}
	return files
}

func eventFixture(t testing.TB, name string) []byte {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", "events", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// eventOf is the event that a fixture's name begins with.
func eventOf(name string) string {
	event, _, _ := strings.Cut(name, ".")
	return event
}

// mapped maps a fixture, changed by pairs of a dotted path and a value.
func mapped(t testing.TB, name string, changes ...any) sessions.Intent {
	t.Helper()
	in, err := Map(delivery(eventOf(name), changedEvent(t, name, changes...)), self)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return in
}

func fixture(t testing.TB, action string) []byte {
	t.Helper()
	return eventFixture(t, "pull_request."+action)
}

// edited returns the fixture with a field set; nil removes it. The path is dotted.
func edited(t testing.TB, action, path string, value any) []byte {
	t.Helper()
	return changedEvent(t, "pull_request."+action, path, value)
}

// null stands for a null in a change; nil removes the field.
var null = json.RawMessage("null")

func changedEvent(t testing.TB, name string, changes ...any) []byte {
	t.Helper()
	body := eventFixture(t, name)
	for i := 0; i+1 < len(changes); i += 2 {
		body = changed(t, body, changes[i].(string), changes[i+1])
	}
	return body
}

func changed(t testing.TB, body []byte, path string, value any) []byte {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal(body, &doc); err != nil {
		t.Fatal(err)
	}
	at := doc
	keys := strings.Split(path, ".")
	for _, k := range keys[:len(keys)-1] {
		at = at[k].(map[string]any)
	}
	last := keys[len(keys)-1]
	if value == nil {
		delete(at, last)
	} else {
		at[last] = value
	}
	body, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// What each event asks for, as a reviewer of a change reads it.
func TestMapGolden(t *testing.T) {
	t.Parallel()
	for _, name := range fixtures(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := mapped(t, name)
			shown, err := json.MarshalIndent(got, "", "  ")
			must(t, err)
			golden(t, "intents/"+name+".json", string(shown)+"\n")
			if second, _ := json.MarshalIndent(mapped(t, name), "", "  "); !bytes.Equal(shown, second) {
				t.Error("the same delivery gave another intent")
			}
		})
	}
}

func TestMapIgnoresWithAReason(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		event  string
		body   []byte
		reason string
	}{
		"ping":              {"ping", []byte(`{"zen":"x"}`), "ping"},
		"unknown event":     {"gollum", []byte(`{}`), `"gollum"`},
		"long event":        {strings.Repeat("é", 500), nil, "…"},
		"unknown action":    {"pull_request", edited(t, "opened", "action", "sprouted"), `"sprouted"`},
		"assigned":          {"pull_request", edited(t, "opened", "action", "assigned"), "assigned"},
		"push to closed":    {"pull_request", edited(t, "synchronize", "pull_request.state", "closed"), "closed"},
		"our own doing":     {"pull_request", edited(t, "opened", "sender.id", 77), "our own"},
		"our own, no draft": {"pull_request", edited(t, "closed", "sender.id", 77), "our own"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Map(delivery(tt.event, tt.body), self)
			must(t, err)
			if got.Action != sessions.ActionIgnore || !strings.Contains(got.Reason, tt.reason) || len(got.Reason) > 300 {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// A draft is for the repository's configuration to judge.
func TestDraftIsToldOn(t *testing.T) {
	t.Parallel()
	in := mapped(t, "pull_request.opened", "pull_request.draft", true)
	if r, err := parseRequest(in.Request); err != nil || !r.Draft || !in.Weigh {
		t.Errorf("got %+v, %v", in, err)
	}
}

func TestMapRefusesWhatItCannotActOn(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		body []byte
		want string
	}{
		"no installation":       {edited(t, "opened", "installation", nil), "repository webhook"},
		"installation 0":        {edited(t, "opened", "installation.id", 0), "repository webhook"},
		"negative installation": {edited(t, "opened", "installation.id", -1), "repository webhook"},
		"no repository id":      {edited(t, "opened", "repository.id", nil), "repository.id"},
		"a name that is a path": {edited(t, "opened", "repository.full_name", "../../user"), "repository.full_name"},
		"a name with a query":   {edited(t, "opened", "repository.full_name", "octo/shop?x=y"), "repository.full_name"},
		"dots for a name":       {edited(t, "opened", "repository.full_name", "octo/.."), "repository.full_name"},
		"no head":               {edited(t, "opened", "pull_request.head", nil), "head.sha"},
		"a SHA that is a path":  {edited(t, "opened", "pull_request.head.sha", "../../../x"), "head.sha"},
		"no action":             {edited(t, "opened", "action", nil), "action"},
		"null":                  {[]byte("null"), "action"},
		"an array":              {[]byte("[]"), "not an object"},
		"text":                  {[]byte(`"x"`), "not an object"},
		"cut short":             {fixture(t, "opened")[:200], "not JSON"},
		"empty":                 {nil, "not JSON"},
		"two documents":         {append(fixture(t, "opened"), []byte(`{}`)...), "not JSON"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Map(delivery("pull_request", tt.body), self)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v", err)
			}
		})
	}
	if _, err := Map(delivery("", nil), self); err == nil {
		t.Error("a delivery without an event is no error")
	}
}

// https://github.com/palantir/policy-bot/issues/170
func TestForeignHookIsNamed(t *testing.T) {
	t.Parallel()
	d := delivery("pull_request", edited(t, "opened", "installation", nil))
	d.Headers[targetHeader] = "repository"
	_, err := Map(d, self)
	if err == nil || !strings.Contains(err.Error(), "not from the App") || !strings.Contains(err.Error(), `"repository"`) {
		t.Errorf("got %v", err)
	}
}

// An organisation's hook and a repository's hook send one fact under two ids
// (https://github.com/kubeflow/pipelines/issues/1304).
func TestOneFactUnderTwoDeliveries(t *testing.T) {
	t.Parallel()
	fact := func(action, path string, value any, id string) string {
		d := delivery("pull_request", edited(t, action, path, value))
		d.ID = id
		got, err := Map(d, self)
		must(t, err)
		return got.Fact
	}
	first := fact("opened", "organization", map[string]any{"id": 500}, "a")
	if second := fact("opened", "organization", nil, "b"); second != first {
		t.Errorf("two facts:\n%s\n%s", first, second)
	}
	others := map[string]string{
		"head":    fact("opened", "pull_request.head.sha", beforeSHA, "c"),
		"time":    fact("opened", "pull_request.updated_at", "2026-01-02T04:05:07Z", "d"),
		"action":  fact("opened", "action", "reopened", "e"),
		"number":  fact("opened", "pull_request.number", 8, "f"),
		"repo":    fact("opened", "repository.id", 4000000002, "g"),
		"no time": fact("opened", "pull_request.updated_at", nil, "h"),
	}
	for name, other := range others {
		if other == first {
			t.Errorf("another %s is the same fact", name)
		}
	}
	if a, b := others["no time"], fact("opened", "pull_request.updated_at", nil, "i"); a != b {
		t.Errorf("without a time the body decides: %s, %s", a, b)
	}
}

// GitHub removes and nulls fields (https://github.com/palantir/policy-bot/issues/598).
func TestFieldsThatNobodyNeedsMayBeMissing(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"pull_request.title", "pull_request.user", "pull_request.base", "pull_request.draft", "sender", "pull_request.number", "organization", "before"} {
		got, err := Map(delivery("pull_request", edited(t, "synchronize", path, nil)), self)
		if err != nil || got.Action != sessions.ActionRun {
			t.Errorf("without %s: %+v, %v", path, got, err)
		}
		got, err = Map(delivery("pull_request", edited(t, "synchronize", path, []any{1, "x"})), self)
		if err != nil || got.Action != sessions.ActionRun {
			t.Errorf("with a list as %s: %+v, %v", path, got, err)
		}
	}
}

func TestDeletedAccountIsNobody(t *testing.T) {
	t.Parallel()
	got, err := Map(delivery("pull_request", edited(t, "opened", "sender", nil)), Self{})
	must(t, err)
	if got.Principal != "github:user:unknown" {
		t.Errorf("principal %q", got.Principal)
	}
}

func TestTitleIsOneBoundedLine(t *testing.T) {
	t.Parallel()
	got, err := Map(delivery("pull_request", edited(t, "opened", "pull_request.title", "a\nb\x00c\u2028d"+strings.Repeat("é", 5000))), self)
	must(t, err)
	if strings.ContainsAny(got.Title, "\n\x00\u2028") || len(got.Title) > maxTitle+len("octo/shop#7 ") {
		t.Errorf("title of %d bytes: %.80q", len(got.Title), got.Title)
	}
	if strings.Contains(got.Message, "a b") {
		t.Errorf("a stranger's title became part of the message: %q", got.Message)
	}
}

// Every field of every fixture set to null, removed, or given another type:
// always a decision with a reason, or an error; never a panic
// (https://github.com/woodpecker-ci/woodpecker/issues/5680).
func TestEveryFieldMayBeAnything(t *testing.T) {
	t.Parallel()
	for _, name := range fixtures(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var doc map[string]any
			must(t, json.Unmarshal(eventFixture(t, name), &doc))
			forEachField(doc, func(change string) {
				body, err := json.Marshal(doc)
				must(t, err)
				checkDecided(t, name+" with "+change, eventOf(name), body)
			})
		})
	}
}

// forEachField calls f for each change of each field of doc, and undoes it.
func forEachField(doc map[string]any, f func(name string)) {
	var walk func(prefix string, at map[string]any)
	walk = func(prefix string, at map[string]any) {
		for key, was := range at {
			for kind, value := range map[string]any{
				"null": nil, "number": 7, "text": "7", "fraction": 0.5, "huge": json.Number("1e400"),
				"boolean": true, "list": []any{1}, "object": map[string]any{"id": "x"}, "empty": "",
			} {
				at[key] = value
				f(prefix + key + "=" + kind)
			}
			delete(at, key)
			f(prefix + key + " removed")
			at[key] = was
			switch inner := was.(type) {
			case map[string]any:
				walk(prefix+key+".", inner)
			case []any:
				for _, v := range inner[:min(len(inner), 1)] {
					if o, ok := v.(map[string]any); ok {
						walk(prefix+key+"[0].", o)
					}
				}
			}
		}
	}
	walk("", doc)
}

// checkDecided checks that a delivery gets a decision that the engine can take.
func checkDecided(t *testing.T, name, event string, body []byte) {
	t.Helper()
	got, err := Map(delivery(event, body), self)
	if err != nil {
		if err.Error() == "" || strings.ContainsAny(err.Error(), "\n\r") {
			t.Errorf("%s: error %q", name, err)
		}
		return
	}
	if got.Reason == "" || len(got.Reason) > 500 || strings.ContainsAny(got.Reason, "\n\r") {
		t.Errorf("%s: reason %q", name, got.Reason)
	}
	for _, id := range append([]string{got.Key, got.Fact}, append(got.Aliases, got.KeyPrefixes...)...) {
		if id != "" && !state.ValidID(id) {
			t.Errorf("%s: id %q", name, id)
		}
	}
	if got.Action == sessions.ActionIgnore && !got.Weigh && len(got.Effects) == 0 {
		return
	}
	if got.Key == "" || got.Principal == "" {
		t.Errorf("%s: incomplete intent %+v", name, got)
	}
	if got.Fact == "" && got.Action != sessions.ActionWake {
		t.Errorf("%s: no fact, so that it could be done twice: %+v", name, got)
	}
	if _, err := parseUnweighed(got.Request); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	if !got.Weigh && (got.Action == sessions.ActionRun) {
		t.Errorf("%s: runs an agent without being weighed: %+v", name, got)
	}
}

func FuzzMap(f *testing.F) {
	for _, name := range fixtures(f) {
		f.Add(eventOf(name), eventFixture(f, name))
	}
	f.Add("pull_request", []byte(`{"action":"opened","installation":{"id":1},"Number":7}`))
	f.Fuzz(func(t *testing.T, event string, body []byte) {
		checkDecided(t, "fuzz", event, body)
	})
}
