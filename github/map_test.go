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
)

// self is who we are in these tests; sender 77 is our own bot.
var self = Self{AppID: appID, BotID: 77}

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

func fixture(t testing.TB, action string) []byte {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", "events", "pull_request."+action+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// edited returns the fixture with a field set; nil removes it. The path is dotted.
func edited(t testing.TB, action, path string, value any) []byte {
	t.Helper()
	var doc map[string]any
	if err := json.Unmarshal(fixture(t, action), &doc); err != nil {
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

func TestMapPullRequest(t *testing.T) {
	t.Parallel()
	for _, action := range []string{"opened", "reopened", "ready_for_review", "synchronize", "closed"} {
		t.Run(action, func(t *testing.T) {
			t.Parallel()
			got, err := Map(delivery("pull_request", fixture(t, action)), self)
			must(t, err)
			shown, err := json.MarshalIndent(got, "", "  ")
			must(t, err)
			golden(t, "intents/pull_request."+action+".json", string(shown)+"\n")
			again, err := Map(delivery("pull_request", fixture(t, action)), self)
			must(t, err)
			if second, _ := json.MarshalIndent(again, "", "  "); !bytes.Equal(shown, second) {
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
		"labeled":           {"pull_request", edited(t, "opened", "action", "labeled"), "labeled"},
		"draft opened":      {"pull_request", edited(t, "opened", "pull_request.draft", true), "draft"},
		"draft pushed":      {"pull_request", edited(t, "synchronize", "pull_request.draft", true), "draft"},
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
// always a decision with a reason, or an error; never a panic.
func TestEveryFieldMayBeAnything(t *testing.T) {
	t.Parallel()
	for _, action := range []string{"opened", "reopened", "ready_for_review", "synchronize", "closed"} {
		var doc map[string]any
		must(t, json.Unmarshal(fixture(t, action), &doc))
		forEachField(doc, func(name string) {
			body, err := json.Marshal(doc)
			must(t, err)
			checkDecided(t, action+" with "+name, body)
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
			if inner, ok := was.(map[string]any); ok {
				walk(prefix+key+".", inner)
			}
		}
	}
	walk("", doc)
}

func checkDecided(t *testing.T, name string, body []byte) {
	t.Helper()
	got, err := Map(delivery("pull_request", body), self)
	switch {
	case err != nil:
		if err.Error() == "" {
			t.Errorf("%s: an error without words", name)
		}
	case got.Reason == "" || strings.ContainsAny(got.Reason, "\n\r"):
		t.Errorf("%s: reason %q", name, got.Reason)
	case got.Action != sessions.ActionIgnore:
		if got.Key == "" || got.Fact == "" || got.Revision.ID == "" || got.Revision.At.IsZero() || got.Principal == "" {
			t.Errorf("%s: incomplete intent %+v", name, got)
		}
		if _, err := parseRequest(got.Request); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzMap(f *testing.F) {
	for _, action := range []string{"opened", "reopened", "ready_for_review", "synchronize", "closed"} {
		f.Add("pull_request", fixture(f, action))
	}
	f.Add("ping", []byte("{}"))
	f.Add("pull_request", []byte(`{"action":"opened","installation":{"id":1},"Number":7}`))
	f.Fuzz(func(t *testing.T, event string, body []byte) {
		if event == "pull_request" {
			checkDecided(t, "fuzz", body)
			return
		}
		got, err := Map(delivery(event, body), self)
		if err == nil && (got.Reason == "" || got.Action != sessions.ActionIgnore) {
			t.Errorf("event %q: %+v", event, got)
		}
	})
}
