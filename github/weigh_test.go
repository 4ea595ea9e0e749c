package github

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/github/repoconfig"
	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/sessions"
)

// policyWorld is a world in which mona writes, rob reads, and the configuration
// of main is as given.
func policyWorld(t *testing.T, config string, options ...worldOption) *world {
	t.Helper()
	w := newWorld(t, options...)
	w.SetPermission(repoName, "mona", "write")
	w.SetPermission(repoName, "rob", "read")
	w.configure(config)
	return w
}

// configure commits a configuration to main; "" leaves it without.
func (w *world) configure(config string) {
	if config != "" {
		w.Commit(repoName, "main", map[string]sim.Change{".github/liaison.yml": sim.Write(config)})
	}
	w.ForgetRequests()
}

// somebody is an account as an event names it.
func (w *world) somebody(login string) account {
	w.t.Helper()
	var u struct {
		ID   int64  `json:"id"`
		Type string `json:"type"`
	}
	must(w.t, get(w.t.Context(), w.channel.app.client(w.channel.app.wire), "users/"+login, &u))
	w.ForgetRequests()
	return account{ID: u.ID, Login: login, Bot: u.Type == "Bot"}
}

// did is what an event makes of something that somebody did to the pull request.
func (w *world) did(trigger, login string, change func(*request)) sessions.Intent {
	w.t.Helper()
	r := w.request()
	r.Trigger, r.Actor, r.Author = trigger, w.somebody(login), w.somebody("mona")
	if change != nil {
		change(&r)
	}
	in := sessions.Intent{
		Action: sessions.ActionRun, Reason: trigger, Fact: "github:" + trigger, Principal: principal(r.Actor.ID),
		Admission: sessions.AdmitPreempt, Message: "Review.", Weigh: true,
	}
	in.Revision.ID = r.Head
	r.identify(&in)
	return in
}

// wrote is what mapping makes of a new comment.
func (w *world) wrote(login, body string) sessions.Intent {
	w.t.Helper()
	_, hook := w.Comment(repoName, w.pull.Number, login, body)
	in, err := Map(sessions.Delivery{Source: Name, ID: hook.DeliveryID, Event: hook.Event, Body: hook.Body},
		Self{AppID: appID, Handle: "liaison"})
	must(w.t, err)
	w.ForgetRequests()
	return in
}

func (w *world) weigh(in sessions.Intent) sessions.Intent {
	w.t.Helper()
	if !in.Weigh {
		w.t.Fatalf("not to be weighed: %+v", in)
	}
	out, err := w.channel.Weigh(w.t.Context(), in)
	must(w.t, err)
	if out.Weigh {
		w.t.Error("still to be weighed")
	}
	return out
}

// weighed is the request of an intent that runs.
func (w *world) weighed(in sessions.Intent) request {
	w.t.Helper()
	out := w.weigh(in)
	if out.Action != sessions.ActionRun {
		w.t.Fatalf("ignored: %s", out.Reason)
	}
	r, err := parseRequest(out.Request)
	must(w.t, err)
	if r.Settings == nil || len(out.Budgets) != 3 || len(out.OverBudget) != 1 || out.Key != r.key() {
		w.t.Errorf("incomplete: %+v", out)
	}
	return r
}

// ignored checks that an intent comes to nothing because of something.
func (w *world) ignored(in sessions.Intent, because string) sessions.Intent {
	w.t.Helper()
	out := w.weigh(in)
	if out.Action != sessions.ActionIgnore || !strings.Contains(out.Reason, because) {
		w.t.Errorf("got action %d, %q; want it ignored because of %q", out.Action, out.Reason, because)
	}
	return out
}

// reply is the only answer of an intent; "" when there is none.
func reply(t *testing.T, in sessions.Intent) string {
	t.Helper()
	text := ""
	for _, e := range in.Effects {
		var p replyPayload
		if e.Kind != kindReply {
			continue
		}
		must(t, json.Unmarshal(e.Payload, &p))
		must(t, p.Request.check())
		if text != "" || p.Key == "" {
			t.Errorf("several answers, or one without a key: %+v", in.Effects)
		}
		text = p.Text
	}
	return text
}

