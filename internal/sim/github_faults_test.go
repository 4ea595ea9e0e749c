package sim_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-github/v66/github"

	"github.com/liaison-bot/liaison/internal/sim"
)

const commentPath = "/repos/acme/widget/issues/1/comments"

func TestFaultAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.token("")
	w.Fail(sim.Fault{Method: "POST", PathPattern: "/repos/*/*/issues/*/comments", Skip: 1, Times: 2, Status: 500})
	var got []int
	for range 5 {
		got = append(got, w.call("POST", commentPath, token, `{"body":"a"}`).StatusCode)
	}
	if want := [5]int{201, 500, 500, 201, 201}; [5]int(got) != want {
		t.Errorf("answers = %v, want %v", got, want)
	}
	if n := len(w.Comments(repoName, 1)); n != 3 {
		t.Errorf("%d comments, want those of the three that were answered well", n)
	}
	undo := w.Fail(sim.Fault{PathPattern: "/repos/acme/**", Times: -1, Status: 503})
	for range 2 {
		if a := w.call("GET", "/repos/acme/widget/pulls/1", token, ""); a.StatusCode != http.StatusServiceUnavailable || !strings.HasPrefix(a.Header.Get("Content-Type"), "text/html") {
			t.Errorf("answer = %d %s, want 503 with a page", a.StatusCode, a.Header.Get("Content-Type"))
		}
	}
	undo()
	if a := w.call("GET", "/repos/acme/widget", token, ""); a.StatusCode != http.StatusOK {
		t.Errorf("after undo = %d", a.StatusCode)
	}
	w.Fail(sim.Fault{Times: -1, Status: 500})
	w.ClearFaults()
	if a := w.call("GET", "/repos/acme/widget", token, ""); a.StatusCode != http.StatusOK {
		t.Errorf("after ClearFaults = %d", a.StatusCode)
	}
}

func TestBadGatewayAfterTheEffect(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Fail(sim.Fault{Method: "POST", PathPattern: "/repos/*/*/check-runs", Status: 502, AfterEffect: true})
	_, _, err := w.client.Checks.CreateCheckRun(t.Context(), "acme", "widget", w.checkOptions())
	if got := status(t, err); got != 502 {
		t.Errorf("answer = %d, want 502", got)
	}
	if n := len(w.CheckRuns(repoName, w.pull.HeadSHA)); n != 1 {
		t.Errorf("%d check runs, want the one that was made all the same", n)
	}
}

func TestDroppedAndHangingRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.token("")
	w.Fail(sim.Fault{Method: "POST", PathPattern: commentPath, DropConnection: true, AfterEffect: true})
	_, _, err := w.client.Issues.CreateComment(t.Context(), "acme", "widget", 1, &github.IssueComment{Body: github.String("a")})
	var refused *github.ErrorResponse
	if err == nil || errors.As(err, &refused) {
		t.Errorf("a dropped connection gave %v, want a transport error", err)
	}
	if n := len(w.Comments(repoName, 1)); n != 1 {
		t.Errorf("%d comments, want the one whose answer was lost", n)
	}

	w.Fail(sim.Fault{Hang: true})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, _, err := w.client.Repositories.Get(ctx, "acme", "widget")
		done <- err
	}()
	if err := w.Wait(t.Context(), func() bool { return hung(w) }); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("hanging request ended with %v, want the caller's cancellation", err)
	}
	if a := w.call("GET", "/repos/acme/widget", token, ""); a.StatusCode != http.StatusOK {
		t.Errorf("the request after it = %d", a.StatusCode)
	}
}

func TestCloseReleasesWhatHangs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Fail(sim.Fault{Hang: true})
	done := make(chan error, 1)
	go func() {
		_, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Get(w.URL())
		done <- err
	}()
	if err := w.Wait(t.Context(), func() bool { return hung(w) }); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; err == nil {
		t.Error("a request that hung was answered by Close")
	}
	if _, err := w.Start(); err == nil {
		t.Error("a closed GitHub starts again")
	}
}

// hung reports whether the last request got no answer.
func hung(w *world) bool {
	all := w.Requests()
	return len(all) > 0 && all[len(all)-1].Status == 0 && all[len(all)-1].Method == http.MethodGet
}

