package sim_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-github/v66/github"

	"github.com/liaison-bot/liaison/internal/sim"
)

const reviewsPath = "/repos/acme/widget/pulls/1/reviews"

func TestReviewsThatAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	own := w.OpenPullRequest(repoName, sim.NewPullRequest{
		Title: "Our own", Author: slug + "[bot]", Branch: "own", Files: map[string]sim.Change{"own.go": sim.Write("package own\n")},
	})
	ownPath := "/repos/acme/widget/pulls/" + itoa(int64(own.Number)) + "/reviews"
	token := w.token("")
	line := func(fields string) string { return `{"event":"COMMENT","body":"b","comments":[{` + fields + `}]}` }
	for _, test := range []struct {
		name, path, body string
		want             int
		message          string
	}{
		{"comment without a body", reviewsPath, `{"event":"COMMENT"}`, 422, "Body can't be blank"},
		{"request for changes without a body", reviewsPath, `{"event":"REQUEST_CHANGES","body":" "}`, 422, "Body can't be blank"},
		{"approval without a body", reviewsPath, `{"event":"APPROVE"}`, 200, ""},
		{"unknown event", reviewsPath, `{"event":"MERGE","body":"b"}`, 422, "not a member"},
		{"body that is no text", reviewsPath, `{"event":"COMMENT","body":7}`, 422, "not a string"},
		{"body one too long", reviewsPath, `{"event":"COMMENT","body":` + quote(t, strings.Repeat("é", 65_537)) + `}`, 422, "too long"},
		{"longest body", reviewsPath, `{"event":"COMMENT","body":` + quote(t, strings.Repeat("é", 65_536)) + `}`, 200, ""},
		{"own pull request approved", ownPath, `{"event":"APPROVE"}`, 422, "Can not approve your own pull request"},
		{"changes of an own one requested", ownPath, `{"event":"REQUEST_CHANGES","body":"b"}`, 422, "Can not request changes on your own"},
		{"own pull request commented", ownPath, `{"event":"COMMENT","body":"b"}`, 200, ""},
		{"commit of elsewhere", reviewsPath, `{"event":"COMMENT","body":"b","commit_id":"` + strings.Repeat("a", 40) + `"}`, 422, "not part of the pull request"},
		{"no such pull request", "/repos/acme/widget/pulls/77/reviews", `{"event":"COMMENT","body":"b"}`, 404, "Not Found"},
		{"line in the diff", reviewsPath, line(`"path":"main.go","line":3,"body":"b"`), 200, ""},
		{"removed line", reviewsPath, line(`"path":"main.go","line":3,"side":"LEFT","body":"b"`), 200, ""},
		{"line outside the diff", reviewsPath, line(`"path":"main.go","line":99,"body":"b"`), 422, "Line could not be resolved"},
		{"file outside the diff", reviewsPath, line(`"path":"README.md","line":1,"body":"b"`), 422, "Path could not be resolved"},
		{"range", reviewsPath, line(`"path":"main.go","start_line":1,"line":3,"side":"RIGHT","start_side":"RIGHT","body":"b"`), 200, ""},
		{"range of one line", reviewsPath, line(`"path":"main.go","start_line":3,"line":3,"body":"b"`), 422, "Start line must precede"},
		{"range that begins outside", reviewsPath, line(`"path":"main.go","start_line":-5,"line":3,"body":"b"`), 422, "Start line could not be resolved"},
		{"line comment without text", reviewsPath, line(`"path":"main.go","line":3,"body":""`), 422, "Body can't be blank"},
		{"line comment without a line", reviewsPath, line(`"path":"main.go","body":"b"`), 422, "not an integer"},
		{"line comment without a path", reviewsPath, line(`"line":3,"body":"b"`), 422, "wasn't supplied"},
		{"one bad line of two", reviewsPath, line(`"path":"main.go","line":3,"body":"b"},{"path":"main.go","line":99,"body":"b"`), 422, "Line could not be resolved"},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := len(w.ReviewComments(repoName, 1))
			a := w.call("POST", test.path, token, test.body)
			if a.StatusCode != test.want || !strings.Contains(a.message(), test.message) {
				t.Errorf("answer = %d %.200q, want %d with %q", a.StatusCode, a.message(), test.want, test.message)
			}
			if a.StatusCode != http.StatusOK && len(w.ReviewComments(repoName, 1)) != before {
				t.Error("a refused review left comments behind")
			}
		})
	}
	if a := w.call("POST", reviewsPath, w.token(`{"permissions":{"pull_requests":"read"}}`), `{"event":"COMMENT","body":"b"}`); a.StatusCode != http.StatusForbidden {
		t.Errorf("with a token that only reads: %d", a.StatusCode)
	}
	w.LockPullRequest(repoName, 1)
	if a := w.call("POST", reviewsPath, token, `{"event":"COMMENT","body":"b"}`); a.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(a.message(), "lock prevents review") {
		t.Errorf("on a locked pull request: %d %s", a.StatusCode, a.message())
	}
}

