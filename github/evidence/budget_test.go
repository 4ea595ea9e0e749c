package evidence_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/github/evidence"
	"github.com/liaison-bot/liaison/internal/sim"
)

// TestLowQuota: at n−1 below the border only manifest and diff are fetched, at
// the border everything.
func TestLowQuota(t *testing.T) {
	t.Parallel()
	for remaining, lean := range map[int]bool{500: true, 1000: true, 1100: false} {
		w, pr := small(t)
		w.AddComment(repoName, pr.Number, "mona", "hello")
		w.SetRateLimit(remaining, testTime.Add(time.Hour))
		s, got := w.build(w.request(pr.Number))
		const why = "less than 20 % of the API quota is left"
		if lean != strings.Contains(got.readme, why) || lean != strings.Contains(s.Note, why) {
			t.Errorf("%d left: README says:\n%s", remaining, got.readme)
		}
		if !got.exists("diff.patch") || !got.manifest.Complete || got.file("a.go").Patch == "" {
			t.Errorf("%d left: diff or manifest is missing", remaining)
		}
		if lean && s.Calls != 4 {
			t.Errorf("%d left: %d calls, want the pull request twice, files and diff", remaining, s.Calls)
		}
		if f := got.file("a.go"); lean && (f.HeadMissing != why || f.BaseMissing != why) || f.Kind != "text" || !f.CountsKnown {
			t.Errorf("%d left: %+v", remaining, f)
		}
	}
}

// TestRiskiestFirst: with calls for a few contents only, those are of the files
// that matter most, and the same ones each time.
func TestRiskiestFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"README.md": "x\n"})
	pr := w.open(map[string]sim.Change{
		"docs/a.md": sim.Write("docs\n"), "vendor/x/a.go": sim.Write("vendored\n"), "a.go": sim.Write("code\n"),
		"internal/auth/login.go": sim.Write("login\n"), "go.mod": sim.Write("module x\n"),
		"db/migrations/1.sql": sim.Write("DROP\n"), ".github/workflows/x.yml": sim.Write("on: push\n"), "a_test.go": sim.Write("test\n"),
	})
	order := []string{".github/workflows/x.yml", "db/migrations/1.sql", "go.mod", "internal/auth/login.go", "a.go", "a_test.go", "docs/a.md", "vendor/x/a.go"}
	// 2 readings of the pull request, files, diff, merge base, 2 trees, commits,
	// checks, 3 of the conversation, 3 places of CODEOWNERS.
	const fixed = 15
	for n := range len(order) + 1 {
		r := w.request(pr.Number)
		r.Budget.Calls = fixed + n
		s, got := w.build(r)
		for i, path := range order {
			if f := got.file(path); (f.Head != "") != (i < n) {
				t.Errorf("%d contents: %s has %q (%s)", n, path, f.Head, f.HeadMissing)
			}
		}
		if s.Calls != fixed+n {
			t.Errorf("%d calls were made, want %d", s.Calls, fixed+n)
		}
	}
}

// TestByteBudget at n−1, n and n+1 of what is needed.
func TestByteBudget(t *testing.T) {
	t.Parallel()
	w, pr := small(t)
	whole, _ := w.build(w.request(pr.Number))
	for extra, want := range map[int64]string{-1: "the budget of %d bytes is used up", 0: "", 1: ""} {
		r := w.request(pr.Number)
		r.Budget.Bytes = whole.Bytes + extra
		s, got := w.build(r)
		if want != "" {
			want = fmt.Sprintf(want, r.Budget.Bytes)
		}
		if f := got.file("a.go"); f.BaseMissing != want || f.Head == "" {
			t.Errorf("%+d: base_missing is %q, want %q", extra, f.BaseMissing, want)
		}
		if s.Bytes > r.Budget.Bytes {
			t.Errorf("%+d: %d bytes, above the budget", extra, s.Bytes)
		}
	}
	r := w.request(pr.Number)
	r.Budget.Bytes = 1
	s, got := w.build(r)
	f := got.file("a.go")
	if s.Bytes != 0 || f.Patch != "" || f.PatchMissing == "" || got.exists("diff.patch") || !f.CountsKnown {
		t.Errorf("with a budget of one byte: %d bytes, %+v", s.Bytes, f)
	}
	wantContains(t, got.readme, "diff.patch: larger than", "1 patch: larger than", "2 contents: the budget")
}

