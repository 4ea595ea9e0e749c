package github

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/tools"
)

// free is a ledger that lets each call be made, as one that people approved.
type free struct{ registry *tools.Registry }

func (free) Acting(context.Context, tools.Call, string) error             { return nil }
func (free) Keep(context.Context, tools.Call, string, tools.Result) error { return nil }

func (f free) Ask(ctx context.Context, c tools.Call, t tools.Tool) (tools.Result, error) {
	c.ApprovalID = aprID(1)
	return f.registry.Execute(ctx, c, t.Name, t.Fingerprint, f)
}

// act calls a tool of the host as an agent does; look asks afterwards whether it was done.
func (w *world) act(r request, name, input string) tools.Result {
	w.t.Helper()
	registry, err := tools.New(w.channel.Tools()...)
	must(w.t, err)
	result, err := registry.Call(w.t.Context(), w.callOf(r, input), name, free{registry})
	must(w.t, err)
	return result
}

func (w *world) callOf(r request, input string) tools.Call {
	return tools.Call{
		Turn:    tools.Turn{SessionID: "ses_1", TurnID: "trn_1", Channel: Name, Request: r.encode()},
		AgentID: "agt_1", Input: json.RawMessage(input),
	}
}

func (w *world) look(name, approval, input string) (tools.Result, error) {
	w.t.Helper()
	call := w.callOf(w.request(), input)
	call.ApprovalID = approval
	for _, tool := range w.channel.Tools() {
		if tool.Name == name {
			return tool.Look(w.t.Context(), call)
		}
	}
	w.t.Fatalf("no tool %s", name)
	return tools.Result{}, nil
}

// allow grants all that tools of the host can use.
func (w *world) allow() {
	w.SetInstallationPermissions(installation, map[string]string{
		"contents": "write", "pull_requests": "write", "issues": "write", "checks": "write", "statuses": "read", "members": "read",
	})
}

func TestToolsOfTheHostAreForPullRequestsOfTheirOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	registry, err := tools.New(w.channel.Tools()...)
	must(t, err)
	issue, group, ask, resumed := w.request(), w.request(), w.request(), w.request()
	issue.Issue, issue.Kind = true, kindAsk
	group.Kind, ask.Kind, resumed.Kind = kindMergeGroup, kindAsk, kindResumed
	acting := []string{"merge_pull_request", "post_comment", "request_reviewers", "set_labels"}
	for name, tt := range map[string]struct {
		channel string
		r       request
		want    []string
	}{
		"a review": {Name, w.request(), append(slices.Clone(acting), "submit_review")}, "a question": {Name, ask, acting},
		"an outcome": {Name, resumed, acting}, "an issue": {Name, issue, nil}, "a merge group": {Name, group, nil},
		"Slack": {"slack", w.request(), nil}, "HTTP": {sessions.ChannelHTTP, w.request(), nil},
	} {
		var got []string
		for _, tool := range registry.Offered(tools.Turn{Channel: tt.channel, Request: tt.r.encode()}) {
			got = append(got, tool.Name)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s is offered %q, want %q", name, got, tt.want)
		}
	}
}

func TestPostComment(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(_ *sim.GitHubOptions, o *Options) {
		o.Redact = func(s string) string { return strings.ReplaceAll(s, "hunter2", "[secret]") }
	})
	got := w.act(w.request(), "post_comment", `{"body":"@octo/security closes #1 hunter2\n\n/approve"}`)
	all := w.comments()
	if got.IsError || len(all) != 1 || strings.Contains(all[0].Body, "hunter2") || strings.Contains(all[0].Body, "@octo") || strings.Contains(all[0].Body, "\n/approve") {
		t.Fatalf("%+v, comments %+v", got, all)
	}
	again := w.callOf(w.request(), `{"body":"x"}`)
	for _, tool := range w.channel.Tools() {
		if tool.Name == "post_comment" { // the same call, past the registry's memory
			_, err := tool.Run(t.Context(), again)
			must(t, err)
		}
	}
	if n := len(w.comments()); n != 1 {
		t.Errorf("%d comments after a repetition", n)
	}
	if found, err := w.look("post_comment", "", `{"body":"x"}`); err != nil || found.IsError {
		t.Errorf("what was posted is not found: %+v, %v", found, err)
	}
	if found, err := w.look("post_comment", aprID(9), `{"body":"x"}`); err != nil || !found.IsError {
		t.Errorf("what was not posted is found: %+v, %v", found, err)
	}
	if bad := w.act(w.request(), "post_comment", `{"body":""}`); !bad.IsError {
		t.Error("an empty comment is taken")
	}
	w.LockPullRequest(repoName, w.pull.Number)
	locked := w.request()
	locked.Title = "another call"
	call := w.callOf(locked, `{"body":"y"}`)
	call.ApprovalID = aprID(3)
	for _, tool := range w.channel.Tools() {
		if tool.Name == "post_comment" {
			if _, err := tool.Run(t.Context(), call); err == nil || !strings.Contains(err.Error(), "locked") {
				t.Errorf("a locked conversation: %v", err)
			}
		}
	}
}

