package web

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/slack/workspace"
)

// asked is a call that the fake took.
type asked struct {
	method string
	form   url.Values
	at     time.Time
}

// fake answers calls in this process, so that tests run in virtual time.
type fake struct {
	mu     sync.Mutex
	calls  []asked
	answer func(n int, call asked) reply
}

// reply is one answer: a body, or a broken connection.
type reply struct {
	status     int
	retryAfter string
	body       string
	err        error
	takes      time.Duration
}

func (f *fake) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	_ = req.ParseForm()
	call := asked{method: strings.TrimPrefix(req.URL.Path, "/api/"), form: req.PostForm, at: time.Now()}
	f.mu.Lock()
	n := 0
	for _, c := range f.calls {
		if c.method == call.method {
			n++
		}
	}
	f.calls = append(f.calls, call)
	f.mu.Unlock()
	r := f.answer(n, call)
	if r.takes > 0 {
		timer := time.NewTimer(r.takes)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-req.Context().Done():
			return nil, req.Context().Err()
		}
	}
	if r.err != nil {
		return nil, r.err
	}
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", "application/json")
	if r.retryAfter != "" {
		w.Header().Set("Retry-After", r.retryAfter)
	}
	if r.status == 0 {
		r.status = http.StatusOK
	}
	w.WriteHeader(r.status)
	_, _ = w.WriteString(r.body)
	return w.Result(), nil
}

// of returns the calls of a method.
func (f *fake) of(method string) []asked {
	f.mu.Lock()
	defer f.mu.Unlock()
	var found []asked
	for _, c := range f.calls {
		if c.method == method {
			found = append(found, c)
		}
	}
	return found
}

// one is a source of one workspace.
type one struct{}

func (one) Workspace(_ context.Context, team, _ string) (workspace.Workspace, error) {
	if team != "T1" {
		return workspace.Workspace{}, workspace.ErrNotInstalled
	}
	return workspace.Workspace{Team: "T1", BotUser: "UBOT", BotID: "B1", Token: "not-a-real-token"}, nil
}

func newFake(t *testing.T, answer func(n int, call asked) reply) (*Client, *fake) {
	t.Helper()
	f := &fake{answer: answer}
	c, err := New(Options{Workspaces: one{}, APIURL: "https://slack.test/api", Transport: f, Random: func() float64 { return 0.5 }})
	if err != nil {
		t.Fatal(err)
	}
	return c, f
}

var (
	place    = Place{Team: "T1", Channel: "C1", Thread: "1.1"}
	errReset = errors.New("connection reset by peer")
)

const posted = `{"ok":true,"channel":"C1","ts":"9.9","message":{"ts":"9.9","thread_ts":"1.1"}}`
