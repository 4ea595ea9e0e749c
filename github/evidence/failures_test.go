package evidence_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-github/v66/github"

	"github.com/liaison-bot/liaison/github/evidence"
	"github.com/liaison-bot/liaison/internal/sim"
)

// small opens a pull request with one of everything that is fetched.
func small(t *testing.T) (*world, *sim.PullRequest) {
	t.Helper()
	w := newWorld(t, map[string]string{"a.go": "package a\n", "CODEOWNERS": "* @octo/all\n"})
	pr := w.open(map[string]sim.Change{"a.go": sim.Write("package b\n")})
	return w, pr
}

// optional are the requests that a review can do without, and how README.md
// names what is missing then.
var optional = []struct{ name, pattern, readme string }{
	{"commits", "/repos/*/*/pulls/*/commits", "commits.json: "},
	{"checks", "/repos/*/*/commits/*/check-runs", "checks.json: "},
	{"reviews", "/repos/*/*/pulls/*/reviews", "reviews: "},
	{"review comments", "/repos/*/*/pulls/*/comments", "review comments: "},
	{"comments", "/repos/*/*/issues/*/comments", "comments: "},
	{"code owners", "/repos/*/*/contents/**", "code owners: "},
	{"compare", "/repos/*/*/compare/**", "the merge base: "},
	{"trees", "/repos/*/*/git/trees/**", "the git tree of head: "},
	{"blobs", "/repos/*/*/git/blobs/**", "2 contents: "},
}

// TestOptionalPartsMissing refuses one part after the other: the rest is there,
// and README.md says what is not.
func TestOptionalPartsMissing(t *testing.T) {
	t.Parallel()
	for _, part := range optional {
		for _, status := range []int{403, 404, 422, 500, 502} {
			if part.name == "code owners" && status == 404 {
				continue // no file of that name is no failure
			}
			t.Run(part.name+" "+http.StatusText(status), func(t *testing.T) {
				t.Parallel()
				w, pr := small(t)
				w.Fail(sim.Fault{PathPattern: part.pattern, Status: status, Times: -1, Body: `{"message":"no"}`})
				s, got := w.build(w.request(pr.Number))
				wantContains(t, got.readme, "- "+part.readme)
				wantContains(t, s.Note, part.readme)
				wantAbsent(t, got.readme, "Nothing.")
				if f := got.file("a.go"); f.Patch == "" || !got.exists("diff.patch") {
					t.Errorf("patch %q, diff %t", f.Patch, got.exists("diff.patch"))
				}
			})
		}
	}
}

// TestUnreadableAnswers are answers that are not what the API promises.
func TestUnreadableAnswers(t *testing.T) {
	t.Parallel()
	for _, part := range optional[:5] {
		for _, body := range []string{`"text"`, `<html>`, `[{"sha":{},"id":{}}]`, `{"check_runs":[{"started_at":"yesterday"}]}`} {
			t.Run(part.name+" "+body, func(t *testing.T) {
				t.Parallel()
				w, pr := small(t)
				w.Fail(sim.Fault{PathPattern: part.pattern, Status: 200, Times: -1, Body: body})
				_, got := w.build(w.request(pr.Number))
				wantContains(t, got.readme, "GitHub's answer could not be understood")
			})
		}
	}
}