// A comment whose answer was cut off is there, and is not posted again.
func TestACommentWithoutAnAnswerIsPostedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Fail(sim.Fault{Method: http.MethodPost, PathPattern: "/repos/*/*/issues/*/comments", AfterEffect: true, DropConnection: true, Times: 1})
	if got := w.act(w.request(), "post_comment", `{"body":"x"}`); got.IsError || len(w.comments()) != 1 {
		t.Errorf("%+v with %d comments", got, len(w.comments()))
	}
}

func TestSetLabels(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.CreateLabels(repoName, "deployment", "wip")
	w.SetLabels(repoName, w.pull.Number, "wip")
	if got := w.act(w.request(), "set_labels", `{"add":["Deployment"],"remove":["wip","never"],"reason":"because"}`); got.IsError || string(got.Structured) != `{"labels":["deployment"]}` {
		t.Errorf("%+v", got)
	}
	if got := w.act(w.request(), "set_labels", `{"add":["deploymnt"]}`); !got.IsError || !strings.Contains(got.Text, `no label "deploymnt"`) {
		t.Errorf("a slip of the pen: %+v", got)
	}
	if got := w.act(w.request(), "set_labels", `{"add":["new"],"create":true}`); got.IsError {
		t.Errorf("a new one: %+v", got)
	}
	if got := w.Labels(repoName, w.pull.Number); !slices.Equal(got, []string{"deployment", "new"}) {
		t.Errorf("labels are %q", got)
	}
	for input, done := range map[string]bool{`{"add":["new"]}`: true, `{"add":["wip"]}`: false, `{"remove":["new"]}`: false, `{"remove":["wip"]}`: true} {
		if got, err := w.look("set_labels", aprID(1), input); err != nil || got.IsError == done {
			t.Errorf("%s is done %t: %+v, %v", input, !got.IsError, got, err)
		}
	}
	w.Fail(sim.Fault{Method: http.MethodGet, PathPattern: "/repos/*/*/pulls/*", Status: 502, Body: `{}`})
	if _, err := w.look("set_labels", aprID(1), `{"add":["new"]}`); !errors.Is(err, tools.ErrOutcomeUnknown) {
		t.Errorf("what GitHub does not show is %v", err)
	}
	for _, bad := range []string{`{}`, `{"add":[]}`, `{"add":[""]}`, `{"add":"x"}`, `{"add":["x"],"everything":true}`, `{"reason":"x"}`} {
		if got := w.act(w.request(), "set_labels", bad); !got.IsError {
			t.Errorf("%s is taken", bad)
		}
	}
}

func TestRequestReviewers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.SetPermission(repoName, "ann", "write")
	w.SetTeamMember("octo/security", "ann", "active")
	if got := w.act(w.request(), "request_reviewers", `{"reviewers":["ann"],"teams":["security"]}`); got.IsError || string(got.Structured) != `{"reviewers":["ann"],"teams":["security"]}` {
		t.Errorf("%+v", got)
	}
	if got := w.act(w.request(), "request_reviewers", `{"reviewers":["mona"]}`); !got.IsError || !strings.Contains(got.Text, "author") {
		t.Errorf("the author: %+v", got)
	}
	if got, err := w.look("request_reviewers", aprID(1), `{"reviewers":["bob"]}`); err != nil || !got.IsError {
		t.Errorf("nobody asked bob: %+v, %v", got, err)
	}
	w.ClosePullRequest(repoName, w.pull.Number)
	if got := w.act(w.request(), "request_reviewers", `{"teams":["security"]}`); !got.IsError || !strings.Contains(got.Text, "closed") {
		t.Errorf("a closed one: %+v", got)
	}
}

