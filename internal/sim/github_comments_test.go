package sim_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-github/v66/github"

	"github.com/liaison-bot/liaison/internal/sim"
)

func quote(t *testing.T, s string) string {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestCommentsThatAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.token("")
	theirs := w.AddComment(repoName, 1, "mona", "Mine.")
	robot := w.AddComment(repoName, 1, "other[bot]", "<!-- liaison --> a copy of its mark")
	w.CreateRepository("acme/other", nil)
	w.Install(installation, "acme", "acme/other")
	const path = "/repos/acme/widget/issues/1/comments"
	one := func(id int64) string { return "/repos/acme/widget/issues/comments/" + itoa(id) }
	deleted := w.AddComment(repoName, 1, "mona", "Soon gone.")
	w.DeleteComment(deleted)
	for _, test := range []struct {
		name, method, path, body string
		want                     int
		message                  string
	}{
		{"no body field", "POST", path, `{}`, 422, `"body" wasn't supplied`},
		{"empty body", "POST", path, `{"body":""}`, 422, "cannot be blank"},
		{"blank body", "POST", path, `{"body":" \n"}`, 422, "cannot be blank"},
		{"null body", "POST", path, `{"body":null}`, 422, "not a string"},
		{"number as body", "POST", path, `{"body":5}`, 422, "not a string"},
		{"longest body", "POST", path, `{"body":` + quote(t, strings.Repeat("😀", 65_536)) + `}`, 201, ""},
		{"one over the longest", "POST", path, `{"body":` + quote(t, strings.Repeat("x", 65_537)) + `}`, 422, "maximum is 65536"},
		{"not JSON", "POST", path, `body=hello`, 400, "Problems parsing JSON"},
		{"two values", "POST", path, `{"body":"a"}{}`, 400, "Problems parsing JSON"},
		{"JSON, but no object", "POST", path, `["body"]`, 400, "should be a JSON object"},
		{"no such pull request", "POST", "/repos/acme/widget/issues/77/comments", `{"body":"a"}`, 404, "Not Found"},
		{"edit a person's comment", "PATCH", one(theirs), `{"body":"a"}`, 403, "not accessible by integration"},
		{"edit another App's comment", "PATCH", one(robot), `{"body":"a"}`, 403, "not accessible by integration"},
		{"delete a person's comment", "DELETE", one(theirs), ``, 403, "not accessible by integration"},
		{"edit a deleted comment", "PATCH", one(deleted), `{"body":"a"}`, 404, "Not Found"},
		{"read a deleted comment", "GET", one(deleted), ``, 404, "Not Found"},
		{"through another repository", "GET", "/repos/acme/other/issues/comments/" + itoa(theirs), ``, 404, "Not Found"},
		{"unknown reaction", "POST", one(theirs) + "/reactions", `{"content":"shrug"}`, 422, "Validation Failed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := w.call(test.method, test.path, token, test.body)
			if a.StatusCode != test.want || !strings.Contains(a.message(), test.message) {
				t.Errorf("answer = %d %.200q, want %d with %q", a.StatusCode, a.message(), test.want, test.message)
			}
			if a.StatusCode >= 400 && !strings.Contains(string(a.body), "documentation_url") {
				t.Errorf("an error without documentation_url: %s", a.body)
			}
		})
	}
	w.LockPullRequest(repoName, 1)
	if a := w.call("POST", path, token, `{"body":"a"}`); a.StatusCode != http.StatusForbidden || !strings.Contains(a.message(), "locked") {
		t.Errorf("comment on a locked pull request = %d %q, want 403", a.StatusCode, a.message())
	}
	for _, c := range w.Comments(repoName, 1) {
		if c.Edits != 0 {
			t.Errorf("comment %d was edited by a refused request", c.ID)
		}
	}
}

