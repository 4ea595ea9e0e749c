package github

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/sessions"
)

// https://github.com/Mergifyio/mergify/pull/1462
func TestSuspendedInstallationIsPausedWithoutAStorm(t *testing.T) {
	t.Parallel()
	for name, with := range map[string]struct{ spoil, mend func(*world) }{
		"suspended": {func(w *world) { w.Suspend(installation) }, func(w *world) { w.Unsuspend(installation) }},
		"removed":   {func(w *world) { w.Remove(installation) }, func(w *world) { w.Install(installation, "octo", repoName) }},
		"repository taken away": {func(w *world) { w.RemoveRepository(installation, repoName) },
			func(w *world) { w.Install(installation, "octo", repoName) }},
	} {
		for _, hasToken := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t)
					if hasToken {
						must(t, w.getPull())
					}
					with.spoil(w)
					w.ForgetRequests()
					start := w.items(w.turn("trn_1"), started)[0]
					for range 20 {
						_, err := w.deliver(start)
						if retry := wantRetry(t, err); !retry.Paused || retry.After <= 0 || retry.After > pausedFor {
							t.Fatalf("got %+v", retry)
						}
					}
					if n := len(w.Requests()); n > 4 {
						t.Errorf("a storm of %d requests", n)
					}
					time.Sleep(pausedFor)
					_, err := w.deliver(start)
					wantRetry(t, err)
					if n := w.logs.count("refuses this installation"); n != 1 {
						t.Errorf("%d log lines", n)
					}
					with.mend(w)
					time.Sleep(pausedFor)
					w.mustDeliver(start)
					if n := w.logs.count("answers this installation again"); n != 1 {
						t.Errorf("%d log lines of the end", n)
					}
				})
			})
		}
	}
}

func TestUngrantedPermissionIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.SetInstallationPermissions(installation, map[string]string{"contents": "read"})
	_, err := w.deliver(w.items(w.turn("trn_1"), started)[0])
	if retry := wantRetry(t, err); !retry.Paused || !strings.Contains(err.Error(), "accept the App's new permissions") {
		t.Errorf("got %v", err)
	}
}

func TestLimitsBecomeWaits(t *testing.T) {
	t.Parallel()
	dated := sim.SecondaryLimit(0)
	dated.Headers.Set("Retry-After", "DATE")
	exhausted := sim.SecondaryLimit(0)
	exhausted.Headers.Set("X-RateLimit-Remaining", "0")
	exhausted.Headers.Set("X-RateLimit-Reset", "4102444800")
	for name, tt := range map[string]struct {
		fault sim.Fault
		after time.Duration
	}{
		"secondary, in seconds":        {sim.SecondaryLimit(90 * time.Second), 90 * time.Second},
		"secondary, message only":      {sim.SecondaryLimit(0), time.Minute},
		"secondary, nothing remaining": {exhausted, time.Minute}, // https://github.com/gofri/go-github-ratelimit/issues/50
		"secondary, dated":             {dated, 3 * time.Minute},
		"429, in seconds":              {sim.TooManyRequests(30 * time.Second), 30 * time.Second},
		"429, no header":               {sim.TooManyRequests(0), time.Minute},
		"429, no words":                {sim.Fault{Status: 429, Body: "slow down"}, time.Minute},
		"abuse, old words":             {sim.Fault{Status: 403, Body: `{"message":"You have triggered an abuse detection mechanism."}`}, time.Minute},
		"primary, message only":        {sim.Fault{Status: 403, Body: `{"message":"API rate limit exceeded for installation ID 31."}`}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				if tt.fault.Headers.Get("Retry-After") == "DATE" {
					tt.fault.Headers = tt.fault.Headers.Clone()
					tt.fault.Headers.Set("Retry-After", time.Now().Add(tt.after).UTC().Format(http.TimeFormat))
				}
				tt.fault.PathPattern = "/repos/**"
				w.Fail(tt.fault)
				start := w.items(w.turn("trn_1"), started)[0]
				begun := time.Now()
				_, err := w.deliver(start)
				retry := wantRetry(t, err)
				if retry.Paused || !retry.Uncounted || tt.after != 0 && retry.After != tt.after || retry.After < time.Second {
					t.Fatalf("got %+v", retry)
				}
				if time.Since(begun) > 0 {
					t.Error("the worker slept")
				}
				// Others of the installation are told the same without asking GitHub.
				asked := len(w.Requests())
				_, err = w.deliver(start)
				wantRetry(t, err)
				if len(w.Requests()) != asked {
					t.Error("GitHub was asked again during the wait")
				}
				time.Sleep(retry.After)
				w.mustDeliver(start)
			})
		})
	}
}