func TestMerge(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		prepare func(*world)
		input   string
		why     string // empty where it is merged
	}{
		{name: "clean"},
		{name: "unstable", prepare: func(w *world) { w.SetMergeability(repoName, w.pull.Number, "unstable", "") }, input: `{"method":"squash","title":"t","message":"m"}`},
		{name: "another head", prepare: func(w *world) { w.Push(repoName, w.pull.Number, map[string]sim.Change{"x": sim.Write("x")}) }, why: "its head is"},
		{name: "a head that moves at the last moment", prepare: func(w *world) {
			w.Fail(sim.Fault{Method: http.MethodPut, PathPattern: "/repos/*/*/pulls/*/merge", Status: 409, Body: `{"message":"Head branch was modified. Review and try the merge again."}`})
		}, why: "the head moved meanwhile"},
		{name: "a draft", prepare: func(w *world) { w.ConvertToDraft(repoName, w.pull.Number) }, why: "it is a draft"},
		{name: "closed", prepare: func(w *world) { w.ClosePullRequest(repoName, w.pull.Number) }, why: "it is closed"},
		{name: "merged by somebody", prepare: func(w *world) { w.MergePullRequest(repoName, w.pull.Number) }, why: "it is merged already"},
		{name: "conflicts", prepare: func(w *world) { w.SetMergeability(repoName, w.pull.Number, "dirty", "") }, why: "conflicts"},
		{name: "required checks", prepare: func(w *world) { w.SetMergeability(repoName, w.pull.Number, "blocked", "") }, why: "required checks"},
		{name: "behind", prepare: func(w *world) { w.SetMergeability(repoName, w.pull.Number, "behind", "") }, why: "behind its base"},
		{name: "a method that is not allowed", prepare: func(w *world) {
			w.SetMergeability(repoName, w.pull.Number, "clean", "Rebase merges are not allowed on this repository.")
		}, input: `{"method":"rebase"}`, why: "Rebase merges are not allowed"},
		{name: "no permission", prepare: func(w *world) {
			w.SetInstallationPermissions(installation, map[string]string{"contents": "read", "pull_requests": "write", "checks": "write"})
		}, why: "contents: write"},
		{name: "no such method", input: `{"method":"octopus"}`, why: "must be one of"},
		{name: "an answer that is cut off", prepare: func(w *world) {
			w.Fail(sim.Fault{Method: http.MethodPut, PathPattern: "/repos/*/*/pulls/*/merge", AfterEffect: true, DropConnection: true})
		}},
		{name: "no answer", prepare: func(w *world) {
			w.Fail(sim.Fault{Method: http.MethodPut, PathPattern: "/repos/*/*/pulls/*/merge", DropConnection: true})
		}, why: "does not say whether"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.allow()
			w.SetMergeability(repoName, w.pull.Number, "clean", "")
			r := w.request()
			before := w.PullRequest(repoName, w.pull.Number).Merged
			if tt.prepare != nil {
				tt.prepare(w)
				before = w.PullRequest(repoName, w.pull.Number).Merged
			}
			if tt.input == "" {
				tt.input = `{}`
			}
			got := w.act(r, "merge_pull_request", tt.input)
			if merged := w.PullRequest(repoName, w.pull.Number).Merged; got.IsError != (tt.why != "") || !strings.Contains(got.Text, tt.why) || merged != (before || tt.why == "") {
				t.Errorf("merged %t, %+v", merged, got)
			}
			w.ClearFaults()
			if found, err := w.look("merge_pull_request", aprID(1), tt.input); err != nil || found.IsError == w.PullRequest(repoName, w.pull.Number).Merged {
				t.Errorf("a look finds %+v, %v", found, err)
			}
		})
	}
}

// Nothing is merged that no person approved, whoever calls.
func TestNothingIsMergedWithoutAPerson(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.allow()
	w.SetMergeability(repoName, w.pull.Number, "clean", "")
	for _, tool := range w.channel.Tools() {
		if tool.Name != "merge_pull_request" {
			continue
		}
		if needs, err := tool.Gate.Needs(tools.Call{}); !needs || err != nil {
			t.Errorf("it needs nobody: %t, %v", needs, err)
		}
		if _, err := tool.Run(t.Context(), w.callOf(w.request(), `{}`)); err == nil {
			t.Error("it ran")
		}
	}
	if w.PullRequest(repoName, w.pull.Number).Merged {
		t.Error("it is merged")
	}
}

// GitHub finds out by itself whether a pull request can be merged, and is given time.
func TestMergeWaitsUntilGitHubKnows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.allow()
		looks := 0
		w.channel.app.wire.base = counting{w.channel.app.wire.base, func(req *http.Request) {
			if req.Method == http.MethodGet && strings.HasSuffix(req.URL.Path, "/pulls/1") {
				if looks++; looks == 4 {
					w.SetMergeability(repoName, w.pull.Number, "clean", "")
				}
			}
		}}
		if got := w.act(w.request(), "merge_pull_request", `{}`); got.IsError {
			t.Errorf("%+v", got)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.allow()
		if got := w.act(w.request(), "merge_pull_request", `{}`); !got.IsError || !strings.Contains(got.Text, "not found out yet") {
			t.Errorf("%+v", got)
		}
	})
}

// counting tells of each request before it is made.
type counting struct {
	next http.RoundTripper
	tell func(*http.Request)
}

func (c counting) RoundTrip(req *http.Request) (*http.Response, error) {
	c.tell(req)
	return c.next.RoundTrip(req)
}

// What may not be done is said with the permission that is missing.
func TestAMissingPermissionIsNamed(t *testing.T) {
	t.Parallel()
	clock := &shifted{}
	w := newWorld(t, func(so *sim.GitHubOptions, o *Options) { so.Now, o.Now = clock.now, clock.now })
	w.CreateLabels(repoName, "x")
	w.act(w.request(), "set_labels", `{"add":["x"]}`)
	w.Fail(sim.Fault{Method: http.MethodPost, PathPattern: "/repos/*/*/issues/*/labels", Status: 403, Body: `{"message":"Resource not accessible by integration"}`})
	clock.advance(freshToken * 2)
	if got := w.act(w.request(), "set_labels", `{"add":["x"],"reason":"again"}`); !got.IsError || !strings.Contains(got.Text, "pull_requests: write or issues: write") {
		t.Errorf("%+v", got)
	}
}