func TestWhatStartsAReviewByItself(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, config, trigger string
		change                func(*world)
		request               func(*request)
		ignored               string // "" runs
	}{
		{name: "opened", trigger: "pull_request.opened"},
		{name: "a push", trigger: "pull_request.synchronize"},
		{name: "another base", trigger: "pull_request.edited"},
		{name: "marked ready", trigger: "pull_request.ready_for_review"},
		{name: "opened, not listed", config: "review: {on: [push]}", trigger: "pull_request.opened", ignored: `does not list "opened"`},
		{name: "push, not listed", config: "review: {on: [opened]}", trigger: "pull_request.synchronize", ignored: `does not list "push"`},
		{name: "nothing listed", config: "review: {on: []}", trigger: "pull_request.reopened", ignored: `does not list "reopened"`},
		{name: "off", config: "enabled: false", trigger: "pull_request.opened", ignored: "turned off by the configuration of octo/shop@main"},
		{name: "draft", trigger: "pull_request.opened", change: (*world).draft, ignored: "is a draft"},
		{name: "draft, wanted", config: "review: {drafts: true}", trigger: "pull_request.opened", change: (*world).draft},
		{name: "closed", trigger: "pull_request.synchronize", change: func(w *world) { w.ClosePullRequest(repoName, w.pull.Number) }, ignored: "is closed"},
		{name: "base", config: "review: {bases: [main]}", trigger: "pull_request.opened"},
		{name: "another base branch", config: "review: {bases: ['release/*']}", trigger: "pull_request.opened", ignored: `into "main"`},
		{name: "base left out", config: "review: {bases: ['!main']}", trigger: "pull_request.opened", ignored: `into "main"`},
		{name: "author", config: "review: {authors: {ignore: [Mona]}}", trigger: "pull_request.opened", ignored: `of "mona"`},
		{name: "label needed", config: "review: {labels: [look]}", trigger: "pull_request.opened", ignored: "none of the labels"},
		{name: "label there", config: "review: {labels: [Look]}", trigger: "pull_request.opened", change: labels("look")},
		{name: "label against", config: "review: {labels: [look, '!skip']}", trigger: "pull_request.opened", change: labels("look", "skip"), ignored: `label "skip" is set`},
		{name: "labelled", config: "review: {labels: [look]}", trigger: "pull_request.labeled", change: labels("look"),
			request: func(r *request) { r.Label = "look" }},
		{name: "labelled with another", config: "review: {labels: [look]}", trigger: "pull_request.labeled", change: labels("look", "blue"),
			request: func(r *request) { r.Label = "blue" }, ignored: `"blue" starts nothing`},
		{name: "labelled without a filter", trigger: "pull_request.labeled", change: labels("blue"),
			request: func(r *request) { r.Label = "blue" }, ignored: `"blue" starts nothing`},
		{name: "label removed before it was weighed", config: "review: {labels: [look]}", trigger: "pull_request.labeled",
			request: func(r *request) { r.Label, r.Labels = "look", []string{"look"} }, ignored: "none of the labels"},
		{name: "the label against is taken away", config: "review: {labels: ['!skip']}", trigger: "pull_request.unlabeled",
			request: func(r *request) { r.Label = "skip" }},
		{name: "another label is taken away", config: "review: {labels: ['!skip']}", trigger: "pull_request.unlabeled",
			request: func(r *request) { r.Label = "blue" }, ignored: "nothing waits"},
		{name: "a team of ours is asked", config: "review: {on: [], teams: [Bots]}", trigger: "pull_request.review_requested",
			request: func(r *request) { r.Team = "bots" }, change: (*world).draft},
		{name: "another team is asked", config: "review: {teams: [bots]}", trigger: "pull_request.review_requested",
			request: func(r *request) { r.Team = "people" }, ignored: `no team "people"`},
		{name: "re-run", config: "review: {on: [], labels: [look]}", trigger: "check_suite.rerequested"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := policyWorld(t, tt.config)
			if tt.change != nil {
				tt.change(w)
			}
			in := w.did(tt.trigger, "mona", tt.request)
			if tt.ignored != "" {
				if out := w.ignored(in, tt.ignored); len(out.Effects) > 0 {
					t.Errorf("it is told of: %+v", out.Effects)
				}
				return
			}
			r := w.weighed(in)
			if r.Head != w.pull.HeadSHA || r.Base != "main" || r.Author.Login != "mona" {
				t.Errorf("got %+v", r)
			}
		})
	}
}

func (w *world) draft() { w.ConvertToDraft(repoName, w.pull.Number) }

func labels(names ...string) func(*world) {
	return func(w *world) { w.SetLabels(repoName, w.pull.Number, names...) }
}

