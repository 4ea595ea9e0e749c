package main_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/github"
	"github.com/liaison-bot/liaison/handlers"
	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/memstore"
)

// example is one webhook of GitHub's public collection.
type example struct {
	name, event string
	body        []byte
}

// webhookExamples reads the collection, which "make contract" fetches and names.
func webhookExamples(t *testing.T) []example {
	t.Helper()
	path := os.Getenv("GITHUB_WEBHOOKS")
	if path == "" {
		t.Skip("GITHUB_WEBHOOKS names no collection of webhooks; make contract fetches one and runs this test")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var events []struct {
		Name     string
		Examples []json.RawMessage
	}
	if err := json.Unmarshal(text, &events); err != nil {
		t.Fatal(err)
	}
	var all []example
	for _, e := range events {
		for i, body := range e.Examples {
			all = append(all, example{fmt.Sprintf("%s %d", e.Name, i+1), e.Name, body})
		}
	}
	if len(all) < 300 {
		t.Fatalf("the collection has %d webhooks only", len(all))
	}
	return all
}

// exampleSelf is the App to which the collection's re-requested check run belongs.
var exampleSelf = github.Self{AppID: 2, BotID: 77, Handle: "liaison"}

// webhookDoor is the real handler of webhooks before an empty store.
type webhookDoor struct {
	t       *testing.T
	handler http.Handler
	store   *memstore.Store
	seen    uint64
}

func newWebhookDoor(t *testing.T) *webhookDoor {
	store := memstore.New(memstore.Options{})
	return &webhookDoor{t: t, store: store, handler: handlers.New(handlers.Options{
		Inbox: store, GitHubSecrets: []string{webhookSecret}, Logger: slog.New(slog.DiscardHandler), Now: time.Now,
	})}
}

// decide posts a webhook, and returns what is recorded as its decision.
func (d *webhookDoor) decide(name, event string, body []byte) (sessions.Intent, error) {
	d.t.Helper()
	mac := hmac.New(sha256.New, []byte(webhookSecret))
	mac.Write(body)
	r := httptest.NewRequestWithContext(d.t.Context(), http.MethodPost, "/webhooks/github", bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-GitHub-Event", event)
	r.Header.Set("X-GitHub-Delivery", fmt.Sprintf("delivery-%d", d.seen+1))
	r.Header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	w := httptest.NewRecorder()
	d.handler.ServeHTTP(w, r)
	if w.Code != http.StatusAccepted {
		d.t.Fatalf("%s: %d %s", name, w.Code, w.Body)
	}
	stored, err := d.store.Pending(d.t.Context(), d.seen, 2)
	if err != nil || len(stored) != 1 || !bytes.Equal(stored[0].Body, body) {
		d.t.Fatalf("%s: stored %d deliveries, %v", name, len(stored), err)
	}
	d.seen = stored[0].Seq
	in, err := github.Map(sessions.Delivery{
		Source: stored[0].Source, ID: stored[0].ID, Event: stored[0].Event, Headers: stored[0].Headers,
		Body: stored[0].Body, ReceivedAt: stored[0].ReceivedAt,
	}, exampleSelf)
	switch {
	case err != nil && (err.Error() == "" || strings.ContainsAny(err.Error(), "\n\r")):
		d.t.Errorf("%s: given up with %q", name, err)
	case err == nil && (in.Reason == "" || strings.ContainsAny(in.Reason, "\n\r")):
		d.t.Errorf("%s: decided with the reason %q", name, in.Reason)
	case err == nil && in.Action == sessions.ActionRun && !in.Weigh:
		d.t.Errorf("%s: an agent runs without anybody's leave", name)
	}
	for _, id := range append([]string{in.Key, in.Fact}, append(in.Aliases, in.KeyPrefixes...)...) {
		if id != "" && !state.ValidID(id) {
			d.t.Errorf("%s: impossible id %.80q", name, id)
		}
	}
	return in, err
}

var anyTime = regexp.MustCompile(`\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

var spokenTo = regexp.MustCompile(`"body":"(You are|Maybe you)`)

// Everything that GitHub shows as an example is acknowledged and decided. The
// examples of hooks that are not an App's are given up, for want of an
// installation; with one, nothing is.
func TestPublicWebhooksAreDecided(t *testing.T) {
	t.Parallel()
	d := newWebhookDoor(t)
	heard := map[string]bool{}
	for _, x := range webhookExamples(t) {
		_, err := d.decide(x.name, x.event, x.body)
		if err != nil && !strings.Contains(err.Error(), "installation") {
			t.Errorf("%s: %v", x.name, err)
		}
		installed := withField(t, x.body, "installation", map[string]any{"id": installation})
		// What people say in the examples is said to us, and now.
		installed = spokenTo.ReplaceAll(installed, []byte(`"body":"@liaison $1`))
		installed = anyTime.ReplaceAll(installed, []byte(time.Now().UTC().Format(time.RFC3339)))
		in, err := d.decide(x.name, x.event, installed)
		if err != nil {
			t.Errorf("%s of an installation: %v", x.name, err)
		}
		if in.Action != sessions.ActionIgnore {
			heard[x.event] = true
		}
	}
	got := slices.Sorted(maps.Keys(heard))
	want := []string{
		"check_run", "check_suite", "installation", "installation_repositories", "issue_comment", "issues",
		"pull_request", "pull_request_review_comment", "status", "workflow_run",
	}
	if !slices.Equal(got, want) {
		t.Errorf("events of which some ask for something: %q, want %q", got, want)
	}
}

// The same with fields that are null, missing or of another type. A sample of
// them by a fixed seed; LIAISON_SOAK asks for all.
func TestDamagedWebhooksAreDecided(t *testing.T) {
	t.Parallel()
	examples := webhookExamples(t)
	chance := 0.02
	if os.Getenv("LIAISON_SOAK") != "" {
		chance = 1
	}
	random := rand.New(rand.NewPCG(1, 2))
	tried := 0
	for _, x := range examples {
		d := newWebhookDoor(t)
		var doc map[string]any
		if err := json.Unmarshal(withField(t, x.body, "installation", map[string]any{"id": installation}), &doc); err != nil {
			t.Fatal(err)
		}
		damage(doc, "", func(change string) {
			if random.Float64() >= chance {
				return
			}
			body, err := json.Marshal(doc)
			if err != nil {
				t.Fatal(err)
			}
			tried++
			_, _ = d.decide(x.name+" with "+change, x.event, body)
		})
	}
	t.Logf("%d damaged webhooks of %d examples", tried, len(examples))
	if tried < len(examples) {
		t.Errorf("only %d damaged webhooks were tried", tried)
	}
}

// damage calls try with each field of doc in turn null, missing and of other types.
func damage(doc map[string]any, prefix string, try func(change string)) {
	for _, key := range slices.Sorted(maps.Keys(doc)) {
		was := doc[key]
		for _, other := range []any{nil, 7, "7", true, []any{}, map[string]any{}} {
			doc[key] = other
			try(fmt.Sprintf("%s%s=%v", prefix, key, other))
		}
		delete(doc, key)
		try(prefix + key + " missing")
		doc[key] = was
		switch inner := was.(type) {
		case map[string]any:
			damage(inner, prefix+key+".", try)
		case []any:
			// What is in a list is alike.
			if len(inner) > 0 {
				if first, ok := inner[0].(map[string]any); ok {
					damage(first, prefix+key+"[0].", try)
				}
			}
		}
	}
}

// withField returns an object with one field set.
func withField(t *testing.T, body []byte, key string, value any) []byte {
	t.Helper()
	var doc map[string]any
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	if _, has := doc[key]; !has {
		doc[key] = value
	}
	changed, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return changed
}
