package github

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/sessions"
)

func mustURL(s string) *url.URL {
	u, err := url.Parse(s)
	if err != nil {
		panic(err)
	}
	return u
}

// withoutChecks is a world whose installation grants statuses and no checks.
func withoutChecks(t *testing.T, options ...worldOption) *world {
	t.Helper()
	w := newWorld(t, options...)
	w.SetInstallationPermissions(installation, map[string]string{
		"contents": "read", "pull_requests": "write", "issues": "write", "statuses": "write",
	})
	return w
}

func (w *world) statuses() []sim.Status { return w.Statuses(repoName, w.pull.HeadSHA) }

func TestStatusStandsInForTheCheck(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		report sessions.Report
		state  string
	}{
		"clean":      {completed("Fine."), "success"},
		"findings":   {completed("### Errors\n- a: b"), "success"},
		"failure":    {failed("the bridge ended"), "error"},
		"stopped":    {sessions.Report{Moment: sessions.MomentInterrupted, Reason: "stopped"}, "error"},
		"superseded": {sessions.Report{Moment: sessions.MomentInterrupted, Superseded: true}, "error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := withoutChecks(t)
			turn := w.turn("trn_1")
			w.mustDeliver(w.items(turn, started)...)
			got := w.statuses()
			if len(got) != 1 || got[0].State != "pending" || got[0].Context != "Liaison" || got[0].Description == "" {
				t.Fatalf("after the start: %+v", got)
			}
			w.mustDeliver(w.items(turn, tt.report)...)
			if got = w.statuses(); len(got) != 2 || got[1].State != tt.state {
				t.Errorf("after the end: %+v", got)
			}
			if n := w.count(http.MethodPost, "/check-runs"); n > 1 { // none once it is known
				t.Errorf("%d check runs were tried", n)
			}
		})
	}
}

// The state of the status is that of the finding's weight where a repository
// wants its check to fail.
func TestStatusFailsAsTheCheckWould(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]checkPayload{
		"failure": {Conclusion: concludedFailure},
		"error":   {Conclusion: concludedFailure, Failed: true},
		"success": {Conclusion: concludedNeutral, Failed: true},
	} {
		if got := p.asStatus("").state; got != want {
			t.Errorf("%+v: %s, want %s", p, got, want)
		}
	}
}