func TestCommentIsUpdatedInPlace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	c, _, err := w.client.Issues.CreateComment(ctx, "acme", "widget", 1, &github.IssueComment{Body: github.String("one")})
	if err != nil {
		t.Fatal(err)
	}
	w.clock.Add(time.Minute)
	c, _, err = w.client.Issues.EditComment(ctx, "acme", "widget", c.GetID(), &github.IssueComment{Body: github.String("two")})
	if err != nil || c.GetBody() != "two" || !c.GetUpdatedAt().After(c.GetCreatedAt().Time) {
		t.Errorf("edited comment = %q, created %v, updated %v, %v", c.GetBody(), c.GetCreatedAt(), c.GetUpdatedAt(), err)
	}
	a := w.call("GET", "/repos/acme/widget/issues/comments/"+itoa(c.GetID()), w.token(""), "")
	app := decode[struct {
		App struct {
			ID   int64
			Slug string
		} `json:"performed_via_github_app"`
	}](t, a).App
	if app.ID != appID || app.Slug != slug {
		t.Errorf("performed_via_github_app = %+v, want the App", app)
	}
	for i, want := range []int{201, 200} {
		_, resp, err := w.client.Reactions.CreateIssueCommentReaction(ctx, "acme", "widget", c.GetID(), "eyes")
		if err != nil || resp.StatusCode != want {
			t.Errorf("reaction %d = %v, %v; want %d", i+1, resp.StatusCode, err, want)
		}
	}
	got := w.Comments(repoName, 1)
	if len(got) != 1 || got[0].Edits != 1 || got[0].Reactions["eyes"] != 1 || got[0].AppID != appID {
		t.Errorf("comments = %+v, want one, edited once, with one reaction", got)
	}
	if _, err := w.client.Issues.DeleteComment(ctx, "acme", "widget", c.GetID()); err != nil || len(w.Comments(repoName, 1)) != 0 {
		t.Errorf("delete its own comment: %v", err)
	}
}

func TestCommentsArePagedAndByAnybody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 100 {
		w.AddComment(repoName, 1, "mona", "noise")
	}
	w.AddComment(repoName, 1, "", "written by an account that is gone")
	o := &github.IssueListCommentsOptions{ListOptions: github.ListOptions{PerPage: 100}}
	first, resp, err := w.client.Issues.ListComments(t.Context(), "acme", "widget", 1, o)
	if err != nil || len(first) != 100 || resp.NextPage != 2 || resp.LastPage != 2 {
		t.Fatalf("page 1 = %d comments, next %d, last %d, %v", len(first), resp.NextPage, resp.LastPage, err)
	}
	if !strings.Contains(resp.Header.Get("Link"), "/repositories/"+itoa(w.Repository(repoName).ID)+"/issues/1/comments?") {
		t.Errorf("Link = %s, want the repository's id in it", resp.Header.Get("Link"))
	}
	o.Page = 2
	second, resp, err := w.client.Issues.ListComments(t.Context(), "acme", "widget", 1, o)
	if err != nil || len(second) != 1 || second[0].User != nil || resp.NextPage != 0 || resp.PrevPage != 1 {
		t.Errorf("page 2 = %v, next %d, %v; want the ghost's comment alone", second, resp.NextPage, err)
	}
	a := w.call("GET", "/repos/acme/widget/issues/1/comments?page=9&per_page=x", w.token(""), "")
	if string(a.body) != "[]" {
		t.Errorf("page 9 = %s, want an empty list", a.body)
	}
	if len(decode[[]any](t, w.call("GET", "/repos/acme/widget/issues/1/comments", w.token(""), ""))) != 30 {
		t.Error("a page without per_page does not have 30 rows")
	}
}

func TestReviewsAndPeople(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.AddReview(repoName, 1, sim.Review{Author: "hubot", State: "APPROVED", Body: "Fine."})
	w.AddReview(repoName, 1, sim.Review{State: "COMMENTED", Body: "From a ghost."})
	w.AddReviewComment(repoName, 1, sim.ReviewComment{Author: "", Body: "Why?", Path: "main.go", Line: 3})
	reviews, _, err := w.client.PullRequests.ListReviews(ctx, "acme", "widget", 1, nil)
	if err != nil || len(reviews) != 2 || reviews[0].GetState() != "APPROVED" || reviews[1].User != nil {
		t.Errorf("reviews = %v, %v", reviews, err)
	}
	comments, _, err := w.client.PullRequests.ListComments(ctx, "acme", "widget", 1, nil)
	if err != nil || len(comments) != 1 || comments[0].User != nil || comments[0].GetLine() != 3 || !strings.HasPrefix(comments[0].GetDiffHunk(), "@@") {
		t.Errorf("review comments = %v, %v", comments, err)
	}
	w.SetPermission(repoName, "keeper", "maintain")
	for login, want := range map[string]string{"keeper": "write", "mona": "read"} {
		p, _, err := w.client.Repositories.GetPermissionLevel(ctx, "acme", "widget", login)
		if err != nil || p.GetPermission() != want {
			t.Errorf("permission of %s = %q, %v; want %s", login, p.GetPermission(), err, want)
		}
	}
	for _, login := range []string{"nobody", slug + "[bot]"} {
		_, _, err := w.client.Repositories.GetPermissionLevel(ctx, "acme", "widget", login)
		if got := status(t, err); got != 404 || !strings.Contains(err.Error(), "is not a user") {
			t.Errorf("permission of %s = %d %v, want 404 'is not a user'", login, got, err)
		}
	}
}
