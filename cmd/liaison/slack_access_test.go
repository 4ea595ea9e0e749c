package main_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/slack/setup"
)

// socketSlack gives one kind of link, over which it sends frames once and waits
// for their acknowledgements.
type socketSlack struct {
	frames []string
	mu     sync.Mutex
	acks   map[string]bool
}

func (s *socketSlack) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/api/apps.connections.open":
		if r.Header.Get("Authorization") != "Bearer xapp-of-the-tests" {
			fmt.Fprint(w, `{"ok":false,"error":"invalid_auth"}`)
			return
		}
		fmt.Fprintf(w, `{"ok":true,"url":"ws://%s/link"}`, r.Host)
	case "/link":
		var upgrader websocket.Upgrader
		conn, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer conn.Close()
		for _, frame := range append([]string{`{"type":"hello"}`}, s.frames...) {
			_ = conn.WriteMessage(websocket.TextMessage, []byte(frame))
		}
		for {
			var ack struct {
				EnvelopeID string `json:"envelope_id"`
			}
			if conn.ReadJSON(&ack) != nil {
				return
			}
			s.mu.Lock()
			s.acks[ack.EnvelopeID] = true
			s.mu.Unlock()
		}
	default:
		fmt.Fprint(w, `{"ok":false,"error":"unknown_method"}`)
	}
}

func (s *socketSlack) acked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.acks)
}

// With an app-level token alone Slack is on, and the route of webhooks is not
// there; what comes is stored and decided as what is posted, and known when it
// comes both ways.
func TestSlackBySocketMode(t *testing.T) {
	t.Parallel()
	slack := &socketSlack{acks: map[string]bool{}, frames: []string{
		`{"envelope_id":"e-1","type":"events_api","payload":{"type":"event_callback","event_id":"Ev1","event":{"type":"from_2030"}}}`,
		`{"envelope_id":"e-2","type":"events_api","retry_attempt":1,"payload":{"type":"event_callback","event_id":"Ev1","event":{"type":"from_2030"}}}`,
		`{"envelope_id":"e-3","type":"interactive","payload":{"type":"from_2030"}}`,
		`{"envelope_id":"e-4","type":"slash_commands","payload":null}`,
	}}
	server := httptest.NewServer(slack)
	t.Cleanup(server.Close)
	w := newWorld(t)
	p := w.serve("SLACK_APP_TOKEN=xapp-of-the-tests", "SLACK_API_URL="+server.URL+"/api")
	eventually(t, func() bool { return slack.acked() == 4 })
	for id, want := range map[string]string{"Ev1": "from_2030", "envelope:e-3": "from_2030", "envelope:e-4": ""} {
		eventually(t, func() bool {
			var shown struct {
				Delivery struct{ Status, Decision string }
			}
			_, text := get(t, p.url+"/v1/deliveries/slack/"+id)
			return json.Unmarshal([]byte(text), &shown) == nil && shown.Delivery.Status != "" && shown.Delivery.Status != "pending" &&
				strings.Contains(shown.Delivery.Decision, want)
		})
	}
	if status, _ := postSlack(t, p.url, `{"type":"event_callback","event_id":"Ev1"}`); status != http.StatusNotFound {
		t.Errorf("webhooks are answered with %d", status)
	}
	if status, _ := get(t, p.url+"/slack/install"); status != http.StatusNotFound {
		t.Errorf("/slack/install answers %d", status)
	}
	eventually(t, func() bool {
		_, info := get(t, p.url+"/v1/info")
		return strings.Contains(info, `"detail":"linked since `)
	})
	_, text := get(t, "http://"+adminAddr(t, w)+"/metrics")
	for _, want := range []string{
		`liaison_webhook_requests_total{answer="accepted",source="slack"} 3`,
		`liaison_webhook_requests_total{answer="duplicate",source="slack"} 1`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not counted", want)
		}
	}
}

// The pages of an installation are there when everything is that they need.
func TestSlackInstallPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serve("SLACK_SIGNING_SECRET="+webhookSecret, "SLACK_CLIENT_ID=1.2", "SLACK_CLIENT_SECRET=client-secret-of-the-tests",
		"LIAISON_ENCRYPTION_KEY="+strings.Repeat("0f", 32), "LIAISON_PUBLIC_URL=https://liaison.example.com")
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.url+"/slack/install", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	to := answer.Header.Get("Location")
	if answer.StatusCode != http.StatusFound || !strings.HasPrefix(to, "https://slack.com/oauth/v2/authorize?client_id=1.2&") ||
		!strings.Contains(to, "app_mentions%3Aread") || strings.Contains(to, "client-secret") {
		t.Errorf("%d, sent to %s", answer.StatusCode, to)
	}
	if status, page := get(t, p.url+"/slack/oauth?code=x"); status != http.StatusBadRequest || !strings.Contains(page, "Start again") {
		t.Errorf("%d %s", status, page)
	}
}

// A token that Slack takes and that lacks what answers need is no healthy one.
func TestSlackCheckKnowsScopes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		without string // a scope; "" leaves no token at all
		state   string
		says    string
	}{
		"no token":        {"", "failed", "set SLACK_BOT_TOKEN"},
		"an essential":    {"users:read", "failed", "lacks scopes: users:read"},
		"a lesser one":    {"reactions:write", "ok", "lacks scopes: reactions:write"},
		"nothing lacking": {"none:such", "ok", "in "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s, _ := workspace(t)
			scopes := slices.DeleteFunc(setup.ScopeNames(), func(scope string) bool { return scope == c.without })
			other := s.AddWorkspace(sim.Workspace{ID: "T0OTHER", Scopes: scopes})
			env := []string{"SLACK_SIGNING_SECRET=" + webhookSecret, "SLACK_API_URL=" + s.URL()}
			if c.without != "" {
				env = append(env, "SLACK_BOT_TOKEN="+other.BotToken)
			}
			p := w.serve(env...)
			eventually(t, func() bool {
				var info struct {
					Channels struct {
						Slack struct {
							Check struct{ State, Detail, Problem string }
						}
					}
				}
				_, text := get(t, p.url+"/v1/info")
				if err := json.Unmarshal([]byte(text), &info); err != nil {
					t.Fatal(err)
				}
				check := info.Channels.Slack.Check
				return check.State == c.state && strings.Contains(check.Detail+check.Problem, c.says)
			})
		})
	}
}
