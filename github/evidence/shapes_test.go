package evidence_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/github/evidence"
	"github.com/liaison-bot/liaison/internal/sim"
)

// TestDiffRefused is https://github.com/reviewdog/reviewdog/issues/2150: above
// 300 files there is no diff, and the list of files takes four pages.
func TestDiffRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"README.md": "x\n"})
	files := map[string]sim.Change{}
	for i := range 301 {
		files[fmt.Sprintf("pkg/f%03d.go", i)] = sim.Write(fmt.Sprintf("package pkg\n\nconst c%d = %d\n", i, i))
	}
	pr := w.open(files)
	r := w.request(pr.Number)
	r.Budget.Calls = 50
	s, got := w.build(r)

	if len(got.manifest.Files) != 301 || !got.manifest.Complete || s.Files != 301 {
		t.Errorf("manifest has %d files, complete %t; want 301, true", len(got.manifest.Files), got.manifest.Complete)
	}
	if got.exists("diff.patch") {
		t.Error("diff.patch exists, want none")
	}
	wantContains(t, got.readme, "diff.patch: GitHub answered 406, as it does above 300 files or 20,000 lines")
	last := got.file("pkg/f300.go")
	wantContains(t, got.text(last.Patch), "+const c300 = 300")
	if s.Calls > 50 {
		t.Errorf("%d calls were made, want at most 50", s.Calls)
	}
	wantContains(t, last.HeadMissing, "the budget of 50 API calls is used up")
	wantContains(t, got.readme, "contents: the budget of 50 API calls is used up")
}

// TestMoreFilesThanListed is a pull request of more files than GitHub lists.
func TestMoreFilesThanListed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"README.md": "x\n"})
	pr := w.open(map[string]sim.Change{"a.go": sim.Write("package a\n")})
	w.tamper = func(r *http.Request, resp *http.Response) {
		switch {
		case isPull(r):
			rewrite(t, resp, set("changed_files", 3500))
		case strings.HasSuffix(r.URL.Path, "/files"):
			page := r.URL.Query().Get("page")
			rows := make([]map[string]any, 100)
			for i := range rows {
				rows[i] = map[string]any{"filename": fmt.Sprintf("p%s/f%d.md", page, i), "status": "modified"}
			}
			rewrite(t, resp, func([]byte) []byte { return encode(t, rows) })
			var n int
			if _, err := fmt.Sscan(page, &n); err != nil {
				t.Error(err)
			}
			// A next page is always announced, as if there were no end.
			resp.Header.Set("Link", fmt.Sprintf(`<https://github.com/x?page=%d>; rel="next"`, n+1))
		}
	}
	r := w.request(pr.Number)
	r.Budget.Calls = 1 // pages of the manifest are read in any case
	_, got := w.build(r)
	if n := len(got.manifest.Files); n != 3000 || got.manifest.Complete {
		t.Errorf("%d files, complete %t; want 3000, false", n, got.manifest.Complete)
	}
	const want = "500 of 3500 changed files are not listed: GitHub lists at most 3000"
	if got.manifest.Missing != want {
		t.Errorf("missing is %q, want %q", got.manifest.Missing, want)
	}
	wantContains(t, got.readme, want)
}

func TestMissingPatchesAndZeroCounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"changed.go": "package a\n", "moved.go": "package m\n\n// Long enough to be seen as the same.\n", "gone.go": "package g\n// x\n"})
	pr := w.open(map[string]sim.Change{
		"changed.go": sim.Write("package b\n"),
		"to.go":      sim.Rename("moved.go", ""),
		"gone.go":    sim.Delete(),
		"new.go":     sim.Write("package n\n// y\n// z"),
		"empty.go":   sim.Write(""),
	})
	w.SetQuirks(repoName, pr.Number, sim.Quirks{ZeroCounts: true, NoPatches: true})
	_, got := w.build(w.request(pr.Number))

	for path, want := range map[string]struct {
		known        bool
		add, del     int
		patchMissing string
	}{
		"changed.go": {false, 0, 0, "GitHub sent none"},
		"to.go":      {true, 0, 0, "the content did not change"},
		"gone.go":    {true, 0, 2, "GitHub sent none"},
		"new.go":     {true, 3, 0, "GitHub sent none"},
		"empty.go":   {true, 0, 0, "the file is empty"},
	} {
		f := got.file(path)
		if f.CountsKnown != want.known || f.Additions != want.add || f.Deletions != want.del {
			t.Errorf("%s: counts +%d -%d, known %t; want +%d -%d, %t", path, f.Additions, f.Deletions, f.CountsKnown, want.add, want.del, want.known)
		}
		if !strings.HasPrefix(f.PatchMissing, want.patchMissing) {
			t.Errorf("%s: patch_missing is %q, want %q", path, f.PatchMissing, want.patchMissing)
		}
	}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	const commit = "1234567890123456789012345678901234567890"
	w := newWorld(t, map[string]string{"was-file": "text\n", "big.txt": "x"})
	pr := w.open(map[string]sim.Change{
		"text.txt":  sim.Write("text\n"),
		"nul.dat":   sim.Write("a\x00b"),
		"logo.png":  sim.Write("\x89PNG\x00"),
		"code.png":  sim.Write("not a picture\n"),
		"link":      sim.Symlink("../../etc/passwd"),
		"sub":       sim.Submodule(commit),
		"latin.txt": sim.Write("caf\xe9\n"),
		"utf16.txt": sim.Write("\xff\xfea\x00\n\x00"),
		"was-file":  {Content: "target", Mode: "120000"},
		"big.txt":   sim.Write(strings.Repeat("0123456789abcde\n", 200)),
	})
	r := w.request(pr.Number)
	r.Budget.FileBytes = 3000
	_, got := w.build(r)
	for path, want := range map[string]struct{ kind, encoding, head, missing string }{
		"text.txt":  {"text", "utf-8", "text\n", ""},
		"nul.dat":   {"binary", "", "", "binary"},
		"logo.png":  {"binary", "", "", "binary, by its name"},
		"code.png":  {"text", "utf-8", "not a picture\n", ""},
		"link":      {"symlink", "utf-8", "../../etc/passwd", ""},
		"sub":       {"submodule", "", "", "a submodule: only the id of its commit is known"},
		"latin.txt": {"text", "latin-1", "café\n", ""},
		"utf16.txt": {"text", "utf-16le", "a\n", ""},
		"was-file":  {"symlink", "utf-8", "target", ""},
		"big.txt":   {"text", "utf-8", "", "larger than 3000 bytes"},
	} {
		f := got.file(path)
		if f.Kind != want.kind || f.Encoding != want.encoding || f.HeadMissing != want.missing {
			t.Errorf("%s: kind %q, encoding %q, head_missing %q; want %q", path, f.Kind, f.Encoding, f.HeadMissing, want)
		}
		if f.Head != "" && got.text(f.Head) != want.head {
			t.Errorf("%s: head is %q, want %q", path, got.text(f.Head), want.head)
		}
	}
	if f := got.file("sub"); f.HeadMode != "160000" || f.HeadBlob != commit {
		t.Errorf("submodule has mode %q and commit %q", f.HeadMode, f.HeadBlob)
	}
	if f := got.file("was-file"); f.BaseMode != "100644" || got.text(f.Base) != "text\n" {
		t.Errorf("base of the file that became a link: mode %q, %q", f.BaseMode, got.text(f.Base))
	}
	wantContains(t, got.readme, "1 content: larger than 3000 bytes")
	names(t, got.dir) // fails if anything is neither file nor folder
}

// neutral is what may lie below pr/: names that are ours, whatever was changed.
var neutral = regexp.MustCompile(`^(README\.md|pull_request\.json|files\.json|diff\.patch|commits\.json|checks\.json|conversation\.md|codeowners\.txt|files|files/\d{4,}|files/\d{4,}/(patch\.diff|head\.txt|base\.txt))$`)