func TestPrimaryLimitWaitsForTheReset(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.SetRateLimit(0, time.Now().Add(20*time.Minute))
		start := w.items(w.turn("trn_1"), started)[0]
		_, err := w.deliver(start)
		retry := wantRetry(t, err)
		if retry.After < 20*time.Minute-time.Second || retry.After > 20*time.Minute+2*time.Second {
			t.Errorf("got %+v", retry)
		}
		time.Sleep(retry.After)
		w.mustDeliver(start)
	})
}

// When the last request of the hour succeeded, go-github refuses the next by itself.
func TestQuotaThatRunsOutBetweenCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.SetRateLimit(1, time.Now().Add(10*time.Minute)) // enough for a look, not for the write
		start := w.items(w.turn("trn_1"), started)[0]
		_, err := w.deliver(start)
		retry := wantRetry(t, err)
		if retry.After < 9*time.Minute || retry.After > 11*time.Minute {
			t.Fatalf("got %+v", retry)
		}
		time.Sleep(retry.After + time.Second)
		w.mustDeliver(start)
	})
}

func TestRefusalsThatAreNoLimits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		start := w.items(w.turn("trn_1"), started)[0]
		forbidden := sim.Fault{Method: http.MethodPost, PathPattern: "/repos/*/*/check-runs", Status: 403, Body: `{"message":"Resource not accessible by integration"}`, Times: 2}
		w.Fail(forbidden)
		// A token of this second may not be known everywhere yet.
		_, err := w.deliver(start)
		if retry := wantRetry(t, err); retry.After != lagWait {
			t.Fatalf("got %+v", retry)
		}
		time.Sleep(lagWait)
		_, err = w.deliver(start)
		var retry *sessions.RetryError
		if errors.As(err, &retry) || err == nil || !strings.Contains(err.Error(), "not accessible") {
			t.Errorf("got %v", err)
		}
	})
}

func TestTroubleOnTheWayIsTriedLater(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]sim.Fault{
		"500":         {Status: 500},
		"502":         {Status: 502},
		"503":         {Status: 503},
		"connection":  {DropConnection: true},
		"token, 500":  {PathPattern: "/app/**", Status: 500},
		"token, drop": {PathPattern: "/app/**", DropConnection: true},
		"a page":      {PathPattern: "/repos/**", Status: 200, Body: "<html>maintenance</html>"},
		"half a body": {PathPattern: "/repos/**", Status: 200, Body: `{"number":`},
		// Answers that say that all is well and are not what was asked for.
		"error as 200": {PathPattern: "/repos/**", Status: 200, Body: `{"message":"Server Error"}`},
		"null":         {PathPattern: "/repos/**", Status: 200, Body: `null`},
		"nothing":      {PathPattern: "/repos/**", Status: 200},
		"a list":       {PathPattern: "/repos/**", Status: 200, Body: `[]`},
		"other types":  {PathPattern: "/repos/**", Status: 200, Body: `{"number":"7"}`},
		"202":          {PathPattern: "/repos/**", Status: 202, Body: `{}`},
		"204":          {PathPattern: "/repos/**", Status: 204},
		"304":          {PathPattern: "/repos/**", Status: 304},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.Fail(fault)
			start := w.items(w.turn("trn_1"), started)[0]
			_, err := w.deliver(start)
			if retry := wantRetry(t, err); retry.Paused {
				t.Errorf("got %+v", retry)
			}
			w.mustDeliver(start)
		})
	}
}

