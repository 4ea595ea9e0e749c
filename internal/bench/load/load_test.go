package load_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/liaison-bot/liaison/github"
	"github.com/liaison-bot/liaison/internal/bench/load"
	"github.com/liaison-bot/liaison/sessions"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestBodiesHaveTheSizeOfRealOnes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		hook load.Hook
		size int
	}{
		{load.PullRequest(), 24 << 10},
		{load.IssueComment(), 14 << 10},
		{load.AppMention(), 2 << 10},
	} {
		if n := tt.hook.Size(); n < tt.size*9/10 || n > tt.size*11/10 {
			t.Errorf("%s has %d bytes, want about %d", tt.hook.Name, n, tt.size)
		}
		one, two := tt.hook.Body(1), tt.hook.Body(2)
		if !json.Valid(one) || len(one) != len(two) || string(one) == string(two) {
			t.Errorf("%s: variants of %d and %d bytes", tt.hook.Name, len(one), len(two))
		}
		if tt.hook.Delivery(1) == tt.hook.Delivery(2) {
			t.Errorf("%s: two deliveries have one id", tt.hook.Name)
		}
	}
}

// The service must have as much to do with a body as with a real one.
func TestAPullRequestAsksForATurn(t *testing.T) {
	t.Parallel()
	hook := load.PullRequest()
	keys := map[string]bool{}
	for n := range uint64(3) {
		intent, err := github.Map(sessions.Delivery{Source: "github", ID: hook.Delivery(n), Event: hook.Name, Body: hook.Body(n)}, github.Self{})
		if err != nil || intent.Action != sessions.ActionRun {
			t.Fatalf("%+v, %v", intent, err)
		}
		keys[intent.Key] = true
	}
	if len(keys) != 3 {
		t.Errorf("3 variants are %d pull requests", len(keys))
	}
}

const secret = "a-secret-of-the-tests"

// receiver checks signatures as the platforms' documents describe them.
type receiver struct {
	t      *testing.T
	status func(n int64) int
	seen   atomic.Int64
	mu     sync.Mutex
	ids    map[string]int
}

func (s *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Error(err)
	}
	mac := hmac.New(sha256.New, []byte(secret))
	id, got := r.Header.Get("X-GitHub-Delivery"), strings.TrimPrefix(r.Header.Get("X-Hub-Signature-256"), "sha256=")
	if r.URL.Path == "/webhooks/slack" {
		var event struct {
			ID string `json:"event_id"`
		}
		if err := json.Unmarshal(body, &event); err != nil {
			s.t.Error(err)
		}
		id, got = event.ID, strings.TrimPrefix(r.Header.Get("X-Slack-Signature"), "v0=")
		io.WriteString(mac, "v0:"+r.Header.Get("X-Slack-Request-Timestamp")+":")
	}
	mac.Write(body)
	if want := hex.EncodeToString(mac.Sum(nil)); got != want {
		s.t.Errorf("signature %q, want %q", got, want)
	}
	s.mu.Lock()
	s.ids[id]++
	s.mu.Unlock()
	w.WriteHeader(s.status(s.seen.Add(1)))
	io.WriteString(w, "{}")
}

func receive(t *testing.T, status func(n int64) int) (*receiver, string) {
	s := &receiver{t: t, status: status, ids: map[string]int{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return s, strings.TrimPrefix(server.URL, "http://")
}

func accept(int64) int { return http.StatusAccepted }

func TestClosedLoopSendsEachDeliveryOnce(t *testing.T) {
	t.Parallel()
	for _, hook := range []load.Hook{load.PullRequest(), load.IssueComment(), load.AppMention()} {
		t.Run(hook.Name, func(t *testing.T) {
			t.Parallel()
			server, addr := receive(t, accept)
			var number atomic.Uint64
			result, err := load.Run(t.Context(), load.Plan{Addr: addr, Secret: secret, Hook: hook, Number: &number, Connections: 8, Count: 200})
			if err != nil || result.Sent != 200 || result.Accepted != 200 || result.Broken != 0 || len(result.Latencies) != 200 {
				t.Errorf("%+v, %v", result, err)
			}
			for n := range uint64(200) {
				if id := hook.Delivery(n + 1); server.ids[id] != 1 {
					t.Errorf("%s came %d times", id, server.ids[id])
				}
			}
		})
	}
}

func TestRefusalsAreCounted(t *testing.T) {
	t.Parallel()
	_, addr := receive(t, func(n int64) int {
		if n%4 == 0 {
			return http.StatusServiceUnavailable
		}
		return http.StatusAccepted
	})
	var number atomic.Uint64
	result, err := load.Run(t.Context(), load.Plan{Addr: addr, Secret: secret, Hook: load.AppMention(), Number: &number, Connections: 2, Count: 100})
	if err != nil || result.Accepted != 75 || result.Refused[http.StatusServiceUnavailable] != 25 {
		t.Errorf("%+v, %v", result, err)
	}
}

// A service that stalls is not asked less often because of it: what was due
// meanwhile counts from when it was due.
func TestOpenLoopCountsFromWhenARequestWasDue(t *testing.T) {
	t.Parallel()
	const stall = 300 * time.Millisecond
	_, addr := receive(t, func(n int64) int {
		if n == 1 {
			<-time.After(stall)
		}
		return http.StatusAccepted
	})
	var number atomic.Uint64
	result, err := load.Run(t.Context(), load.Plan{Addr: addr, Secret: secret, Hook: load.AppMention(), Number: &number, Connections: 1, Rate: 100, Count: 20})
	if err != nil || result.Accepted != 20 {
		t.Fatalf("%+v, %v", result, err)
	}
	// The tenth was due 100 ms after the first, and left no sooner than 300 ms after it.
	if got := result.Quantile(0.5); got < stall/3 {
		t.Errorf("the median latency is %s", got)
	}
}

func TestAPlanNeedsAnEnd(t *testing.T) {
	t.Parallel()
	if _, err := load.Run(t.Context(), load.Plan{}); err == nil {
		t.Error("a plan without an end runs")
	}
}

func BenchmarkMake(b *testing.B) {
	for _, hook := range []load.Hook{load.PullRequest(), load.AppMention()} {
		b.Run(hook.Name, func(b *testing.B) {
			requests := hook.Requests("127.0.0.1:8080", secret)
			b.ReportAllocs()
			for n := uint64(0); b.Loop(); n++ {
				requests.Make(n)
			}
		})
	}
}
