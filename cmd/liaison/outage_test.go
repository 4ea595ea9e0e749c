package main_test

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/liaison-bot/liaison/bridge"
	"github.com/liaison-bot/liaison/github"
	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/internal/sim/openapi"
	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/memstore"
)

// Hours and days without GitHub, in virtual time: it is not stormed meanwhile,
// nothing is given up, and the reviews appear soon after.
func TestOutages(t *testing.T) {
	for name, tt := range map[string]struct {
		lasts time.Duration
		begin func(o *outage, lasts time.Duration)
		end   func(o *outage)
	}{
		"suspended": {48 * time.Hour,
			func(o *outage, _ time.Duration) { o.hub.Suspend(installation) },
			func(o *outage) { o.hub.Unsuspend(installation) }},
		"removed and installed again": {8 * time.Hour,
			func(o *outage, _ time.Duration) { o.hub.Remove(installation) },
			func(o *outage) { o.hub.Install(installation+1, "octo", repo) }},
		"rate limit": {50 * time.Minute,
			func(o *outage, lasts time.Duration) { o.hub.SetRateLimit(0, time.Now().Add(lasts)) },
			func(*outage) {}},
		"secondary rate limit": {10 * time.Hour,
			func(o *outage, _ time.Duration) { o.failAll(sim.SecondaryLimit(0)) },
			func(o *outage) { o.hub.ClearFaults() }},
		"too many requests": {10 * time.Hour,
			func(o *outage, _ time.Duration) { o.failAll(sim.TooManyRequests(30 * time.Second)) },
			func(o *outage) { o.hub.ClearFaults() }},
		"no connection": {24 * time.Hour,
			func(o *outage, _ time.Duration) { o.unreachable.Store(true) },
			func(o *outage) { o.unreachable.Store(false) }},
		"bad gateway": {90 * time.Minute,
			func(o *outage, _ time.Duration) { o.failAll(sim.Fault{Status: http.StatusBadGateway}) },
			func(o *outage) { o.hub.ClearFaults() }},
	} {
		t.Run(name, func(t *testing.T) {
			inOutage(t, func(o *outage) {
				// GitHub tells of this one while it answers nothing.
				late := o.hub.OpenPullRequest(repo, sim.NewPullRequest{Title: "Late", Author: "mona", Files: map[string]sim.Change{"late.go": sim.Write("package main\n")}})
				o.pulls = append(o.pulls, late)
				opened := o.hub.Event(repo, late.Number, "opened")
				time.Sleep(5 * time.Second) // into the reviews
				before := o.calls.Load()
				tt.begin(o, tt.lasts)
				o.tell(opened)
				time.Sleep(tt.lasts)
				// Each of the pull requests owes two things at a time.
				most := len(o.pulls) * (20 + 2*int(tt.lasts/(7*time.Minute)))
				if n := int(o.calls.Load() - before); n > most {
					t.Errorf("%d calls in %s, want at most %d", n, tt.lasts, most)
				}
				tt.end(o)
				time.Sleep(35 * time.Minute) // just above the longest wait between two tries
				o.wantReviewed()
			})
		})
	}
}

// outage is a GitHub that can be out of reach, and an engine on it.
type outage struct {
	t     *testing.T
	hub   *sim.GitHub
	pulls []*sim.PullRequest
	store *memstore.Store

	unreachable atomic.Bool
	calls       atomic.Int64
}

func (o *outage) failAll(f sim.Fault) {
	f.Times = -1
	o.hub.Fail(f)
}

func inOutage(t *testing.T, f func(o *outage)) {
	t.Helper()
	dir := t.TempDir()
	appKey() // made outside of the bubble
	synctest.Test(t, func(t *testing.T) {
		o := &outage{t: t, hub: sim.NewGitHub(sim.GitHubOptions{AppID: appID, Slug: "liaison", PublicKey: &appKey().PublicKey, Watch: openapi.Watch(t)})}
		o.hub.CreateRepository(repo, map[string]string{"main.go": "package main\n"})
		o.hub.Install(installation, "octo", repo)
		w := &world{t: t, hub: o.hub, log: &lockedBuffer{}}
		o.pulls = w.openMany(10)
		o.store = memstore.New(memstore.Options{})
		stop := o.start(o.store, dir, slog.New(slog.NewTextHandler(w.log, nil)))
		for _, pull := range o.pulls {
			o.tell(o.hub.Event(repo, pull.Number, "opened"))
		}
		f(o)
		stop()
		if t.Failed() {
			t.Logf("the log:\n%s", w.log.String())
		}
	})
}

// tell stores a delivery as the webhook does.
func (o *outage) tell(hook sim.Webhook) {
	o.t.Helper()
	if _, err := o.store.Accept(o.t.Context(), state.Delivery{Source: "github", ID: hook.DeliveryID, Event: hook.Event, Body: hook.Body}); err != nil {
		o.t.Fatal(err)
	}
}

// start runs an engine as the service does, with a short-spoken agent.
func (o *outage) start(store *memstore.Store, dir string, log *slog.Logger) (stop func()) {
	o.t.Helper()
	channel, err := github.New(github.Options{AppID: appID, Key: appKey(), APIURL: o.hub.URL(), Transport: o, Logger: log})
	if err != nil {
		o.t.Fatal(err)
	}
	engine, err := sessions.New(sessions.Options{
		Store: store, Log: memstore.NewEventLog(), Channels: []sessions.Channel{channel}, Runner: shortSpoken{}, Dir: dir, Logger: log,
	})
	if err != nil {
		o.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- engine.Run(ctx) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			o.t.Error(err)
		}
	}
}

func (o *outage) wantReviewed() {
	o.t.Helper()
	for _, pull := range o.pulls {
		checks, comments := o.hub.CheckRuns(repo, pull.HeadSHA), o.hub.Comments(repo, pull.Number)
		if len(checks) != 1 || checks[0].Conclusion == "" || checks[0].Conclusion == "failure" || len(comments) != 1 {
			o.t.Errorf("#%d has checks %+v and %d comments", pull.Number, checks, len(comments))
		}
	}
}

// RoundTrip implements http.RoundTripper without a socket.
func (o *outage) RoundTrip(req *http.Request) (*http.Response, error) {
	o.calls.Add(1)
	if o.unreachable.Load() {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}
	in := req.Clone(req.Context())
	in.RequestURI, in.Host = req.URL.RequestURI(), req.URL.Host
	if in.Body == nil {
		in.Body = http.NoBody
	}
	w := httptest.NewRecorder()
	o.hub.ServeHTTP(w, in)
	resp := w.Result()
	resp.Request = req
	return resp, nil
}

// shortSpoken is an agent that thinks for ten seconds.
type shortSpoken struct{}

func (shortSpoken) Run(ctx context.Context, _ sessions.RunRequest, _ func(bridge.Event)) (bridge.Result, error) {
	select {
	case <-time.After(10 * time.Second):
		return bridge.Result{Status: bridge.RunFinished, Text: "Fine."}, nil
	case <-ctx.Done():
		return bridge.Result{}, context.Cause(ctx)
	}
}