// TestNamesStayOffTheDisk gives files the names that strangers would give them.
func TestNamesStayOffTheDisk(t *testing.T) {
	t.Parallel()
	paths := []string{
		"../../escape", "/etc/passwd", `C:\evil`, "a/../b", "-rf", "..", "", "nul\x00byte", "new\nline", `q"uote'`, "CON",
		"\u202egnp.exe", "日本/機能", ".git/config", "AGENTS.md", ".cursor/rules/x.mdc", "hooks/.claude/settings.json",
		strings.Repeat("long/", 900) + "x",
	}
	w := newWorld(t, map[string]string{"README.md": "x\n"})
	pr := w.open(map[string]sim.Change{"a.go": sim.Write("package a\n")})
	w.tamper = func(r *http.Request, resp *http.Response) {
		if strings.HasSuffix(r.URL.Path, "/files") {
			rows := make([]map[string]any, 0, len(paths))
			for _, p := range paths {
				rows = append(rows, map[string]any{"filename": p, "status": "renamed", "previous_filename": "../" + p, "patch": "@@ -1 +1 @@\n-a\n+b"})
			}
			rewrite(t, resp, func([]byte) []byte { return encode(t, rows) })
		}
	}
	// Without trees, contents are asked for by name: that must hold as well.
	w.Fail(sim.Fault{PathPattern: "/repos/*/*/git/trees/**", Status: 404, Times: -1})
	_, got := w.build(w.request(pr.Number))
	for _, name := range names(t, got.dir) {
		if !neutral.MatchString(name) {
			t.Errorf("%q is on disk", name)
		}
	}
	if all := names(t, w.dir); len(all) != len(names(t, got.dir))+1 {
		t.Errorf("the workspace holds more than pr/: %q", all)
	}
	for i, p := range paths {
		if f := got.manifest.Files[i]; f.Path != p {
			t.Errorf("file %d has path %q, want %q", i+1, f.Path, p)
		}
	}
	wantContains(t, got.readme, `"AGENTS.md"`, `".cursor/rules/x.mdc"`)
	for _, req := range w.Requests() {
		if strings.Contains(req.Path, "/..") {
			t.Errorf("%s was requested", req.Path)
		}
	}
}

func TestGhostsAndGoneForks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"a.go": "package a\n"})
	pr := w.OpenPullRequest(repoName, sim.NewPullRequest{
		Title: "x", HeadDeleted: true, Branch: "機能/$(id)",
		Files: map[string]sim.Change{"a.go": sim.Write("package b\n")},
	})
	w.AddComment(repoName, pr.Number, "", "nobody")
	w.AddReview(repoName, pr.Number, sim.Review{State: "APPROVED"})
	w.AddReviewComment(repoName, pr.Number, sim.ReviewComment{Path: "a.go", Body: "line"})
	_, got := w.build(w.request(pr.Number))

	if got.pull.Author != (evidence.Actor{Login: "ghost"}) {
		t.Errorf("author is %+v, want ghost", got.pull.Author)
	}
	if h := got.pull.Head; h.Repository != "" || !h.Fork || h.Ref != "機能/$(id)" {
		t.Errorf("head is %+v, want a fork that is gone", h)
	}
	if got.pull.Body != "" {
		t.Errorf("body is %q, want none", got.pull.Body)
	}
	if f := got.file("a.go"); got.text(f.Head) != "package b\n" || got.text(f.Base) != "package a\n" {
		t.Errorf("contents are %q and %q", f.Head, f.Base)
	}
	if n := strings.Count(got.talk, "- ghost, "); n != 4 {
		t.Errorf("ghost stands %d times in the conversation, want 4:\n%s", n, got.talk)
	}
	wantContains(t, got.readme, `(branch "\u6a5f\u80fd/$(id)" of a repository that is gone)`)
}

// TestBaseIsTheMergeBase: what the base branch gained since must not look as if
// the pull request took it away.
func TestBaseIsTheMergeBase(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"a.go": "one\n"})
	fork := w.repo.HeadSHA
	pr := w.open(map[string]sim.Change{"a.go": sim.Write("one\ntwo\n")})
	w.Commit(repoName, "main", map[string]sim.Change{"a.go": sim.Write("zero\none\n")})
	tip := w.Repository(repoName).HeadSHA
	w.tamper = func(r *http.Request, resp *http.Response) {
		if isPull(r) {
			rewrite(t, resp, func(b []byte) []byte { return []byte(strings.ReplaceAll(string(b), fork, tip)) })
		}
	}
	_, got := w.build(w.request(pr.Number))
	if m := got.manifest; m.BaseSHA != tip || m.MergeBaseSHA != fork {
		t.Errorf("base %s, merge base %s; want %s, %s", m.BaseSHA, m.MergeBaseSHA, tip, fork)
	}
	if base := got.text(got.file("a.go").Base); base != "one\n" {
		t.Errorf("base is %q, want the content at the merge base", base)
	}
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	must(t, err)
	return b
}

// set returns a change of an object's key.
func set(key string, value any) func([]byte) []byte {
	return func(body []byte) []byte {
		var o map[string]any
		if err := json.Unmarshal(body, &o); err != nil {
			return body
		}
		o[key] = value
		out, err := json.Marshal(o)
		if err != nil {
			return body
		}
		return out
	}
}
