package github

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/internal/sim/openapi"
	"github.com/liaison-bot/liaison/sessions"
)

// appKey is made once: RSA keys are slow to make.
var appKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

// inProcess calls a handler without a socket, so that tests run in virtual time.
type inProcess struct{ http.Handler }

func (p inProcess) RoundTrip(req *http.Request) (resp *http.Response, err error) {
	defer func() {
		if gone := recover(); gone != nil {
			err = errors.New("connection reset by peer")
		}
	}()
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	in := req.Clone(req.Context())
	in.RequestURI, in.Host = req.URL.RequestURI(), req.URL.Host
	if in.Body == nil {
		in.Body = http.NoBody
	}
	w := httptest.NewRecorder()
	p.ServeHTTP(w, in)
	resp = w.Result()
	seen.note(req, resp)
	resp.Request = req
	if resp.Header.Get("Date") == "" {
		resp.Header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	}
	return resp, nil
}

// world is a simulated GitHub with one pull request, and our channel on it.
type world struct {
	*sim.GitHub
	t       *testing.T
	channel *Channel
	repo    *sim.Repository
	pull    *sim.PullRequest
	logs    *logBuffer
	// surface is what the session remembers, kept up as the engine does.
	surface map[string]string
}

// logBuffer collects log lines.
type logBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBuffer) count(what string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Count(b.text.String(), what)
}

type worldOption func(*sim.GitHubOptions, *Options)

func newWorld(t *testing.T, options ...worldOption) *world {
	t.Helper()
	key := appKey()
	so := sim.GitHubOptions{AppID: appID, Slug: "liaison", PublicKey: &key.PublicKey, WebhookSecret: "s", Watch: openapi.Watch(t)}
	w := &world{t: t, logs: &logBuffer{}, surface: map[string]string{}}
	o := Options{AppID: appID, Key: key, Version: "1.2.3", Logger: slog.New(slog.NewTextHandler(w.logs, nil))}
	for _, option := range options {
		option(&so, &o)
	}
	w.GitHub = sim.NewGitHub(so)
	w.repo = w.CreateRepository(repoName, map[string]string{"main.go": "package main\n"})
	w.Install(installation, "octo", repoName)
	w.pull = w.OpenPullRequest(repoName, sim.NewPullRequest{
		Title: "A change", Body: "Why", Author: "mona",
		Files: map[string]sim.Change{"main.go": {Content: "package main\n\nfunc main() {}\n"}},
	})
	o.APIURL = w.URL()
	if o.Transport == nil {
		o.Transport = inProcess{w.GitHub}
	}
	channel, err := New(o)
	must(t, err)
	w.channel = channel
	w.ForgetRequests()
	return w
}

// request is the pull request as an event told of it.
func (w *world) request() request {
	return request{
		Installation: installation, Repository: w.repo.ID, FullName: repoName, Number: w.pull.Number,
		Head: w.pull.HeadSHA, Base: "main", Title: "A change",
	}
}

func (w *world) turn(id string) sessions.Turn {
	r := w.request()
	return sessions.Turn{ID: id, SessionID: "ses_1", Key: r.key(), Attempt: 1, Request: r.encode(), Surface: w.surface}
}

// items are what a turn owes at a moment, as first attempts.
func (w *world) items(t sessions.Turn, r sessions.Report) []sessions.Item {
	w.t.Helper()
	effects, err := w.channel.Effects(t, r)
	must(w.t, err)
	var items []sessions.Item
	for _, e := range effects {
		items = append(items, sessions.Item{
			ID: t.ID + "/" + e.Name, SessionID: t.SessionID, TurnID: t.ID, Key: t.Key, Kind: e.Kind, Payload: e.Payload, Attempts: 1,
		})
	}
	return items
}

// deliver attempts an item and remembers as the engine does.
func (w *world) deliver(item sessions.Item) (sessions.Receipt, error) {
	item.Surface = w.surface
	receipt, err := w.channel.Deliver(w.t.Context(), item)
	for k, v := range receipt.Remember {
		w.surface[k] = v
	}
	return receipt, err
}

func (w *world) mustDeliver(items ...sessions.Item) {
	w.t.Helper()
	for _, item := range items {
		_, err := w.deliver(item)
		must(w.t, err)
	}
}

// review delivers all that a whole turn owes.
func (w *world) review(id, text string) {
	w.t.Helper()
	t := w.turn(id)
	w.mustDeliver(w.items(t, started)...)
	w.mustDeliver(w.items(t, completed(text))...)
}

var started = sessions.Report{Moment: sessions.MomentStarted}

func completed(text string) sessions.Report {
	return sessions.Report{Moment: sessions.MomentCompleted, Text: text, Model: "liaison-reviewer", Duration: 1500 * time.Millisecond}
}

// waiting and resumed are what an attempt says of a wait.
var (
	waiting = sessions.Report{Moment: sessions.MomentWaiting, WaitsFor: "the model's rate limit", Reason: "429",
		Until: time.Date(2026, 1, 2, 12, 34, 0, 0, time.UTC)}
	resumed = sessions.Report{Moment: sessions.MomentResumed}
)

func failed(reason string) sessions.Report {
	return sessions.Report{Moment: sessions.MomentFailed, Reason: reason}
}

// checks are our own check runs on the head that the world's turns are about.
func (w *world) checks() []sim.CheckRun { return w.CheckRuns(repoName, w.pull.HeadSHA) }

func (w *world) comments() []sim.Comment { return w.Comments(repoName, w.pull.Number) }

// count counts requests by method and a part of the path.
func (w *world) count(method, part string) int {
	n := 0
	for _, r := range w.Requests() {
		if r.Method == method && strings.Contains(r.Path, part) {
			n++
		}
	}
	return n
}

// wantRetry checks that err asks for another try and returns it.
func wantRetry(t *testing.T, err error) sessions.RetryError {
	t.Helper()
	var retry *sessions.RetryError
	if !errors.As(err, &retry) {
		t.Fatalf("got %v, want a RetryError", err)
	}
	return *retry
}

// constant is a source of "randomness" for golden files.
type constant byte

func (c constant) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(c)
	}
	return len(p), nil
}

var _ io.Reader = constant(0)

// shifted is the real clock, moved forward by hand.
type shifted struct{ ahead atomic.Int64 }

func (s *shifted) now() time.Time          { return time.Now().Add(time.Duration(s.ahead.Load())) }
func (s *shifted) advance(d time.Duration) { s.ahead.Add(int64(d)) }

// readPermissions are those that a token was asked for.
func readPermissions(t *testing.T, body []byte) map[string]string {
	t.Helper()
	var asked struct {
		Permissions map[string]string `json:"permissions"`
	}
	must(t, json.Unmarshal(body, &asked))
	return asked.Permissions
}
