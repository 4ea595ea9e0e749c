package main_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/internal/bench/load"
)

// While the agent answers nobody, everything that Slack sends is acknowledged, and
// nothing of it is lost by a kill; "make soak" sends as much as 2,000 events a second
// for half a minute, and logs how long acknowledgements took.
func TestSlackFloodWhileTheAgentIsBlocked(t *testing.T) {
	t.Parallel()
	released := make(chan struct{})
	model := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-released:
		case <-r.Context().Done():
		}
	}))
	defer model.Close()
	defer close(released)
	w := newWorld(t)
	env := []string{"SLACK_SIGNING_SECRET=" + webhookSecret, "OPENAI_BASE_URL=" + model.URL, "OPENAI_API_KEY=unused"}
	p := w.serve(env...)
	flood := func(plan load.Plan) load.Result {
		t.Helper()
		plan.Addr, plan.Secret, plan.Hook, plan.Number = strings.TrimPrefix(p.url, "http://"), webhookSecret, load.AppMention(), &atomic.Uint64{}
		result, err := load.Run(t.Context(), plan)
		if err != nil {
			t.Fatal(err)
		}
		if result.Sent == 0 || result.Accepted != result.Sent || result.Broken != 0 {
			t.Fatalf("of %d events %d were acknowledged, %d had no answer, and others %v", result.Sent, result.Accepted, result.Broken, result.Refused)
		}
		return result
	}
	plan := load.Plan{Connections: 16, Count: 400}
	if soakOr(0, 1) == 1 {
		plan = load.Plan{Connections: 64, Rate: 2000, Duration: 30 * time.Second}
	}
	first := flood(plan)
	t.Logf("%d events, %.0f a second; acknowledged within %s, nearly all within %s", first.Sent, first.PerSecond(), first.Quantile(1), first.Quantile(0.99))
	if resident := w.metric("process_resident_memory_bytes"); resident > 512<<20 {
		t.Errorf("the service holds %.0f MB", resident/(1<<20))
	}
	p.kill()
	p = w.serve(env...)
	flood(load.Plan{Connections: 16, Count: first.Sent})
	// What is known was stored before: the same numbers are the same deliveries.
	known := fmt.Sprintf(`liaison_webhook_requests_total{answer="duplicate",source="slack"} %d`, first.Sent)
	eventually(t, func() bool {
		_, text := get(t, "http://"+adminAddr(t, w)+"/metrics")
		return strings.Contains(text, "\n"+known+"\n")
	})
}

// metric reads one number that the service tells operators; zero where it has none.
func (w *world) metric(name string) float64 {
	w.t.Helper()
	_, text := get(w.t, "http://"+adminAddr(w.t, w)+"/metrics")
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			number, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				w.t.Fatal(err)
			}
			return number
		}
	}
	return 0
}
