package github

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/sessions"
)

// asksElsewhere is a review that somebody with this login wants on another channel.
func (w *world) asksElsewhere(login, url string) sessions.Intent {
	w.t.Helper()
	h := HandedReview{URL: url, Login: login, Caller: sessions.Caller{Channel: "slack", Address: json.RawMessage(`{"thread":"1.1"}`)}}
	d, err := h.Delivery("owed-1", time.Now())
	must(w.t, err)
	in, err := w.channel.Map(sessions.Delivery{Source: d.Source, ID: d.ID, Event: d.Event, Body: d.Body})
	must(w.t, err)
	if !in.Weigh {
		return in
	}
	out, err := w.channel.Weigh(w.t.Context(), in)
	must(w.t, err)
	return out
}

// outcomesOf are what callers are told among effects.
func outcomesOf(t *testing.T, effects []sessions.Effect) []sessions.Outcome {
	t.Helper()
	var all []sessions.Outcome
	for _, f := range effects {
		if f.Kind != sessions.KindOutcome {
			continue
		}
		var o sessions.Outcome
		must(t, json.Unmarshal(f.Payload, &o))
		if f.Channel != "slack" || string(o.Address) != `{"thread":"1.1"}` {
			t.Errorf("told to %q at %s", f.Channel, o.Address)
		}
		all = append(all, o)
	}
	return all
}

// A review that is asked for elsewhere is the review of that pull request, with
// the permission of who asks.
func TestAHandedReviewIsTakenUp(t *testing.T) {
	w := policyWorld(t, "")
	url := w.channel.app.pages() + "/" + repoName + "/pull/1"
	for _, link := range []string{url, url + "/files#diff-1", url + "/commits/abc?x=1", " " + url + "/ "} {
		in := w.asksElsewhere("mona", link)
		r, err := parseRequest(in.Request)
		must(t, err)
		if in.Action != sessions.ActionRun || in.Key != w.request().key() || r.Head != w.pull.HeadSHA || r.Actor.ID != w.somebody("mona").ID || len(in.Budgets) == 0 {
			t.Errorf("%s: got %+v of %+v", link, in, r)
		}
		turn := sessions.Turn{ID: "trn_1", SessionID: "ses_1", Attempt: 1, Request: in.Request}
		for _, c := range []struct {
			report sessions.Report
			want   sessions.OutcomeStage
		}{
			{sessions.Report{Moment: sessions.MomentAccepted, Request: in.Request}, sessions.OutcomeAccepted},
			{sessions.Report{Moment: sessions.MomentWaiting, WaitsFor: "checks", Until: time.Now()}, sessions.OutcomeWaiting},
			{completed("### Error: broken\n"), sessions.OutcomeCompleted},
			{failed("the model is away"), sessions.OutcomeFailed},
			{sessions.Report{Moment: sessions.MomentInterrupted, Reason: "stopped by somebody", Stopped: true}, sessions.OutcomeInterrupted},
		} {
			effects, err := w.channel.Effects(turn, c.report)
			must(t, err)
			got := outcomesOf(t, effects)
			if len(got) != 1 || got[0].Stage != c.want || got[0].Subject != repoName+"#1" || got[0].URL != url {
				t.Errorf("told %+v, want one %s", got, c.want)
			}
		}
		effects, err := w.channel.Effects(turn, sessions.Report{Moment: sessions.MomentInterrupted, Superseded: true})
		must(t, err)
		if got := outcomesOf(t, effects); len(got) != 0 {
			t.Errorf("told %+v although another turn goes on with it", got)
		}
	}
}

// Who may not, and what is no pull request, is refused where it was asked, and
// what somebody may not see is no different from what is not there.
func TestAHandedReviewIsRefused(t *testing.T) {
	w := policyWorld(t, "")
	w.SetPermission(repoName, "eve", "none")
	root := w.channel.app.pages()
	url := root + "/" + repoName + "/pull/1"
	closed := w.OpenPullRequest(repoName, sim.NewPullRequest{
		Title: "Old", Author: "mona", Files: map[string]sim.Change{"old.go": {Content: "package main\n"}},
	})
	w.ClosePullRequest(repoName, closed.Number)
	w.ForgetRequests()
	for name, c := range map[string]struct{ login, url, says string }{
		"reads only":        {"rob", url, "this needs the permission `write`"},
		"sees nothing":      {"eve", url, notToSee},
		"unknown login":     {"nobody-there", url, "GitHub has no user"},
		"no such pull":      {"mona", root + "/" + repoName + "/pull/99", "does not exist"},
		"closed":            {"mona", root + "/" + repoName + "/pull/2", "closed"},
		"not installed":     {"mona", root + "/octo/other/pull/1", notToSee},
		"another host":      {"mona", "https://evil.example/" + repoName + "/pull/1", "this link leads to"},
		"an issue":          {"mona", root + "/" + repoName + "/issues/1", "no link to a pull request"},
		"no link":           {"mona", repoName + "#1", "no link to a pull request"},
		"up and away":       {"mona", root + "/../app/pull/1", "no link to a pull request"},
		"no number":         {"mona", root + "/" + repoName + "/pull/x", "no link to a pull request"},
		"a negative number": {"mona", root + "/" + repoName + "/pull/-1", "no link to a pull request"},
	} {
		t.Run(name, func(t *testing.T) {
			in := w.asksElsewhere(c.login, c.url)
			got := outcomesOf(t, in.Effects)
			if in.Action != sessions.ActionIgnore || len(got) != 1 || got[0].Stage != sessions.OutcomeRefused || !strings.Contains(got[0].Text, c.says) {
				t.Errorf("got %+v: told %+v, want %q", in, got, c.says)
			}
		})
	}
}

func FuzzParsePull(f *testing.F) {
	f.Add("https://github.com/octocat/hello-world/pull/7/files")
	f.Add("https://github.com/../x/pull/1")
	f.Fuzz(func(t *testing.T, text string) {
		name, number, err := parsePull(text, "https://github.com")
		if _, _, ok := splitName(name); err == nil && (!ok || number <= 0) {
			t.Errorf("%q is %q, %d", text, name, number)
		}
	})
}
