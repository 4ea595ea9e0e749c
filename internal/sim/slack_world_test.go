package sim_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/slack-go/slack"

	"github.com/liaison-bot/liaison/internal/sim"
)

const (
	slackTeam    = "T0ACME"
	slackChannel = "C0GENERAL"
	ann          = "U0ANN"
	bob          = "U0BOB"
)

// slackWorld is a Slack with a workspace, two people and a channel.
type slackWorld struct {
	*sim.Slack
	t     *testing.T
	clock *clock
	team  sim.Workspace
	api   *slack.Client
}

func newSlackWorld(t *testing.T, edit ...func(*sim.SlackOptions)) *slackWorld {
	t.Helper()
	c := &clock{t: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)}
	o := sim.SlackOptions{SigningSecret: "shhh", Now: c.Now, AckTimeout: time.Minute}
	for _, e := range edit {
		e(&o)
	}
	s := sim.NewSlack(o)
	if _, err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	w := &slackWorld{Slack: s, t: t, clock: c}
	w.team = s.AddWorkspace(sim.Workspace{ID: slackTeam, Name: "Acme"})
	s.AddUser(sim.SlackUser{ID: ann, Team: slackTeam, Name: "ann", RealName: "Ann Example", Email: "ann@example.com"})
	s.AddUser(sim.SlackUser{ID: bob, Team: slackTeam, Name: "bob"})
	s.AddChannel(sim.SlackChannel{ID: slackChannel, Team: slackTeam, Name: "general"})
	w.api = w.client(w.team.BotToken)
	return w
}

// client is the library that the product uses, with connections that do not outlive a call.
func (w *slackWorld) client(token string) *slack.Client {
	return slack.New(token, slack.OptionAPIURL(w.URL()), slack.OptionHTTPClient(oneShot()))
}

func oneShot() *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
}

// call sends a form without any library and returns the answer.
func (w *slackWorld) call(method, token string, form ...string) map[string]any {
	w.t.Helper()
	values := make([]string, 0, len(form)/2)
	for i := 0; i+1 < len(form); i += 2 {
		values = append(values, url.QueryEscape(form[i])+"="+url.QueryEscape(form[i+1]))
	}
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, w.URL()+method, strings.NewReader(strings.Join(values, "&")))
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := oneShot().Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		w.t.Fatalf("%s answered %d; Slack answers refusals with 200", method, resp.StatusCode)
	}
	var o map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&o); err != nil {
		w.t.Fatal(err)
	}
	return o
}

// wantError fails unless a method refuses with a code.
func (w *slackWorld) wantError(code, method string, form ...string) map[string]any {
	w.t.Helper()
	o := w.call(method, w.team.BotToken, form...)
	if o["ok"] != false || o["error"] != code {
		w.t.Errorf("%s %v: got %v, want error %s", method, form, o, code)
	}
	return o
}

func (w *slackWorld) post(channel string, options ...slack.MsgOption) (ts string) {
	w.t.Helper()
	_, ts, err := w.api.PostMessageContext(w.t.Context(), channel, options...)
	if err != nil {
		w.t.Fatal(err)
	}
	return ts
}

// app is an endpoint that collects what Slack tells it.
type app struct {
	*httptest.Server
	mu       sync.Mutex
	requests []appRequest
	answer   func(n int) int
}

type appRequest struct {
	header http.Header
	body   []byte
}

func newApp(t *testing.T) *app {
	t.Helper()
	a := &app{}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		a.mu.Lock()
		a.requests = append(a.requests, appRequest{r.Header.Clone(), body})
		n, answer := len(a.requests), a.answer
		a.mu.Unlock()
		if answer != nil {
			w.WriteHeader(answer(n))
		}
	}))
	t.Cleanup(a.Close)
	return a
}

func (a *app) got() []appRequest {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]appRequest(nil), a.requests...)
}

// inner is the event of an envelope.
func (r appRequest) inner(t *testing.T) map[string]any {
	t.Helper()
	var o struct {
		Event map[string]any `json:"event"`
	}
	if err := json.Unmarshal(r.body, &o); err != nil {
		t.Fatal(err)
	}
	return o.Event
}
