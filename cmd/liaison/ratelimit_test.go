package main_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/liaison-bot/liaison/bridge/local/chat/chattest"
)

// Who opened the pull request sees that the model's provider has had enough,
// also after the service was killed, and a push starts the review anew.
func TestARateLimitShowsOnTheCheck(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	model := chattest.Start(t)
	var free atomic.Bool
	model.Decide(func(chattest.Request) chattest.Turn {
		if free.Load() {
			return chattest.Say("Nothing stands out.\n\n<!-- liaison:findings errors=0 warnings=0 -->")
		}
		return func(rw http.ResponseWriter, _ *http.Request, _ chattest.Request) {
			rw.Header().Set("Content-Type", "application/json")
			rw.Header().Set("Retry-After", "3600") // longer than a run waits by itself
			rw.WriteHeader(http.StatusTooManyRequests)
			_, _ = rw.Write([]byte(`{"error":{"code":"rate_limit_exceeded","message":"You are too fast, @mona."}}`))
		}
	})
	environment := []string{"OPENAI_BASE_URL=" + model.URL, "OPENAI_API_KEY=" + chattest.Key}
	p := w.serve(environment...)
	pull := w.open("Say hello")
	p.deliver(w.hub.Event(repo, pull.Number, "opened"))
	waits := func() bool {
		checks := w.hub.CheckRuns(repo, pull.HeadSHA)
		return len(checks) == 1 && checks[0].Status == "in_progress" &&
			strings.HasPrefix(checks[0].Title, "Waiting for the model's rate limit until ") &&
			strings.HasSuffix(checks[0].Title, " UTC") && strings.Contains(checks[0].Summary, "You are too fast")
	}
	w.wait("the check that says what is waited for", waits)
	p.kill()
	p = w.serve(environment...)
	if !waits() {
		t.Errorf("after a kill the check is %+v", w.hub.CheckRuns(repo, pull.HeadSHA))
	}
	free.Store(true)
	head := w.push(pull)
	p.deliver(w.hub.Event(repo, pull.Number, "synchronize"))
	check, _ := w.reviewed(pull.Number, head)
	if check.Conclusion != "success" {
		t.Errorf("the review ended as %s: %s", check.Conclusion, check.Summary)
	}
	p.terminate()
	if first := w.hub.CheckRuns(repo, pull.HeadSHA); len(first) != 1 || first[0].Conclusion != "cancelled" {
		t.Errorf("the check of the old head is %+v", first)
	}
}