// TestErrorsForTheCaller are refusals that concern every request: the caller has
// to see them, even where the part alone could be done without.
func TestErrorsForTheCaller(t *testing.T) {
	t.Parallel()
	later := testTime.Add(time.Hour)
	faults := map[string]sim.Fault{
		"unauthorised":           {Status: 401},
		"too many":               sim.TooManyRequests(time.Minute),
		"too many, bare":         sim.TooManyRequests(0),
		"secondary":              sim.SecondaryLimit(time.Minute),
		"secondary, bare":        sim.SecondaryLimit(0),
		"suspended":              {Status: 403, Body: `{"message":"This installation has been suspended"}`},
		"primary":                {Status: 403, Headers: http.Header{"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Limit": {"5000"}}},
		"connection dropped":     {DropConnection: true},
		"bad request, our fault": {Status: 400},
	}
	for _, part := range optional {
		for name, fault := range faults {
			t.Run(part.name+" "+name, func(t *testing.T) {
				t.Parallel()
				w, pr := small(t)
				must(t, os.Mkdir(w.dir+"/pr", 0o755))
				must(t, os.WriteFile(w.dir+"/pr/earlier", nil, 0o644))
				w.SetRateLimit(4000, later)
				fault.PathPattern, fault.Times = part.pattern, -1
				w.Fail(fault)
				_, err := evidence.Build(w.t.Context(), w.request(pr.Number))
				if err == nil {
					t.Fatal("no error")
				}
				if got := names(t, w.dir); strings.Join(got, " ") != "pr pr/earlier" {
					t.Errorf("the workspace holds %q, want what was there", got)
				}
				if name != "connection dropped" && !isClientError(err) {
					t.Errorf("no error of the client in the chain of %v (%T)", err, err)
				}
			})
		}
	}
}

func isClientError(err error) bool {
	var (
		answer    *github.ErrorResponse
		primary   *github.RateLimitError
		secondary *github.AbuseRateLimitError
	)
	return errors.As(err, &answer) || errors.As(err, &primary) || errors.As(err, &secondary)
}

// TestManifestIsNeeded: evidence without its manifest is none.
func TestManifestIsNeeded(t *testing.T) {
	t.Parallel()
	for _, fault := range []sim.Fault{{Status: 404}, {Status: 500}, {Status: 200, Body: `{}`}, {Status: 200, Body: `[{"filename":1}]`}} {
		for _, pattern := range []string{"/repos/*/*/pulls/*/files", "/repos/*/*/pulls/*"} {
			w, pr := small(t)
			fault.PathPattern = pattern
			w.Fail(fault)
			if _, err := evidence.Build(t.Context(), w.request(pr.Number)); err == nil {
				t.Errorf("no error for %d %q of %s", fault.Status, fault.Body, pattern)
			}
			if got := names(t, w.dir); len(got) != 0 {
				t.Errorf("the workspace holds %q, want nothing", got)
			}
		}
	}
}

// TestSecondPageOfTheManifest: half a manifest is none either.
func TestSecondPageOfTheManifest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"README.md": "x\n"})
	files := map[string]sim.Change{}
	for i := range 101 {
		files["docs/"+strings.Repeat("x", i+1)+".md"] = sim.Write("text\n")
	}
	pr := w.open(files)
	w.Fail(sim.Fault{PathPattern: "/repos/*/*/pulls/*/files", Status: 502, Skip: 1, Times: -1})
	var answer *github.ErrorResponse
	if _, err := evidence.Build(t.Context(), w.request(pr.Number)); !errors.As(err, &answer) {
		t.Errorf("error is %v, want GitHub's 502", err)
	}
}

func TestHeadMoves(t *testing.T) {
	t.Parallel()
	w, pr := small(t)
	var head string
	w.Fail(sim.Fault{PathPattern: "/repos/*/*/git/blobs/**", Times: 1, Hook: func(sim.RecordedRequest) {
		head = w.Push(repoName, pr.Number, map[string]sim.Change{"a.go": sim.Write("package c\n")})
	}})
	_, err := evidence.Build(t.Context(), w.request(pr.Number))
	var moved *evidence.MovedError
	if !errors.As(err, &moved) || moved.Head != head || moved.Pull.Head.SHA != head {
		t.Fatalf("error is %v, want that the head has moved to %s", err, head)
	}
	if got := names(t, w.dir); len(got) != 0 {
		t.Errorf("the workspace holds %q, want nothing", got)
	}
	s, _ := w.build(w.request(pr.Number))
	if s.Head != head {
		t.Errorf("head is %s, want %s", s.Head, head)
	}
}