// A description beyond 140 characters is refused, and the status never set
// (https://github.com/palantir/policy-bot/issues/72).
func TestStatusDescriptionIsCut(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ title, want string }{
		"139":       {strings.Repeat("é", 139), strings.Repeat("é", 139)},
		"140":       {strings.Repeat("é", 140), strings.Repeat("é", 140)},
		"141":       {strings.Repeat("é", 141), strings.Repeat("é", 139) + "…"},
		"two lines": {"one\r\ntwo", "one two"},
	} {
		got := checkPayload{Title: tt.title}.asStatus("").description
		if got != tt.want || utf8.RuneCountInString(got) > 140 {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// What says nothing new is not written: a commit takes 1,000 of one context.
func TestStatusThatSaysNothingNewIsNotSet(t *testing.T) {
	t.Parallel()
	w := withoutChecks(t)
	item := w.items(w.turn("trn_1"), started)[0]
	w.Fail(sim.Fault{Method: http.MethodPost, PathPattern: "/repos/*/*/statuses/*", Status: http.StatusBadGateway, AfterEffect: true})
	_, err := w.deliver(item)
	wantRetry(t, err)
	for range 2 {
		item.Attempts++
		w.mustDeliver(item)
	}
	if got := w.statuses(); len(got) != 1 {
		t.Errorf("%+v", got)
	}
	end := w.items(w.turn("trn_1"), completed("Fine."))[0]
	for range 3 {
		w.mustDeliver(end)
		end.Attempts++
	}
	w.mustDeliver(w.items(w.turn("trn_1"), waiting)...) // late
	if got := w.statuses(); len(got) != 2 || got[1].State != "success" {
		t.Errorf("%+v", got)
	}
}

func TestFullCommitTakesNoStatus(t *testing.T) {
	t.Parallel()
	w := withoutChecks(t)
	for range 1000 {
		w.AddStatus(repoName, w.pull.HeadSHA, sim.Status{State: "pending", Context: checkName})
	}
	receipt, err := w.deliver(w.items(w.turn("trn_1"), started)[0])
	if err != nil || !strings.Contains(receipt.Note, "1,000") {
		t.Errorf("%+v, %v", receipt, err)
	}
}

func TestNeitherChecksNorStatusesIsNoFailure(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.SetInstallationPermissions(installation, map[string]string{"contents": "read", "pull_requests": "write"})
	w.review("trn_1", "Fine.")
	if len(w.checks())+len(w.statuses()) != 0 || len(w.comments()) != 1 {
		t.Errorf("%+v, %+v, %+v", w.checks(), w.statuses(), w.comments())
	}
}

// The choice is made again once the permission may have come.
func TestChecksAreUsedOnceTheyAreGranted(t *testing.T) {
	t.Parallel()
	clock := &shifted{}
	w := withoutChecks(t, func(_ *sim.GitHubOptions, o *Options) { o.Now = clock.now })
	w.review("trn_1", "Fine.")
	w.SetInstallationPermissions(installation, map[string]string{"contents": "read", "pull_requests": "write", "issues": "write", "checks": "write", "statuses": "read"})
	w.review("trn_2", "Fine.")
	if n := len(w.checks()); n != 0 {
		t.Errorf("%d check runs before anybody told us", n)
	}
	clock.advance(grantsFor)
	w.review("trn_3", "Fine.")
	if got := w.checks(); len(got) != 1 || got[0].Conclusion != "success" {
		t.Errorf("checks: %+v", got)
	}
}

// A check that GitHub refuses outright, as on an Enterprise Server that gives
// tokens for more than they can do.
func TestRefusedCheckBecomesAStatus(t *testing.T) {
	t.Parallel()
	clock := &shifted{}
	w := newWorld(t, func(_ *sim.GitHubOptions, o *Options) { o.Now = clock.now })
	must(t, w.getPull()) // a token from before
	clock.advance(time.Minute)
	w.SetInstallationPermissions(installation, map[string]string{"contents": "read", "pull_requests": "write", "statuses": "write"})
	w.Fail(sim.Fault{Method: http.MethodPost, PathPattern: "/repos/*/*/check-runs", Status: http.StatusForbidden,
		Body: `{"message":"Resource not accessible by integration"}`})
	w.mustDeliver(w.items(w.turn("trn_1"), started)...)
	if got := w.statuses(); len(got) != 1 || got[0].State != "pending" {
		t.Errorf("statuses: %+v", got)
	}
}

func TestStatusTarget(t *testing.T) {
	t.Parallel()
	for rest, want := range map[string]string{
		"https://api.github.com/":           "https://github.com",
		"https://api.octo.ghe.com/":         "https://octo.ghe.com",
		"https://ghe.example.com/api/v3/":   "https://ghe.example.com",
		"https://ghe.example.com/x/api/v3/": "https://ghe.example.com/x",
		"http://127.0.0.1:8080/":            "",
	} {
		if got := webRoot(mustURL(rest)); got != want {
			t.Errorf("%s: %q, want %q", rest, got, want)
		}
	}
	w := withoutChecks(t, func(so *sim.GitHubOptions, _ *Options) { so.PathPrefix = "/api/v3" })
	w.review("trn_1", "Fine.")
	w.review("trn_2", "Fine.")
	got := w.statuses()
	if last := got[len(got)-1].TargetURL; !strings.HasPrefix(last, "http://github.invalid/octo/shop/pull/1#issuecomment-") {
		t.Errorf("target: %q", last)
	}
}