func TestPendingReviews(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	draft := &github.PullRequestReviewRequest{Body: github.String("b"), Comments: []*github.DraftReviewComment{
		{Path: github.String("main.go"), Line: github.Int(3), Body: github.String("hm")},
	}}
	r, _, err := w.client.PullRequests.CreateReview(ctx, "acme", "widget", 1, draft)
	if err != nil || r.GetState() != "PENDING" {
		t.Fatalf("created %v, %v", r, err)
	}
	if list, _, err := w.client.PullRequests.ListComments(ctx, "acme", "widget", 1, nil); err != nil || len(list) != 0 {
		t.Errorf("comments of a pending review are listed: %v, %v", list, err)
	}
	draft.Event = github.String("COMMENT")
	if _, _, err := w.client.PullRequests.CreateReview(ctx, "acme", "widget", 1, draft); status(t, err) != 422 || !strings.Contains(err.Error(), "one pending review") {
		t.Errorf("a second one beside it: %v", err)
	}
	if list, _, err := w.client.PullRequests.ListReviewComments(ctx, "acme", "widget", 1, r.GetID(), nil); err != nil || len(list) != 1 {
		t.Errorf("its own comments: %v, %v", list, err)
	}
	if _, _, err := w.client.PullRequests.DeletePendingReview(ctx, "acme", "widget", 1, r.GetID()); err != nil || len(w.Reviews(repoName, 1)) != 0 {
		t.Errorf("delete: %v", err)
	}
	draft.Event = nil
	if r, _, err = w.client.PullRequests.CreateReview(ctx, "acme", "widget", 1, draft); err != nil {
		t.Fatal(err)
	}
	submitted, _, err := w.client.PullRequests.SubmitReview(ctx, "acme", "widget", 1, r.GetID(), &github.PullRequestReviewRequest{Event: github.String("APPROVE")})
	if err != nil || submitted.GetState() != "APPROVED" || submitted.GetBody() != "b" {
		t.Errorf("submitted %v, %v", submitted, err)
	}
	if _, _, err := w.client.PullRequests.DeletePendingReview(ctx, "acme", "widget", 1, r.GetID()); status(t, err) != 422 {
		t.Errorf("delete a submitted one: %v", err)
	}
	if got, _, err := w.client.PullRequests.GetReview(ctx, "acme", "widget", 1, r.GetID()); err != nil || got.GetCommitID() != w.pull.HeadSHA {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestOnlyVerdictsAreDismissed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.token("")
	message := `{"message":"The head moved on."}`
	for state, want := range map[string]int{"APPROVED": 200, "CHANGES_REQUESTED": 200, "COMMENTED": 422, "DISMISSED": 422} {
		id := w.AddReview(repoName, 1, sim.Review{Author: "hubot", State: state, Body: "b"})
		if a := w.call("PUT", reviewsPath+"/"+itoa(id)+"/dismissals", token, message); a.StatusCode != want {
			t.Errorf("dismiss %s: %d %s", state, a.StatusCode, a.message())
		}
		if a := w.call("PUT", reviewsPath+"/"+itoa(id)+"/dismissals", token, `{}`); a.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("dismiss without a message: %d", a.StatusCode)
		}
	}
	if a := w.call("PUT", reviewsPath+"/1/dismissals", token, message); a.StatusCode != http.StatusNotFound {
		t.Errorf("dismiss nothing: %d", a.StatusCode)
	}
	if r := w.Reviews(repoName, 1); !slices.ContainsFunc(r, func(r sim.Review) bool { return r.State == "DISMISSED" && r.Dismissal == "The head moved on." }) {
		t.Errorf("reviews: %+v", r)
	}
}