func TestHeadIsNotTheExpectedOne(t *testing.T) {
	t.Parallel()
	w, pr := small(t)
	r := w.request(pr.Number)
	r.Head = strings.Repeat("a", 40)
	var moved *evidence.MovedError
	if _, err := evidence.Build(t.Context(), r); !errors.As(err, &moved) || moved.Head != pr.HeadSHA {
		t.Errorf("error is %v, want that the head is %s", err, pr.HeadSHA)
	}
	if n := len(w.Requests()); n != 1 {
		t.Errorf("%d requests were made, want 1", n)
	}
}

func TestAnotherRepositoryUnderTheName(t *testing.T) {
	t.Parallel()
	w, pr := small(t)
	r := w.request(pr.Number)
	r.RepoID++
	var other *evidence.RepositoryError
	if _, err := evidence.Build(t.Context(), r); !errors.As(err, &other) || other.Want != r.RepoID || other.Got != w.repo.ID {
		t.Errorf("error is %v, want a RepositoryError", err)
	}
}

// TestRetargeted changes the base branch meanwhile: once is built anew, and a
// base that does not stand still is an error.
func TestRetargeted(t *testing.T) {
	t.Parallel()
	for _, stands := range []bool{true, false} {
		w, pr := small(t)
		reads := 0
		w.tamper = func(r *http.Request, resp *http.Response) {
			if !isPull(r) {
				return
			}
			if reads++; reads == 1 || !stands && reads%2 == 1 {
				rewrite(t, resp, func(b []byte) []byte {
					return []byte(strings.Replace(string(b), `"ref":"main"`, `"ref":"other"`, 1))
				})
			}
		}
		s, err := evidence.Build(t.Context(), w.request(pr.Number))
		if stands && (err != nil || s.Pull.Base.Ref != "main" || reads != 4) {
			t.Errorf("base %q after %d reads: %v", s.Pull.Base.Ref, reads, err)
		}
		if !stands && err == nil {
			t.Error("no error although the base does not stand still")
		}
	}
}

// TestClosedMeanwhile tells the caller what the pull request has become.
func TestClosedMeanwhile(t *testing.T) {
	t.Parallel()
	w, pr := small(t)
	w.Fail(sim.Fault{PathPattern: "/repos/*/*/git/blobs/**", Hook: func(sim.RecordedRequest) { w.ClosePullRequest(repoName, pr.Number) }})
	s, got := w.build(w.request(pr.Number))
	if s.Pull.State != "closed" || got.pull.State != "open" {
		t.Errorf("state is %q, was %q; want closed, open", s.Pull.State, got.pull.State)
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	w, pr := small(t)
	ctx, cancel := context.WithCancel(t.Context())
	w.Fail(sim.Fault{PathPattern: "/repos/*/*/git/blobs/**", Hang: true, Times: -1, Hook: func(sim.RecordedRequest) { cancel() }})
	if _, err := evidence.Build(ctx, w.request(pr.Number)); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want that it was cancelled", err)
	}
	if got := names(t, w.dir); len(got) != 0 {
		t.Errorf("the workspace holds %q, want nothing", got)
	}
}

func TestBadRequests(t *testing.T) {
	t.Parallel()
	w, pr := small(t)
	for name, change := range map[string]func(*evidence.Request){
		"owner with a slash":  func(r *evidence.Request) { r.Owner = "a/b" },
		"repository dot dot":  func(r *evidence.Request) { r.Repo = ".." },
		"no owner":            func(r *evidence.Request) { r.Owner = "" },
		"no number":           func(r *evidence.Request) { r.Number = 0 },
		"no client":           func(r *evidence.Request) { r.Client = nil },
		"no folder":           func(r *evidence.Request) { r.Dir = "" },
		"folder is not there": func(r *evidence.Request) { r.Dir += "/none" },
	} {
		r := w.request(pr.Number)
		change(&r)
		if _, err := evidence.Build(t.Context(), r); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