// A write whose answer does not name what was written may have done nothing.
func TestWriteThatWasNotAnsweredIsLookedUp(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{"empty": `{}`, "null": `null`, "a list": `[]`, "an error": `{"message":"Server Error"}`} {
		for path, method := range map[string]string{
			"/repos/*/*/check-runs":        http.MethodPost,
			"/repos/*/*/check-runs/*":      http.MethodPatch,
			"/repos/*/*/issues/*/comments": http.MethodPost,
			"/repos/*/*/issues/comments/*": http.MethodPatch,
		} {
			t.Run(name+" "+method+path, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				if path == "/repos/*/*/issues/comments/*" {
					w.review("trn_0", "An earlier review.")
				}
				w.Fail(sim.Fault{Method: method, PathPattern: path, Status: 200, Body: body})
				turn := w.turn("trn_1")
				retried := 0
				for _, item := range append(w.items(turn, started), w.items(turn, completed("A later review."))...) {
					if _, err := w.deliver(item); err != nil {
						wantRetry(t, err)
						retried++
						item.Attempts++
						w.mustDeliver(item)
					}
				}
				checks, comments := w.checks(), w.comments()
				if last := checks[len(checks)-1]; retried != 1 || last.Status != "completed" {
					t.Errorf("tried again %d times, check %+v", retried, last)
				}
				if len(comments) != 1 || !strings.Contains(comments[0].Body, "A later review.") {
					t.Errorf("comments %+v", comments)
				}
			})
		}
	}
}

func TestHangingGitHubEndsInARetry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(_ *sim.GitHubOptions, o *Options) { o.Transport = hanging{} })
		begun := time.Now()
		_, err := w.deliver(w.items(w.turn("trn_1"), started)[0])
		wantRetry(t, err)
		if took := time.Since(begun); took != requestTimeout {
			t.Errorf("took %s", took)
		}
	})
}

type hanging struct{}

func (hanging) RoundTrip(req *http.Request) (*http.Response, error) {
	<-req.Context().Done()
	return nil, req.Context().Err()
}

func TestStoppingIsNoReasonToGiveUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := w.channel.Deliver(ctx, w.items(w.turn("trn_1"), started)[0])
	wantRetry(t, err)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// Answers to calls that were under way do not end a limit, and a stretch of
// refusals is logged once however often it is prolonged.
func TestCircuit(t *testing.T) {
	t.Parallel()
	log := &logBuffer{}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	c := &circuit{now: func() time.Time { return now }, log: textLogger(log), open: map[int64]*breach{}}
	limit := &LimitError{Secondary: true, After: time.Minute, Message: "slow down"}
	c.note(1, limit)
	c.note(1, nil)
	c.note(1, errors.New("something else"))
	now = now.Add(45 * time.Second)
	var got *LimitError
	if err := c.check(1); !errors.As(err, &got) || got.After != 15*time.Second {
		t.Errorf("during the wait: %v", err)
	}
	if err := c.check(2); err != nil {
		t.Errorf("another installation: %v", err)
	}
	now = now.Add(15 * time.Second)
	if err := c.check(1); err != nil {
		t.Errorf("after the wait: %v", err)
	}
	c.note(1, limit)
	if n := log.count("refuses this installation"); n != 1 {
		t.Errorf("%d log lines of one stretch", n)
	}
	now = now.Add(time.Minute)
	c.note(1, nil)
	c.note(1, limit)
	if n := log.count("refuses this installation"); n != 2 {
		t.Errorf("%d log lines of two stretches", n)
	}
}

// https://github.com/anthropics/claude-code-action/issues/1178
func TestTokenIsRenewedBeforeItsHourIsOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		turn := w.turn("trn_1")
		w.mustDeliver(w.items(turn, started)...)
		time.Sleep(61 * time.Minute)
		w.mustDeliver(w.items(turn, completed("Fine."))...)
		for _, r := range w.Requests() {
			if r.Status == http.StatusUnauthorized {
				t.Errorf("%s %s was tried with a token that is over", r.Method, r.Path)
			}
		}
		if n := w.count(http.MethodPost, "/access_tokens"); n != 2 {
			t.Errorf("%d tokens", n)
		}
	})
}
