package github

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/github/evidence"
	"github.com/liaison-bot/liaison/internal/sim"
)

// used counts what GitHub counted against the hourly limit.
func (w *world) used() int {
	n := 0
	for _, r := range w.Requests() {
		if r.Status != http.StatusNotModified && !strings.HasSuffix(r.Path, "/access_tokens") {
			n++
		}
	}
	return n
}

func (w *world) livePull() evidence.PullRequest {
	w.t.Helper()
	tgt, err := w.channel.app.target(w.request())
	must(w.t, err)
	pull, err := tgt.live(w.t.Context())
	must(w.t, err)
	return pull
}

// Reading a pull request again costs nothing while nothing changes, and never
// shows what was before a change.
func TestReadingAgainIsFreeAndNeverStale(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.livePull()
	used := w.used()
	for range 3 {
		if again := w.livePull(); again.Head.SHA != first.Head.SHA || again.Title != first.Title {
			t.Fatalf("it reads as another one: %+v", again)
		}
	}
	if more := w.used() - used; more != 0 {
		t.Errorf("%d requests count against the limit", more)
	}
	if asked := w.count(http.MethodGet, "/pulls/"); asked != 4 {
		t.Errorf("GitHub was asked %d times, want each time", asked)
	}
	w.Push(repoName, w.pull.Number, map[string]sim.Change{"b": {Content: "b\n"}})
	if after := w.livePull(); after.Head.SHA == first.Head.SHA {
		t.Error("the head is the one from before the push")
	}
}

// Who may do what, comments, diffs and other installations' answers are never kept.
func TestWhatIsKeptToBeAskedForAgain(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"/repos/o/r/pulls/7":                                true,
		"/api/v3/repos/o/r/pulls/7":                         true,
		"/repos/o/r/contents/.github/liaison.yml":           true,
		"/repos/o/r/contents/AGENTS.md":                     true,
		"/repos/o/r/contents/main.go":                       false,
		"/repos/o/r/pulls/7/files":                          false,
		"/repos/o/r/pulls":                                  false,
		"/repos/o/r/collaborators/mona/permission":          false,
		"/repos/o/r/issues/comments/7":                      false,
		"/repos/o/r":                                        false,
		"/app/installations/7/access_tokens":                false,
		"/app/hook/deliveries/7":                            false,
		"/repos/pulls/7":                                    false,
		"/repos/o/r/issues/7/comments?x=/repos/o/r/pulls/7": false,
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://x.example"+path, nil)
		must(t, err)
		if got := repeats(req); got != want {
			t.Errorf("%s: kept=%t", path, got)
		}
		req.Method = http.MethodPost
		if repeats(req) {
			t.Errorf("a write to %s is kept", path)
		}
	}
	diff, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://x.example/repos/o/r/pulls/7", nil)
	must(t, err)
	diff.Header.Set("Accept", "application/vnd.github.v3.diff")
	if repeats(diff) {
		t.Error("a diff is kept")
	}
}

// unchanging is a server of pages that never change, of the size that their path ends in.
type unchanging struct{ asked, unchanged int }

func (a *unchanging) RoundTrip(req *http.Request) (*http.Response, error) {
	a.asked++
	resp := &http.Response{StatusCode: http.StatusOK, Status: "200 OK", Header: http.Header{"Etag": {`W/"1"`}}, Request: req}
	var size int
	_, _ = fmt.Sscanf(req.URL.RawQuery, "size=%d", &size)
	resp.Body = io.NopCloser(strings.NewReader(strings.Repeat("x", size)))
	if req.Header.Get("If-None-Match") != "" {
		a.unchanged++
		resp.StatusCode, resp.Body = http.StatusNotModified, http.NoBody
	}
	return resp, nil
}

func TestAnswersAreKeptWithinBounds(t *testing.T) {
	t.Parallel()
	get := func(t *testing.T, v *revalidator, next *unchanging, repo repoID, number, size int) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("https://x.example/repos/o/r/pulls/%d?size=%d", number, size), nil)
		must(t, err)
		resp, err := v.through(repo, next).RoundTrip(req)
		must(t, err)
		body, err := io.ReadAll(resp.Body)
		must(t, err)
		must(t, resp.Body.Close())
		if resp.StatusCode != http.StatusOK || len(body) != size {
			t.Fatalf("status %d, %d bytes, want %d", resp.StatusCode, len(body), size)
		}
	}
	for size, kept := range map[int]int{maxKeptAnswer - 1: 1, maxKeptAnswer: 1, maxKeptAnswer + 1: 0} {
		v, next := &revalidator{}, &unchanging{}
		get(t, v, next, repoID{1, 1}, 1, size)
		get(t, v, next, repoID{1, 1}, 1, size)
		if next.unchanged != kept {
			t.Errorf("an answer of %d bytes: %d of it from memory, want %d", size, next.unchanged, kept)
		}
		get(t, v, next, repoID{2, 1}, 1, size)
		if next.unchanged != kept {
			t.Error("another installation was given it")
		}
	}
	v, next := &revalidator{}, &unchanging{}
	for n := range maxKeptAnswers + 1 {
		get(t, v, next, repoID{1, 1}, n, 1)
	}
	if v.used.Len() != maxKeptAnswers || v.bytes != maxKeptAnswers {
		t.Errorf("%d answers of %d bytes are kept", v.used.Len(), v.bytes)
	}
	get(t, v, next, repoID{1, 1}, 0, 1) // the oldest had to go
	if next.unchanged != 0 {
		t.Error("the one that was used last had to go")
	}
	for n := range maxKeptBytes/maxKeptAnswer + 2 {
		get(t, v, next, repoID{1, 1}, n, maxKeptAnswer)
	}
	if v.bytes > maxKeptBytes {
		t.Errorf("%d bytes are kept", v.bytes)
	}
}