func TestThreads(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	first := w.AddReviewComment(repoName, 1, sim.ReviewComment{Author: "hubot", Body: "Why?", Path: "main.go", Line: 3})
	answer, hooks := w.ReplyToThread(first, "mona", "Because.")
	for i, event := range []string{"pull_request_review", "pull_request_review_comment"} {
		if hooks[i].Event != event {
			t.Errorf("delivery %d is %s, want %s", i, hooks[i].Event, event)
		}
		judgeWebhook(t, hooks[i])
	}
	path := func(n int64) string { return "/repos/acme/widget/pulls/1/comments/" + itoa(n) + "/replies" }
	token := w.token("")
	a := w.call("POST", path(first), token, `{"body":"I see."}`)
	reply := decode[github.PullRequestComment](t, a)
	if a.StatusCode != http.StatusCreated || reply.GetInReplyTo() != first || reply.GetPath() != "main.go" {
		t.Fatalf("answer: %d %s", a.StatusCode, a.body)
	}
	for name, test := range map[string]struct {
		id   int64
		body string
		want int
	}{
		"to an answer":    {answer, `{"body":"b"}`, 422},
		"to nothing":      {1, `{"body":"b"}`, 404},
		"without a body":  {first, `{}`, 422},
		"with a blank":    {first, `{"body":" "}`, 422},
		"with a long one": {first, `{"body":` + quote(t, strings.Repeat("x", 65_537)) + `}`, 422},
	} {
		if a := w.call("POST", path(test.id), token, test.body); a.StatusCode != test.want {
			t.Errorf("answer %s: %d %s", name, a.StatusCode, a.message())
		}
	}
	edited, _, err := w.client.PullRequests.EditComment(ctx, "acme", "widget", reply.GetID(), &github.PullRequestComment{Body: github.String("Now I see.")})
	if err != nil || edited.GetBody() != "Now I see." {
		t.Errorf("edited %v, %v", edited, err)
	}
	if _, _, err := w.client.PullRequests.EditComment(ctx, "acme", "widget", first, &github.PullRequestComment{Body: github.String("x")}); status(t, err) != 403 {
		t.Errorf("edit a person's comment: %v", err)
	}
	if one, _, err := w.client.PullRequests.GetComment(ctx, "acme", "widget", answer); err != nil || one.GetInReplyTo() != first {
		t.Errorf("got %v, %v", one, err)
	}
	if _, err := w.client.PullRequests.DeleteComment(ctx, "acme", "widget", reply.GetID()); err != nil || len(w.ReviewComments(repoName, 1)) != 2 {
		t.Errorf("delete: %v", err)
	}
	w.LockPullRequest(repoName, 1)
	if a := w.call("POST", path(first), token, `{"body":"b"}`); a.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("answer on a locked pull request: %d", a.StatusCode)
	}
}

