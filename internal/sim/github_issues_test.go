package sim_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/internal/sim"
)

func TestIssues(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.token("")
	const repo = "acme/widget"
	issue, opened := w.OpenIssue(repo, sim.NewIssue{Title: "Broken", Author: "mona", Labels: []string{"bug"}})
	pull := w.OpenPullRequest(repo, sim.NewPullRequest{Title: "Fix it", Author: "mona", Branch: "fix", Files: map[string]sim.Change{"b.go": sim.Write("package b\n")}})
	if pull.Number != issue.Number+1 || opened.Event != "issues" {
		t.Errorf("issue %d, pull request %d, event %q", issue.Number, pull.Number, opened.Event)
	}
	w.MentionIssue(repo, issue.Number, pull.Number)
	id, hook := w.Comment(repo, issue.Number, "hubot", "Me too.")
	var told struct {
		Issue struct {
			Number      int
			PullRequest *struct{} `json:"pull_request"`
		}
	}
	if err := json.Unmarshal(hook.Body, &told); err != nil || told.Issue.Number != issue.Number || told.Issue.PullRequest != nil {
		t.Errorf("the comment's event tells of %+v, %v", told, err)
	}
	labeled := w.LabelIssue(repo, issue.Number, "mona", "help wanted")
	if labeled.Event != "issues" || len(w.Issue(repo, issue.Number).Labels) != 2 {
		t.Errorf("event %q, labels %q", labeled.Event, w.Issue(repo, issue.Number).Labels)
	}
	w.EditIssue(repo, issue.Number, "Broken again", "See above.")
	w.CloseIssue(repo, issue.Number)
	gone, _ := w.OpenIssue(repo, sim.NewIssue{Title: "Spam"})
	w.DeleteIssue(repo, gone.Number)

	path := func(format string, args ...any) string { return "/repos/acme/widget/" + fmt.Sprintf(format, args...) }
	for _, test := range []struct {
		path string
		want int
		in   string
	}{
		{path("issues/%d", issue.Number), 200, `"title":"Broken again"`},
		{path("issues/%d", issue.Number), 200, `"state_reason":"completed"`},
		{path("issues/%d", pull.Number), 200, `"pull_request":{`},
		{path("issues?state=all"), 200, `"title":"Broken again"`},
		{path("issues/%d/labels", issue.Number), 200, `"name":"help wanted"`},
		{path("issues/%d/timeline", issue.Number), 200, `"title":"Fix it"`},
		{path("issues/%d/comments", issue.Number), 200, itoa(id)},
		{path("pulls/%d", issue.Number), 404, ""},
		{path("issues/%d", gone.Number), 410, "deleted"},
		{path("issues/%d/comments", gone.Number), 410, "deleted"},
		{path("issues/999"), 404, ""},
	} {
		a := w.call("GET", test.path, token, "")
		if a.StatusCode != test.want || !strings.Contains(strings.ReplaceAll(string(a.body), `": `, `":`), test.in) {
			t.Errorf("%s = %d %s", test.path, a.StatusCode, a.body)
		}
	}
	if a := w.call("POST", path("issues/%d/comments", issue.Number), token, `{"body":"An answer."}`); a.StatusCode != http.StatusCreated {
		t.Errorf("a comment on an issue = %d %s", a.StatusCode, a.body)
	}
	if n := len(w.Comments(repo, issue.Number)); n != 2 {
		t.Errorf("%d comments", n)
	}
}