// Whoever sets a label, asks a team or runs again needs what a command needs.
// Reviews that start by themselves need nothing unless it is configured.
func TestWhoStartsAReview(t *testing.T) {
	t.Parallel()
	config := "review: {labels: [look], teams: [bots]}\n"
	for _, tt := range []struct {
		name, config, trigger, by string
		ignored                   string
	}{
		{"label by a reader", config, "pull_request.labeled", "rob", "needs the permission write, and who did it has read"},
		{"label by a writer", config, "pull_request.labeled", "mona", ""},
		{"team by a reader", config, "pull_request.review_requested", "rob", "needs the permission write"},
		{"re-run by a reader", config, "check_run.rerequested", "rob", "needs the permission write"},
		{"re-run by a reader, allowed", config + "commands: {minimum: read}\n", "check_run.rerequested", "rob", ""},
		{"push by a reader", config, "pull_request.synchronize", "rob", ""},
		{"push by a bot", config, "pull_request.synchronize", "renovate[bot]", ""},
		{"push by a reader, minimum", "review: {minimum: triage, labels: [look]}", "pull_request.synchronize", "rob", "needs the permission triage"},
		{"push by a bot, minimum", "review: {minimum: read, labels: [look]}", "pull_request.synchronize", "renovate[bot]", "needs the permission read, and who did it has none"},
		{"push by a writer, minimum", "review: {minimum: write, labels: [look]}", "pull_request.synchronize", "mona", ""},
		{"push by a writer, higher minimum", "review: {minimum: maintain, labels: [look]}", "pull_request.synchronize", "mona", "has write"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := policyWorld(t, tt.config)
			w.SetLabels(repoName, w.pull.Number, "look")
			w.AddComment(repoName, w.pull.Number, "renovate[bot]", "hello") // so that it exists
			in := w.did(tt.trigger, tt.by, func(r *request) { r.Label, r.Team = "look", "bots" })
			if tt.ignored == "" {
				w.weighed(in)
				return
			}
			if out := w.ignored(in, tt.ignored); len(out.Effects) > 0 {
				t.Errorf("it is told of: %+v", out.Effects)
			}
		})
	}
}

// What the event knew is brought up to the pull request as it is now, but for
// what somebody wrote.
func TestWeighingReadsTheLivePullRequest(t *testing.T) {
	t.Parallel()
	w := policyWorld(t, "review: {style: Short., incremental: false, after: checks}")
	id, hook := w.Comment(repoName, w.pull.Number, "mona", "/liaison review")
	in, err := Map(sessions.Delivery{Source: Name, ID: "d", Event: hook.Event, Body: hook.Body}, Self{AppID: appID})
	must(t, err)
	w.EditComment(id, "/liaison review full of something else")
	head := w.Push(repoName, w.pull.Number, map[string]sim.Change{"b": {Content: "b\n"}})
	w.Rename(repoName, "octo/store")
	out := w.weigh(in)
	r, err := parseRequest(out.Request)
	must(t, err)
	if r.Head != head || r.FullName != "octo/store" || r.Comment.Body != "/liaison review" || r.Full {
		t.Errorf("got %+v", r)
	}
	if out.Revision.ID != head || out.Revision.At.IsZero() || !out.Force || !strings.Contains(out.Message, head) {
		t.Errorf("got %+v", out)
	}
	if s := *r.Settings; s.Style != "Short." || s.Incremental || !s.AfterChecks || !s.Drafts {
		t.Errorf("settings %+v", s)
	}
	want := []string{"pr:octo/store#1", headAlias(w.repo.ID, head)}
	if fmt.Sprint(out.Aliases) != fmt.Sprint(want) {
		t.Errorf("aliases %q", out.Aliases)
	}
}

// Replicas that are behind the event say nothing about it.
func TestAReplicaThatIsBehindIsAskedAgain(t *testing.T) {
	t.Parallel()
	w := policyWorld(t, "")
	in := w.did("pull_request.labeled", "mona", func(r *request) { r.UpdatedAt = time.Now().AddDate(0, 0, 1) })
	_, err := w.channel.Weigh(t.Context(), in)
	if retry := wantRetry(t, err); retry.After != lagWait {
		t.Errorf("after %s", retry.After)
	}
}

// A replica that has not heard of a pull request yet has not lost it: what is
// missing a moment after its event is asked for again.
func TestAPullRequestThatIsNotThereYet(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]sim.Fault{
		"pull request": {PathPattern: "/repos/*/*/pulls/*", Status: http.StatusNotFound},
		"repository":   {PathPattern: "/repo*/**", Status: http.StatusNotFound, Times: 3},
	} {
		// Older than the pull request, however slow this is, and young still.
		w := policyWorld(t, "")
		in := w.did("pull_request.opened", "mona", func(r *request) { r.UpdatedAt = time.Now().Add(-30 * time.Second) })
		w.Fail(fault)
		_, err := w.channel.Weigh(t.Context(), in)
		if retry := wantRetry(t, err); retry.After != lagWait || !strings.Contains(retry.Error(), "does not show octo/shop#1 yet") {
			t.Errorf("%s: %v after %s", name, err, retry.After)
		}
		if got := w.weighed(in); got.Head != w.pull.HeadSHA {
			t.Errorf("%s: then taken up at %s", name, got.Head)
		}
		w.Fail(sim.Fault{PathPattern: "/repos/*/*/pulls/*", Status: http.StatusNotFound})
		w.ignored(w.did("pull_request.opened", "mona", func(r *request) { r.UpdatedAt = time.Now().Add(-time.Hour) }), "does not exist any more")
	}
}