// A comment goes along with its line, and is outdated once the line is another.
func TestCommentsFollowTheirLines(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.AddReviewComment(repoName, 1, sim.ReviewComment{Author: "hubot", Body: "Why?", Path: "main.go", Line: 3})
	old := w.pull.HeadSHA
	for _, step := range []struct {
		text string
		line int
	}{
		{"package main\n\nfunc main() { println(\"hello\") }\n", 3},
		{"package main\n\n// A greeting.\n\nfunc main() { println(\"hello\") }\n", 5},
		{"// Says hello.\npackage main\nfunc main() { println(\"hello\") }\n", 3},
		{"package main\n\nfunc main() { println(\"goodbye\") }\n", 0},
		{"package main\n\nfunc main() {}\n", 0}, // not part of the diff any more
	} {
		w.Push(repoName, 1, map[string]sim.Change{"main.go": sim.Write(step.text)})
		if got := w.ReviewComments(repoName, 1)[0].Line; got != step.line {
			t.Errorf("line %d in %q, want %d", got, step.text, step.line)
		}
	}
	list, _, err := w.client.PullRequests.ListComments(t.Context(), "acme", "widget", 1, nil)
	if err != nil || len(list) != 1 || list[0].Line != nil || list[0].GetOriginalLine() != 3 || list[0].GetCommitID() != old {
		t.Errorf("outdated: %v, %v", list, err)
	}
}

func TestReactionsToEverything(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.token("")
	talk := w.AddComment(repoName, 1, "mona", "hi")
	line := w.AddReviewComment(repoName, 1, sim.ReviewComment{Author: "mona", Body: "b", Path: "main.go", Line: 3})
	for _, path := range []string{"issues/1", "issues/comments/" + itoa(talk), "pulls/comments/" + itoa(line)} {
		path = "/repos/acme/widget/" + path + "/reactions"
		for i, want := range []int{http.StatusCreated, http.StatusOK} {
			if a := w.call("POST", path, token, `{"content":"eyes"}`); a.StatusCode != want {
				t.Errorf("%s: time %d gives %d %s", path, i+1, a.StatusCode, a.message())
			}
		}
		if a := w.call("POST", path, token, `{"content":"wink"}`); a.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("%s: unknown content gives %d", path, a.StatusCode)
		}
		list := decode[[]github.Reaction](t, w.call("GET", path+"?content=eyes", token, ""))
		if len(list) != 1 {
			t.Fatalf("%s: %v", path, list)
		}
		for _, want := range []int{http.StatusNoContent, http.StatusNotFound} {
			if a := w.call("DELETE", path+"/"+itoa(list[0].GetID()), token, ""); a.StatusCode != want {
				t.Errorf("%s: delete gives %d, want %d", path, a.StatusCode, want)
			}
		}
	}
	w.React(talk, "mona", "heart")
	theirs := decode[[]github.Reaction](t, w.call("GET", "/repos/acme/widget/issues/comments/"+itoa(talk)+"/reactions", token, ""))
	if a := w.call("DELETE", "/repos/acme/widget/issues/comments/"+itoa(talk)+"/reactions/"+itoa(theirs[0].GetID()), token, ""); a.StatusCode != http.StatusNotFound {
		t.Errorf("delete a person's reaction: %d", a.StatusCode)
	}
	for _, path := range []string{"issues/77", "issues/comments/1", "pulls/comments/1"} {
		if a := w.call("POST", "/repos/acme/widget/"+path+"/reactions", token, `{"content":"eyes"}`); a.StatusCode != http.StatusNotFound {
			t.Errorf("react to nothing at %s: %d", path, a.StatusCode)
		}
	}
}

func TestWhatPeopleWriteComesAsDeliveries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, comment := w.Comment(repoName, 1, "mona", "@liaison why?")
	_, review := w.SubmitReview(repoName, 1, sim.Review{Author: "hubot", Body: "See below."},
		sim.ReviewComment{Author: "hubot", Body: "Here.", Path: "main.go", Line: 3})
	var events []string
	for _, hook := range append([]sim.Webhook{comment}, review...) {
		judgeWebhook(t, hook)
		events = append(events, hook.Event)
	}
	if want := []string{"issue_comment", "pull_request_review", "pull_request_review_comment"}; !slices.Equal(events, want) {
		t.Errorf("events %v, want %v", events, want)
	}
	if !strings.Contains(string(review[0].Body), `"state":"commented"`) {
		t.Errorf("a webhook spells the state otherwise than the API: %s", review[0].Body)
	}
}
