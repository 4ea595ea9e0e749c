package github

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/liaison-bot/liaison/github/repoconfig"
	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/sessions"
)

// A repository that never asked for anything must not be written to because its
// configuration could not be read: of these answers only "there is none" and a
// file let anything be written.
func TestMissingIsNotUnreadable(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		fault sim.Fault
		runs  bool
	}{
		{"500", sim.Fault{Status: http.StatusInternalServerError}, false},
		{"502", sim.Fault{Status: http.StatusBadGateway}, false},
		{"403", sim.Fault{Status: http.StatusForbidden, Body: `{"message":"Resource not accessible by integration"}`}, false},
		{"429", sim.TooManyRequests(0), false},
		{"no connection", sim.Fault{DropConnection: true}, false},
		{"no file", sim.Fault{Status: http.StatusOK, Body: `[]`}, false},
		{"half a file", sim.Fault{Status: http.StatusOK, Body: `{"type":"file","sha":"1"}`}, false},
		{"404", sim.Fault{Status: http.StatusNotFound}, true},
		{"200", sim.Fault{}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := policyWorld(t, "checks: {failOn: error}")
				time.Sleep(time.Minute) // no token is fresh
				tt.fault.PathPattern, tt.fault.Times = "/repos/octo/shop/contents/**", -1
				w.Fail(tt.fault)
				out, err := w.channel.Weigh(t.Context(), w.did("pull_request.opened", "mona", nil))
				if !tt.runs {
					wantRetry(t, err)
					return
				}
				must(t, err)
				if out.Action != sessions.ActionRun {
					t.Errorf("got %+v", out)
				}
			})
		})
	}
}

// failOn is what the configuration says that a review shall fail on.
func (w *world) failOn() string {
	w.t.Helper()
	return w.weighed(w.did("pull_request.synchronize", "mona", nil)).Settings.FailOn
}

func TestTheLastGoodConfigurationOutlivesAnOutageAndARestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		folder, err := repoconfig.OpenFolder(t.TempDir())
		must(t, err)
		defer folder.Close()
		w := policyWorld(t, "checks: {failOn: error}", func(_ *sim.GitHubOptions, o *Options) { o.Configurations = folder })
		if got := w.failOn(); got != "error" {
			t.Fatalf("at first %s", got)
		}
		w.Fail(sim.Fault{PathPattern: "/repos/octo/shop/contents/**", Status: http.StatusBadGateway, Times: -1})
		time.Sleep(2 * freshConfig)
		if got := w.failOn(); got != "error" {
			t.Errorf("in an outage %s", got)
		}
		w.channel.configs = repoconfig.NewReader(folder, w.channel.app.now)
		if got := w.failOn(); got != "error" {
			t.Errorf("after a restart %s", got)
		}
		w.ClearFaults()
		time.Sleep(2 * freshConfig)
		w.configure("checks: {failOn: warning}")
		if got := w.failOn(); got != "warning" {
			t.Errorf("after the outage %s", got)
		}
	})
}

// A file that is not read anew within a minute is asked for on condition, which
// costs no rate, and at most so often.
func TestConfigurationIsReadRarely(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := policyWorld(t, "checks: {failOn: error}")
		w.failOn()
		w.ForgetRequests()
		w.failOn()
		if n := w.count("GET", "/contents/"); n != 0 {
			t.Errorf("%d readings within a minute", n)
		}
		time.Sleep(freshConfig)
		w.failOn()
		for _, r := range w.Requests() {
			if strings.Contains(r.Path, "/contents/") && r.Status != http.StatusNotModified {
				t.Errorf("%s %s: %d", r.Method, r.Path, r.Status)
			}
		}
	})
}

// The configuration is that of the base branch, never of the head.
func TestConfigurationIsTheBaseBranchs(t *testing.T) {
	t.Parallel()
	w := policyWorld(t, "checks: {failOn: error}")
	w.Commit(repoName, "release/1#x", map[string]sim.Change{".github/liaison.yml": sim.Write("checks: {failOn: warning}")})
	w.Push(repoName, w.pull.Number, map[string]sim.Change{".github/liaison.yml": sim.Write("checks: {failOn: never}\nreview: {verdicts: [approve]}\n")})
	w.pull = w.PullRequest(repoName, w.pull.Number)
	if got := w.failOn(); got != "error" {
		t.Errorf("for main: %s", got)
	}
	w.pull = w.OpenPullRequest(repoName, sim.NewPullRequest{Title: "Backport", Author: "mona", Branch: "backport", Base: "release/1#x",
		Files: map[string]sim.Change{"y": {Content: "y\n"}}})
	if got := w.failOn(); got != "warning" {
		t.Errorf("for a release: %s", got)
	}
}

func TestTheOtherNameOfTheFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Commit(repoName, "main", map[string]sim.Change{".github/liaison.yaml": sim.Write("checks: {failOn: error}")})
	if got := w.failOn(); got != "error" {
		t.Errorf("got %s", got)
	}
	w.configure("checks: {failOn: warning}")
	w.channel.configs = repoconfig.NewReader(nil, w.channel.app.now)
	if got := w.failOn(); got != "warning" {
		t.Errorf("with both: %s", got)
	}
}

// What holds for all of an owner's repositories comes from the repository
// .github, by a token of its own that reads and nothing else.
func TestTheOwnersConfiguration(t *testing.T) {
	t.Parallel()
	const owners = "octo/.github"
	for _, tt := range []struct {
		name      string
		installed bool
		there     bool
		fault     *sim.Fault
		want      string
	}{
		{name: "there is none", want: "never"},
		{name: "not installed there", there: true, want: "never"},
		{name: "installed there", there: true, installed: true, want: "warning"},
		{name: "no token", there: true, installed: true, want: "",
			fault: &sim.Fault{PathPattern: "/app/installations/*/access_tokens", Skip: 1, Status: http.StatusBadGateway, Times: -1}},
		{name: "no answer", there: true, installed: true, want: "",
			fault: &sim.Fault{PathPattern: "/repos/octo/.github/**", Status: http.StatusInternalServerError, Times: -1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			in := w.did("pull_request.synchronize", "mona", nil)
			if tt.there {
				w.CreateRepository(owners, map[string]string{".github/liaison.yml": "checks: {failOn: warning, onError: neutral}\n"})
			}
			if tt.installed {
				w.Install(installation, "octo", repoName, owners)
			}
			if tt.fault != nil {
				tgt, err := w.channel.app.target(w.request())
				must(t, err)
				_, err = tgt.live(t.Context()) // has a token already
				must(t, err)
				tt.fault.Skip = 0
				w.Fail(*tt.fault)
			}
			if tt.want == "" {
				_, err := w.channel.Weigh(t.Context(), in)
				wantRetry(t, err)
				return
			}
			if got := w.weighed(in).Settings.FailOn; got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			// The repository itself is not shut out by what its owner lacks.
			w.configure("checks: {failOn: error}")
			w.channel.configs = repoconfig.NewReader(nil, w.channel.app.now)
			if got := w.failOn(); got != "error" {
				t.Errorf("the repository's own: %s", got)
			}
		})
	}
}

// A slip of the pen changes nothing but what people see: the reviews go on, and
// the head shows what is wrong, once.
func TestABrokenConfigurationIsShown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := policyWorld(t, "checks: {failOn: error}")
		w.failOn()
		w.configure("checks: {failOn: allways}")
		time.Sleep(freshConfig)
		out := w.weigh(w.did("pull_request.synchronize", "mona", nil))
		r, err := parseRequest(out.Request)
		must(t, err)
		if out.Action != sessions.ActionRun || r.Settings.FailOn != "error" || len(out.Effects) != 1 {
			t.Fatalf("%s: %d effects", out.Reason, len(out.Effects))
		}
		for attempt := 1; attempt <= 2; attempt++ {
			w.mustDeliver(sessions.Item{ID: "x", Kind: out.Effects[0].Kind, Payload: out.Effects[0].Payload, Attempts: attempt})
		}
		got := w.checks()
		if len(got) != 1 || got[0].Name != configurationCheckName || got[0].Conclusion != "neutral" ||
			!strings.Contains(got[0].Summary, `not "allways"`) || !strings.Contains(got[0].Summary, "earlier version") {
			t.Errorf("checks %+v", got)
		}
	})
}