func TestHookAndGateRunBeforeTheEffect(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.token("")
	gate := make(chan struct{})
	var pushed string
	w.Fail(sim.Fault{
		Method: "POST", PathPattern: commentPath, Gate: gate,
		Hook: func(r sim.RecordedRequest) {
			if string(r.Body) == `{"body":"late"}` {
				pushed = w.Push(repoName, 1, map[string]sim.Change{"p": sim.Write("p")})
			}
		},
	})
	done := make(chan int, 1)
	go func() { done <- w.call("POST", commentPath, token, `{"body":"late"}`).StatusCode }()
	if err := w.Wait(t.Context(), func() bool { return w.PullRequest(repoName, 1).HeadSHA != w.pull.HeadSHA }); err != nil {
		t.Fatal(err)
	}
	if n := len(w.Comments(repoName, 1)); n != 0 {
		t.Errorf("%d comments while the gate is closed", n)
	}
	close(gate)
	if got := <-done; got != 201 || pushed == "" || len(w.Comments(repoName, 1)) != 1 {
		t.Errorf("after the gate: %d, pushed %q, %d comments", got, pushed, len(w.Comments(repoName, 1)))
	}
}

func TestPrimaryLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.token("")
	reset := w.clock.Now().Add(10 * time.Minute).Truncate(time.Second)
	w.SetRateLimit(2, reset)
	a := w.call("GET", "/repos/acme/widget", token, "")
	if a.StatusCode != http.StatusOK || a.Header.Get("X-RateLimit-Remaining") != "1" || a.Header.Get("X-RateLimit-Reset") != itoa(reset.Unix()) {
		t.Errorf("first = %d, %s left until %s", a.StatusCode, a.Header.Get("X-RateLimit-Remaining"), a.Header.Get("X-RateLimit-Reset"))
	}
	// What has not changed costs nothing.
	if a := w.call("GET", "/repos/acme/widget", token, "", "If-None-Match", a.Header.Get("ETag")); a.StatusCode != http.StatusNotModified || len(a.body) != 0 || a.Header.Get("X-RateLimit-Remaining") != "1" {
		t.Errorf("conditional = %d, %d bytes, %s left; want 304, none, 1", a.StatusCode, len(a.body), a.Header.Get("X-RateLimit-Remaining"))
	}
	if a := w.call("GET", "/rate_limit", token, ""); a.StatusCode != http.StatusOK || a.Header.Get("X-RateLimit-Remaining") != "1" {
		t.Errorf("asking for the limit = %d, %s left; want it free", a.StatusCode, a.Header.Get("X-RateLimit-Remaining"))
	}
	w.call("GET", "/repos/acme/widget", token, "")
	_, _, err := w.client.Repositories.Get(t.Context(), "acme", "widget")
	var limited *github.RateLimitError
	if !errors.As(err, &limited) || !limited.Rate.Reset.Equal(github.Timestamp{Time: reset}) {
		t.Errorf("without quota: %v, want a rate limit error until %v", err, reset)
	}
	w.clock.Add(11 * time.Minute)
	if a := w.call("GET", "/repos/acme/widget", token, ""); a.StatusCode != http.StatusOK || a.Header.Get("X-RateLimit-Remaining") != "4999" {
		t.Errorf("after the reset = %d, %s left", a.StatusCode, a.Header.Get("X-RateLimit-Remaining"))
	}
}