func TestAPullRequestThatIsGone(t *testing.T) {
	t.Parallel()
	w := policyWorld(t, "")
	in := w.did("pull_request.opened", "mona", func(r *request) { r.Number = 99 })
	w.ignored(in, "does not exist any more")
}

// Forks' commits name no pull request; of several that have one head the newest counts.
func TestRerunIsFoundByItsCommit(t *testing.T) {
	t.Parallel()
	w := policyWorld(t, "")
	by := func(sha string) sessions.Intent {
		return w.did("check_suite.rerequested", "mona", func(r *request) { r.Number, r.Head = 0, sha })
	}
	if r := w.weighed(by(w.pull.HeadSHA)); r.Number != w.pull.Number {
		t.Errorf("found #%d", r.Number)
	}
	fork := w.OpenPullRequest(repoName, sim.NewPullRequest{Title: "Fork", Author: "rob", HeadRepo: "rob/shop",
		Files: map[string]sim.Change{"x": {Content: "x\n"}}})
	if r := w.weighed(by(fork.HeadSHA)); r.Number != fork.Number || r.HeadRepository == w.repo.ID || r.HeadRepository == 0 {
		t.Errorf("found %+v", r)
	}
	w.ignored(by(strings.Repeat("0", 40)), "no open pull request has the head 0000000")
	w.ClosePullRequest(repoName, fork.Number)
	w.ignored(by(fork.HeadSHA), "no open pull request has the head")
	old := w.pull.HeadSHA
	w.Push(repoName, w.pull.Number, map[string]sim.Change{"b": {Content: "b\n"}})
	w.ignored(w.did("check_run.rerequested", "mona", func(r *request) { r.Head = old }), "is not the head")
}

// A head repository that is gone makes a fork of nobody: reviewed like any other.
func TestForkWhoseRepositoryIsGone(t *testing.T) {
	t.Parallel()
	w := policyWorld(t, "")
	w.pull = w.OpenPullRequest(repoName, sim.NewPullRequest{Title: "Gone", HeadDeleted: true, Files: map[string]sim.Change{"x": {Content: "x\n"}}})
	in := w.did("pull_request.opened", "mona", func(r *request) { r.Actor, r.Author = account{}, account{} })
	if r := w.weighed(in); r.HeadRepository != 0 || r.Author.ID != 0 {
		t.Errorf("got %+v", r)
	}
	w.configure("review: {minimum: read}")
	w.channel.configs = repoconfig.NewReader(nil, w.channel.app.now)
	w.ignored(in, "who did it has none")
}

// A wish that cannot be weighed now is weighed later, whatever is in the way.
func TestWeighingWaitsForGitHub(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/repos/*/*/pulls/*", "/repos/*/*/contents/.github/*", "/repos/*/*/collaborators/*/permission"} {
		for _, status := range []int{http.StatusBadGateway, http.StatusInternalServerError} {
			w := policyWorld(t, "")
			in := w.wrote("mona", "@liaison why?")
			w.Fail(sim.Fault{PathPattern: path, Status: status, Times: 9})
			_, err := w.channel.Weigh(t.Context(), in)
			wantRetry(t, err)
			w.ClearFaults()
			w.weighed(in)
		}
	}
}

// What is known of an installation's refusals is forgotten once GitHub says that
// it is open again.
func TestWeighingHearsThatAnInstallationIsOpenAgain(t *testing.T) {
	t.Parallel()
	w := policyWorld(t, "")
	in := w.did("pull_request.opened", "mona", nil)
	w.channel.app.repos = map[repoID]*repository{}
	w.Suspend(installation)
	_, err := w.channel.Weigh(t.Context(), in)
	if retry := wantRetry(t, err); !retry.Paused {
		t.Fatalf("got %v", err)
	}
	w.Unsuspend(installation)
	hook := w.InstallationEvent(installation, "unsuspend")
	open, err := Map(sessions.Delivery{Source: Name, ID: "d", Event: hook.Event, Body: hook.Body}, Self{AppID: appID})
	must(t, err)
	if out := w.weigh(open); out.Action != sessions.ActionIgnore {
		t.Errorf("got %+v", out)
	}
	w.weighed(in)
}
