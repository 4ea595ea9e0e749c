package sim_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-github/v66/github"

	"github.com/liaison-bot/liaison/internal/sim"
)

func TestPullRequestDelivery(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	received := make(chan *github.PullRequestEvent, 1)
	id := make(chan string, 2)
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		id <- github.DeliveryID(r)
		payload, err := github.ValidatePayload(r, []byte("s3cret"))
		if err != nil {
			http.Error(rw, err.Error(), http.StatusUnauthorized)
			return
		}
		event, err := github.ParseWebHook(github.WebHookType(r), payload)
		if err != nil {
			http.Error(rw, err.Error(), http.StatusBadRequest)
			return
		}
		received <- event.(*github.PullRequestEvent)
		rw.WriteHeader(http.StatusAccepted)
	}))
	defer server.Close()

	before := w.pull.HeadSHA
	after := w.Push(repoName, 1, map[string]sim.Change{"n": sim.Write("n")})
	hook := w.Event(repoName, 1, "synchronize")
	if got, err := w.Deliver(t.Context(), server.URL, hook); got != 202 || err != nil {
		t.Fatalf("delivered = %d, %v", got, err)
	}
	e := <-received
	first := <-id
	for _, action := range []string{"opened", "reopened", "synchronize", "ready_for_review", "converted_to_draft", "closed"} {
		judgeWebhook(t, w.Event(repoName, 1, action))
	}
	if e.GetAction() != "synchronize" || e.GetBefore() != before || e.GetAfter() != after || e.GetNumber() != 1 {
		t.Errorf("event = %s #%d %s..%s", e.GetAction(), e.GetNumber(), e.GetBefore(), e.GetAfter())
	}
	if e.GetInstallation().GetID() != installation || e.GetRepo().GetFullName() != repoName || e.GetSender().GetLogin() != "mona" {
		t.Errorf("installation %d, repository %s, sender %s", e.GetInstallation().GetID(), e.GetRepo().GetFullName(), e.GetSender().GetLogin())
	}
	if p := e.GetPullRequest(); p.GetHead().GetSHA() != after || p.GetCommits() != 2 || p.GetChangedFiles() != 2 || p.GetUpdatedAt().IsZero() {
		t.Errorf("pull request = %v", p)
	}
	if _, err := w.Deliver(t.Context(), server.URL, hook); err != nil {
		t.Fatal(err)
	}
	<-received
	if again := <-id; again != first || len(first) != 36 {
		t.Errorf("a redelivery has id %q, the first had %q", again, first)
	}
	if other := w.Event(repoName, 1, "opened"); other.DeliveryID == first {
		t.Error("two events share a delivery id")
	}
	wrong := hook.Request(t.Context(), server.URL, "other")
	resp, err := w.plain().Do(wrong)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("signed with another secret = %d, want 401", resp.StatusCode)
	}
}

// Each event must be one that the client library can read, with its names in place.
func TestEveryEventParses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	comment := w.AddComment(repoName, 1, "mona", "@liaison look")
	ghost := w.AddComment(repoName, 1, "", "boo")
	review := w.AddReview(repoName, 1, sim.Review{Author: "hubot", State: "APPROVED"})
	line := w.AddReviewComment(repoName, 1, sim.ReviewComment{Author: "hubot", Body: "Why?", Path: "main.go", Line: 3})
	check := w.AddCheckRun(repoName, w.pull.HeadSHA, sim.CheckRun{Name: "Liaison", AppID: appID, Conclusion: "neutral"})
	for _, test := range []struct {
		hook sim.Webhook
		ok   func(any) bool
	}{
		{w.Ping(), func(v any) bool { return v.(*github.PingEvent).GetHookID() != 0 }},
		{w.Event(repoName, 1, "closed"), func(v any) bool { return v.(*github.PullRequestEvent).GetAction() == "closed" }},
		{w.CommentEvent(comment, "created"), func(v any) bool {
			e := v.(*github.IssueCommentEvent)
			return e.GetIssue().IsPullRequest() && e.GetComment().GetID() == comment && e.GetSender().GetLogin() == "mona"
		}},
		{w.CommentEvent(ghost, "created"), func(v any) bool { return v.(*github.IssueCommentEvent).GetComment().User == nil }},
		{w.ReviewEvent(repoName, 1, review, "submitted"), func(v any) bool { return v.(*github.PullRequestReviewEvent).GetReview().GetID() == review }},
		{w.ReviewCommentEvent(repoName, 1, line, "created"), func(v any) bool { return v.(*github.PullRequestReviewCommentEvent).GetComment().GetID() == line }},
		{w.CheckRunEvent(check, "requested_action", "mona", "approve"), func(v any) bool {
			e := v.(*github.CheckRunEvent)
			return e.GetRequestedAction().Identifier == "approve" && e.GetCheckRun().GetID() == check && e.GetCheckRun().GetApp().GetID() == appID
		}},
		{w.CheckSuiteEvent(check, "rerequested", "mona"), func(v any) bool {
			s := v.(*github.CheckSuiteEvent).GetCheckSuite()
			return s.GetHeadSHA() == w.pull.HeadSHA && len(s.PullRequests) == 0 && s.HeadBranch == nil // the branch is a fork's
		}},
		{w.InstallationEvent(installation, "suspend"), func(v any) bool { return len(v.(*github.InstallationEvent).Repositories) == 1 }},
		{w.InstallationRepositoriesEvent(installation, "removed", repoName), func(v any) bool {
			return len(v.(*github.InstallationRepositoriesEvent).RepositoriesRemoved) == 1
		}},
		{w.RepositoryEvent(repoName, "renamed", "sprocket"), func(v any) bool {
			return v.(*github.RepositoryEvent).GetChanges().GetRepo().GetName().GetFrom() == "sprocket"
		}},
	} {
		v, err := github.ParseWebHook(test.hook.Event, test.hook.Body)
		if err != nil || !test.ok(v) {
			t.Errorf("%s: %v\n%s", test.hook.Event, err, test.hook.Body)
		}
		judgeWebhook(t, test.hook)
	}
}

// judgeWebhook holds a webhook to GitHub's own description, where there is one.
func judgeWebhook(t *testing.T, hook sim.Webhook) {
	t.Helper()
	judge, err := description()
	if err != nil {
		t.Fatal(err)
	}
	if judge == nil {
		return
	}
	if err := judge.Webhook(hook.Event, hook.Body); err != nil {
		t.Error(err)
	}
}

func TestWait(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	done := make(chan error, 1)
	started := make(chan struct{})
	go func() {
		first := true
		done <- w.Wait(t.Context(), func() bool {
			if first {
				first = false
				close(started)
			}
			return len(w.Comments(repoName, 1)) > 0
		})
	}()
	<-started
	w.AddComment(repoName, 1, "mona", "now")
	if err := <-done; err != nil {
		t.Errorf("Wait = %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := w.Wait(ctx, func() bool { return false }); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Wait for what never comes = %v", err)
	}
}

func TestUnknownNamesPanic(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, f := range map[string]func(){
		"repository":   func() { w.OpenPullRequest("acme/none", sim.NewPullRequest{}) },
		"pull request": func() { w.Event(repoName, 9, "opened") },
		"installation": func() { w.Suspend(1) },
		"name":         func() { w.CreateRepository("no-slash", nil) },
		"taken name":   func() { w.CreateRepository(repoName, nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("an unknown or bad %s does not panic", name)
				}
			}()
			f()
		}()
	}
}