func TestSecondaryLimits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	get := func() error {
		// A client of its own each time: go-github remembers limits.
		_, c := w.as(&http.Transport{DisableKeepAlives: true}, nil)
		_, _, err := c.Repositories.Get(t.Context(), "acme", "widget")
		return err
	}
	on := func(f sim.Fault) sim.Fault {
		f.PathPattern = "/repos/**"
		return f
	}
	w.Fail(on(sim.SecondaryLimit(90 * time.Second)))
	var abuse *github.AbuseRateLimitError
	if err := get(); !errors.As(err, &abuse) || abuse.GetRetryAfter() != 90*time.Second {
		t.Errorf("with Retry-After: %v, want a secondary limit of 90 s", err)
	}
	w.Fail(on(sim.SecondaryLimit(0)))
	if err := get(); err == nil || !strings.Contains(err.Error(), "secondary rate limit") {
		t.Errorf("without headers: %v, want the message", err)
	}
	w.Fail(on(sim.TooManyRequests(0)))
	if err := get(); status(t, err) != 429 {
		t.Errorf("429: %v", err)
	}
	f := on(sim.SecondaryLimit(0))
	f.Headers = http.Header{"X-RateLimit-Remaining": {"0"}}
	w.Fail(f)
	var primary *github.RateLimitError
	if err := get(); !errors.As(err, &primary) {
		t.Errorf("secondary limit that looks like the primary one: %v", err)
	}
	if err := get(); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestRenamedRepositoryRedirects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.token("")
	id := itoa(w.Repository(repoName).ID)
	w.Rename(repoName, "acme/gadget")
	a := w.call("GET", "/repos/acme/widget/pulls/1/files?per_page=5", token, "")
	want := strings.TrimSuffix(w.URL(), "/") + "/repositories/" + id + "/pulls/1/files?per_page=5"
	if a.StatusCode != http.StatusMovedPermanently || a.Header.Get("Location") != want || !strings.Contains(a.message(), "Moved Permanently") {
		t.Errorf("old name = %d to %q, want 301 to %q", a.StatusCode, a.Header.Get("Location"), want)
	}
	pr, _, err := w.client.PullRequests.Get(t.Context(), "acme", "widget", 1) // go-github follows
	if err != nil || pr.GetBase().GetRepo().GetFullName() != "acme/gadget" {
		t.Errorf("through the redirect: %v, %v", pr.GetBase().GetRepo().GetFullName(), err)
	}
	// The trap: Go follows a 301 for a POST with a GET, which succeeds and writes nothing.
	_, resp, err := w.client.Issues.CreateComment(t.Context(), "acme", "widget", 1, &github.IssueComment{Body: github.String("lost")})
	if len(w.Comments("acme/gadget", 1)) != 0 {
		t.Errorf("a POST to the old name wrote a comment (%v, %v)", resp.Status, err)
	}
	if a := w.call("POST", "/repositories/"+id+"/issues/1/comments", token, `{"body":"kept"}`); a.StatusCode != http.StatusCreated {
		t.Errorf("POST by id = %d %s", a.StatusCode, a.body)
	}
	w.CreateRepository("acme/widget", nil) // takes the name; the App does not see it
	if a := w.call("GET", "/repos/acme/widget", token, ""); a.StatusCode != http.StatusNotFound {
		t.Errorf("a name that was taken again = %d, want 404", a.StatusCode)
	}

	kept := newWorld(t, func(o *sim.GitHubOptions) { o.WriteRedirectStatus = http.StatusTemporaryRedirect })
	kept.Rename(repoName, "acme/gadget")
	if _, _, err := kept.client.Issues.CreateComment(t.Context(), "acme", "widget", 1, &github.IssueComment{Body: github.String("kept")}); err != nil || len(kept.Comments("acme/gadget", 1)) != 1 {
		t.Errorf("through a 307: %v, %d comments", err, len(kept.Comments("acme/gadget", 1)))
	}
}

func TestRecordedRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.token("")
	w.ForgetRequests()
	w.call("GET", "/app", w.jwt(), "")
	w.call("POST", commentPath+"?x=1", token, `{"body":"a"}`)
	w.call("GET", "/app", "", "")
	got := w.Requests()
	if len(got) != 3 {
		t.Fatalf("%d requests, want 3", len(got))
	}
	for i, want := range []struct {
		method, path, query, auth, body string
		status                          int
	}{
		{"GET", "/app", "", "app", "", 200}, {"POST", commentPath, "x=1", "installation", `{"body":"a"}`, 201}, {"GET", "/app", "", "none", "", 401},
	} {
		r := got[i]
		if r.Method != want.method || r.Path != want.path || r.Query != want.query || r.Auth != want.auth || string(r.Body) != want.body || r.Status != want.status {
			t.Errorf("request %d = %s %s?%s %s %q %d, want %+v", i, r.Method, r.Path, r.Query, r.Auth, r.Body, r.Status, want)
		}
	}
	if got[1].Authorization != "Bearer "+token {
		t.Errorf("authorization = %q, want the token", got[1].Authorization)
	}
}