// TestBlobsAreReused: what did not change between two turns is not fetched again.
func TestBlobsAreReused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"a.go": "package a\n", "same.txt": "A text that is moved, long enough to be seen as the same.\n"})
	pr := w.open(map[string]sim.Change{"a.go": sim.Write("package b\n"), "moved.txt": sim.Rename("same.txt", "")})
	dir := filepath.Join(w.dir, "cache")
	must(t, os.Mkdir(dir, 0o755))
	cache, err := evidence.NewDiskCache(dir, 1<<20)
	must(t, err)
	t.Cleanup(func() { must(t, cache.Close()) })
	r := w.request(pr.Number)
	r.Cache = cache
	const blobs = "/repos/octo/shop/git/blobs/"

	w.build(r)
	// Both sides of a.go, and the moved file once for both of its sides.
	if n := w.requested(blobs); n != 3 {
		t.Errorf("%d blobs were fetched at first, want 3", n)
	}
	w.Push(repoName, pr.Number, map[string]sim.Change{"a.go": sim.Write("package c\n")})
	w.ForgetRequests()
	_, got := w.build(r)
	if n := w.requested(blobs); n != 1 {
		t.Errorf("%d blobs were fetched after a push, want 1", n)
	}
	if head := got.text(got.file("a.go").Head); head != "package c\n" {
		t.Errorf("head is %q", head)
	}

	// A blob that was changed on disk is found out.
	spoil(t, dir)
	w.ForgetRequests()
	_, got = w.build(r)
	if n := w.requested(blobs); n != 3 {
		t.Errorf("%d blobs were fetched over a spoilt cache, want 3", n)
	}
	if base := got.text(got.file("a.go").Base); base != "package a\n" {
		t.Errorf("base is %q, want the true content", base)
	}
}

// TestCacheThatFails costs calls, and is told, and nothing else.
func TestCacheThatFails(t *testing.T) {
	t.Parallel()
	w, pr := small(t)
	r := w.request(pr.Number)
	r.Cache = brokenCache{}
	s, got := w.build(r)
	if got.file("a.go").Head == "" || !strings.Contains(s.Note, "the blob cache failed: disk full") {
		t.Errorf("note is %q, head %q", s.Note, got.file("a.go").Head)
	}
}

type brokenCache struct{}

func (brokenCache) Get(int64, string) ([]byte, bool) { return nil, false }
func (brokenCache) Put(int64, string, []byte) error  { return fmt.Errorf("disk full") }

func spoil(t *testing.T, dir string) {
	t.Helper()
	for _, name := range names(t, dir) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			must(t, os.WriteFile(path, []byte("spoilt"), 0o600))
		}
	}
}

// TestParallel never has more requests under way than it may.
func TestParallel(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"README.md": "x\n"})
	files := map[string]sim.Change{}
	for i := range 30 {
		files[fmt.Sprintf("f%d.go", i)] = sim.Write(fmt.Sprint(i, "\n"))
	}
	pr := w.open(files)
	r := w.request(pr.Number)
	r.Budget.Parallel = 3
	var (
		mu          sync.Mutex
		under, most int
	)
	w.around = func(next http.RoundTripper, req *http.Request) (*http.Response, error) {
		mu.Lock()
		under++
		most = max(most, under)
		mu.Unlock()
		resp, err := next.RoundTrip(req)
		mu.Lock()
		under--
		mu.Unlock()
		return resp, err
	}
	w.build(r)
	if most > 3 || most < 2 {
		t.Errorf("%d requests were under way at once, want 2 or 3", most)
	}
}
