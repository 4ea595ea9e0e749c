package handlers_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/handlers"
	"github.com/liaison-bot/liaison/state"
)

// counts remembers what it is told.
type counts struct {
	mu   sync.Mutex
	told []string
}

func (c *counts) WebhookAnswered(source, answer string, stored bool, bytes int, _ time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told = append(c.told, fmt.Sprintf("%s %s %v %d", source, answer, stored, bytes))
}

// Every webhook is counted once, whatever becomes of it.
func TestEveryWebhookIsCounted(t *testing.T) {
	t.Parallel()
	body := []byte(`{"action":"opened"}`)
	unsigned := func(r *http.Request) *http.Request {
		r.Header.Set("X-Hub-Signature-256", sign("other", body))
		r.Header.Set("X-Slack-Signature", "v0=00")
		return r
	}
	stale := slackPost("application/json", mention)
	signAt(stale, "1", mention)
	for _, tt := range []struct {
		name string
		r    *http.Request
		err  error
		want string
	}{
		{"stored", delivery(body), nil, "github accepted true 19"},
		{"unsigned", unsigned(delivery(body)), nil, "github unsigned false 19"},
		{"another method", httptest.NewRequest(http.MethodGet, "/webhooks/github", nil), nil, "github refused false 0"},
		{"no memory of it", delivery(body), state.ErrUnavailable, "github unavailable false 19"},
		{"an id that cannot be kept", delivery(body), state.ErrInvalid, "github refused false 19"},
		{"too large", delivery(make([]byte, 26<<20+1)), nil, "github too_large false 0"},
		{"of Slack", slackPost("application/json", mention), nil, fmt.Sprintf("slack accepted true %d", len(mention))},
		{"of Slack, unsigned", unsigned(slackPost("application/json", mention)), nil, fmt.Sprintf("slack unsigned false %d", len(mention))},
		{"of Slack, long ago", stale, nil, "slack stale false 0"},
		{"of Slack, a question", slackPost("application/json", `{"type":"url_verification","challenge":"c"}`), nil, "slack challenge false 43"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := &counts{}
			s := newService(t, withSlack, func(o *handlers.Options) { o.Metrics = c })
			s.inbox.err = tt.err
			s.post(tt.r)
			if !slices.Equal(c.told, []string{tt.want}) {
				t.Errorf("told %q, want %q", c.told, tt.want)
			}
		})
	}
	c := &counts{}
	s := newService(t, func(o *handlers.Options) { o.Metrics = c })
	s.post(delivery(body))
	s.post(delivery(body))
	if got := strings.Join(c.told, ", "); got != "github accepted true 19, github duplicate true 19" {
		t.Errorf("told %s", got)
	}
}