// Where no version was ever good nobody knows what is wanted: nothing is
// reviewed, and the check that people wait for says so.
func TestAConfigurationThatWasNeverGood(t *testing.T) {
	t.Parallel()
	w := policyWorld(t, "enabled: no\n")
	out := w.ignored(w.did("pull_request.opened", "mona", nil), "cannot be used")
	if len(out.Effects) != 1 {
		t.Fatalf("effects %+v", out.Effects)
	}
	w.mustDeliver(sessions.Item{ID: "x", Kind: out.Effects[0].Kind, Payload: out.Effects[0].Payload, Attempts: 1})
	got := w.checks()
	if len(got) != 1 || got[0].Name != checkName || got[0].Conclusion != "neutral" || !strings.Contains(got[0].Summary, "enabled must be true or false") {
		t.Errorf("checks %+v", got)
	}
}

// A notice about a head that is not the head any more helps nobody, and without
// the permission there is none.
func TestNoticesThatAreLeftOut(t *testing.T) {
	t.Parallel()
	w := policyWorld(t, "enabled: no\n")
	out := w.weigh(w.did("pull_request.opened", "mona", nil))
	item := sessions.Item{ID: "x", Kind: out.Effects[0].Kind, Payload: out.Effects[0].Payload, Attempts: 1}
	undo := w.Fail(sim.Fault{PathPattern: "/repos/*/*/check-runs", Status: http.StatusForbidden, Times: -1,
		Body: `{"message":"Resource not accessible by integration"}`})
	w.channel.app.now = func() time.Time { return time.Now().Add(time.Minute) } // no token is fresh
	if receipt, err := w.deliver(item); err != nil || !strings.Contains(receipt.Note, "may not write checks") {
		t.Errorf("%+v, %v", receipt, err)
	}
	undo()
	old := w.pull.HeadSHA
	w.Push(repoName, w.pull.Number, map[string]sim.Change{"b": {Content: "b\n"}})
	if receipt, err := w.deliver(item); err != nil || !strings.Contains(receipt.Note, "another head") {
		t.Errorf("%+v, %v", receipt, err)
	}
	if got := w.CheckRuns(repoName, old); len(got) != 0 {
		t.Errorf("checks %+v", got)
	}
}

func TestBudgets(t *testing.T) {
	t.Parallel()
	w := policyWorld(t, "budgets: {actorPerDay: 7, pullPerDay: 1000}", func(_ *sim.GitHubOptions, o *Options) {
		o.Budgets = repoconfig.Budgets{PullPerDay: 20}
	})
	now := time.Date(2026, 11, 30, 23, 59, 59, 0, time.FixedZone("", 3600))
	w.channel.app.now = func() time.Time { return now }
	w.channel.permissions.now = w.channel.app.now
	out := w.weigh(w.did("pull_request.opened", "mona", nil))
	limits := map[string]int{}
	for _, b := range out.Budgets {
		limits[b.Key] = b.Limit
		if want := time.Date(2026, 12, 1, 1, 0, 0, 0, time.UTC); !b.Expires.Equal(want) || b.What == "" {
			t.Errorf("%+v", b)
		}
	}
	r := w.request()
	for key, limit := range map[string]int{
		"github:2026-11-30:" + strings.Replace(w.did("x", "mona", nil).Principal, "github:user", "actor", 1): 7,
		"github:2026-11-30:" + strings.TrimPrefix(r.key(), "github:"):                                        20,
		"github:2026-11-30:repository:" + strings.Split(r.key(), ":")[2]:                                     500,
	} {
		if limits[key] != limit {
			t.Errorf("%s: got %d, want %d", key, limits[key], limit)
		}
	}
	// By itself the check says so; in answer to words it is words.
	w.mustDeliver(sessions.Item{ID: "x", Kind: out.OverBudget[0].Kind, Payload: out.OverBudget[0].Payload, Attempts: 1})
	if got := w.checks(); len(got) != 1 || got[0].Name != checkName || got[0].Conclusion != "neutral" || !strings.Contains(got[0].Summary, "00:00 UTC on 1 December 2026") {
		t.Errorf("checks %+v", got)
	}
	asked := w.weigh(w.wrote("mona", "@liaison why?"))
	var p replyPayload
	must(t, json.Unmarshal(asked.OverBudget[0].Payload, &p))
	if p.To == nil || !strings.Contains(p.Text, "at most 7 reviews and questions by one person, 20 on one") {
		t.Errorf("answer %+v", p)
	}
}
