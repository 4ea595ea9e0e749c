package sim_test

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
	"github.com/google/go-github/v66/github"

	"github.com/liaison-bot/liaison/internal/sim"
)

// awkward is a repository and a change with every shape that hurts.
func awkward() (before map[string]string, change map[string]sim.Change) {
	long := strings.Repeat("line\n", 3) + "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n"
	before = map[string]string{
		"mod.txt": long, "gone.txt": "bye\n", "moved.txt": "one\ntwo\nthree\nfour\nfive\n", "same.txt": "unchanged content\n",
		"nonl.txt": "no newline", "tool.sh": "#!/bin/sh\n", "type.txt": "will be a link\n", "dir/deep/x.txt": "x\n", "dir.txt": "sorts before dir/\n",
	}
	change = map[string]sim.Change{
		"mod.txt": sim.Write(strings.Replace(long, "e\nf", "E\nf", 1)), "gone.txt": sim.Delete(),
		"new/place.txt": sim.Rename("moved.txt", "one\ntwo\nthree\nfour\nsix\n"), "same2.txt": sim.Rename("same.txt", ""),
		"nonl.txt": sim.Write("no newline still"), "tool.sh": {Content: "#!/bin/sh\n", Mode: "100755"},
		"type.txt": sim.Symlink("mod.txt"), "empty": sim.Write(""), "dir/deep/x.txt": sim.Write("y\n"),
		"with space.txt": sim.Write("s\n"), `quote".txt`: sim.Write("q\n"), "new\nline.txt": sim.Write("n\n"),
		"tab\t.txt": sim.Write("t\n"), "機能.txt": sim.Write("u\n"), "-x": sim.Write("dash\n"), `back\slash`: sim.Write("b\n"),
		"link": sim.Symlink("../outside"), "vendor/sub": sim.Submodule(strings.Repeat("ab", 20)),
	}
	return before, change
}

func (w *world) awkwardPull() *sim.PullRequest {
	before, change := awkward()
	w.CreateRepository("acme/awkward", before)
	w.Install(installation, "acme", "acme/awkward")
	return w.OpenPullRequest("acme/awkward", sim.NewPullRequest{Title: "Awkward", Author: "mona", Files: change})
}

// git runs git in a directory and returns its output.
func git(t *testing.T, dir, input string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), "git", args...)
	c.Dir = dir
	c.Stdin = strings.NewReader(input)
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// The judge is git itself: it applies the diff that the API gave to the base,
// and must end at the very tree that the API names.
func TestDiffAppliesWithGit(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	w := newWorld(t)
	pr := w.awkwardPull()
	before, _ := awkward()
	dir := t.TempDir()
	git(t, dir, "", "init", "-q")
	for name, text := range before {
		blob := git(t, dir, text, "hash-object", "-w", "--stdin")
		git(t, dir, "", "update-index", "--add", "--cacheinfo", "100644,"+blob+","+name)
	}
	ctx := t.Context()
	commit, _, err := w.client.Repositories.GetCommit(ctx, "acme", "awkward", pr.BaseSHA, nil)
	if err != nil {
		t.Fatal(err)
	}
	if tree := git(t, dir, "", "write-tree"); tree != commit.GetCommit().GetTree().GetSHA() {
		t.Fatalf("base tree = %s, git says %s", commit.GetCommit().GetTree().GetSHA(), tree)
	}
	diff, _, err := w.client.PullRequests.GetRaw(ctx, "acme", "awkward", pr.Number, github.RawOptions{Type: github.Diff})
	if err != nil {
		t.Fatal(err)
	}
	git(t, dir, diff, "apply", "--cached", "--whitespace=nowarn", "-")
	head, _, err := w.client.Repositories.GetCommit(ctx, "acme", "awkward", pr.HeadSHA, nil)
	if err != nil {
		t.Fatal(err)
	}
	if tree := git(t, dir, "", "write-tree"); tree != head.GetCommit().GetTree().GetSHA() {
		t.Errorf("head tree = %s, git says %s after applying\n%s", head.GetCommit().GetTree().GetSHA(), tree, diff)
	}
	files, _, err := gitdiff.Parse(strings.NewReader(diff))
	if err != nil || len(files) != pr.ChangedFiles+1 { // a change of type is two entries
		t.Errorf("gitdiff found %d files (%v), want %d", len(files), err, pr.ChangedFiles+1)
	}
	patch, _, err := w.client.PullRequests.GetRaw(ctx, "acme", "awkward", pr.Number, github.RawOptions{Type: github.Patch})
	if err != nil || !strings.HasPrefix(patch, "From "+pr.HeadSHA) {
		t.Errorf("patch = %.60q, %v; want format-patch text", patch, err)
	}
}

func TestPullFilesNameEveryShape(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pr := w.awkwardPull()
	w.Push("acme/awkward", pr.Number, map[string]sim.Change{"logo.png": sim.Write("\x89PNG\x00\x01")})
	files, _, err := w.client.PullRequests.ListFiles(t.Context(), "acme", "awkward", pr.Number, &github.ListOptions{PerPage: 100})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]*github.CommitFile{}
	for _, f := range files {
		got[f.GetFilename()] = f
	}
	for _, want := range []struct {
		name, status, from string
		patch              bool
		additions          int
	}{
		{"mod.txt", "modified", "", true, 1},
		{"gone.txt", "removed", "", true, 0},
		{"new/place.txt", "renamed", "moved.txt", true, 1},
		{"same2.txt", "renamed", "same.txt", false, 0},
		{"tool.sh", "modified", "", false, 0},
		{"type.txt", "changed", "", true, 1},
		{"empty", "added", "", false, 0},
		{"logo.png", "added", "", false, 0},
		{"vendor/sub", "added", "", true, 1},
		{"link", "added", "", true, 1},
		{"new\nline.txt", "added", "", true, 1},
		{"機能.txt", "added", "", true, 1},
		{"-x", "added", "", true, 1},
	} {
		f := got[want.name]
		if f == nil {
			t.Errorf("%q is not listed", want.name)
			continue
		}
		if f.GetStatus() != want.status || f.GetPreviousFilename() != want.from || (f.Patch != nil) != want.patch || f.GetAdditions() != want.additions {
			t.Errorf("%q = %s from %q, patch %t, +%d; want %s from %q, patch %t, +%d", want.name,
				f.GetStatus(), f.GetPreviousFilename(), f.Patch != nil, f.GetAdditions(), want.status, want.from, want.patch, want.additions)
		}
	}
	if _, listed := got["moved.txt"]; listed {
		t.Error("the source of a rename is listed on its own")
	}

	w.SetQuirks("acme/awkward", pr.Number, sim.Quirks{ZeroCounts: true, NoPatches: true, DiffTooLarge: true, NullUser: true})
	files, _, err = w.client.PullRequests.ListFiles(t.Context(), "acme", "awkward", pr.Number, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.GetChanges() != 0 || f.Patch != nil {
			t.Errorf("%s shows %d changes although the quirk hides them", f.GetFilename(), f.GetChanges())
		}
	}
	p, _, err := w.client.PullRequests.Get(t.Context(), "acme", "awkward", pr.Number)
	if err != nil || p.User != nil {
		t.Errorf("user = %v, %v; want null", p.GetUser(), err)
	}
	_, _, err = w.client.PullRequests.GetRaw(t.Context(), "acme", "awkward", pr.Number, github.RawOptions{Type: github.Diff})
	if got := status(t, err); got != 406 {
		t.Errorf("diff = %d, want 406", got)
	}
}

func TestDiffAndListLimits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	many := func(n int) map[string]sim.Change {
		files := map[string]sim.Change{}
		for i := range n {
			files[fmt.Sprintf("f%04d.txt", i)] = sim.Write(fmt.Sprintf("%d\n", i))
		}
		return files
	}
	for _, test := range []struct {
		name  string
		files map[string]sim.Change
		want  int
		says  string
	}{
		{"300 files", many(300), 0, ""},
		{"301 files", many(301), 406, "files (300)"},
		{"20,000 lines", map[string]sim.Change{"a.txt": sim.Write(strings.Repeat("x\n", 20_000))}, 0, ""},
		{"20,001 lines", map[string]sim.Change{"a.txt": sim.Write(strings.Repeat("x\n", 20_001))}, 406, "lines (20000)"},
		{"more than a megabyte", map[string]sim.Change{"a.txt": sim.Write(strings.Repeat(strings.Repeat("x", 100)+"\n", 11_000))}, 406, "bytes"},
	} {
		pr := w.OpenPullRequest(repoName, sim.NewPullRequest{Title: test.name, Author: "mona", Branch: strings.ReplaceAll(test.name, " ", "-"), Files: test.files})
		_, _, err := w.client.PullRequests.GetRaw(t.Context(), "acme", "widget", pr.Number, github.RawOptions{Type: github.Diff})
		if got := status(t, err); got != test.want {
			t.Errorf("%s: diff = %d, want %d", test.name, got, test.want)
		}
		if test.want != 0 && (!strings.Contains(err.Error(), "too_large") || !strings.Contains(err.Error(), test.says)) {
			t.Errorf("%s: error %q does not say too_large and %q", test.name, err, test.says)
		}
	}
	pr := w.OpenPullRequest(repoName, sim.NewPullRequest{Title: "Huge", Author: "mona", Branch: "huge", Files: many(3001)})
	if pr.ChangedFiles != 3001 {
		t.Errorf("changed files = %d, want the true 3001", pr.ChangedFiles)
	}
	for i := range 251 {
		w.Push(repoName, 1, map[string]sim.Change{"n.txt": sim.Write(strconv.Itoa(i))})
	}
	var files, commits, pages int
	o := &github.ListOptions{PerPage: 500} // more than 100 is 100
	for {
		page, resp, err := w.client.PullRequests.ListFiles(t.Context(), "acme", "widget", pr.Number, o)
		if err != nil {
			t.Fatal(err)
		}
		files, pages = files+len(page), pages+1
		if resp.NextPage == 0 {
			break
		}
		o.Page = resp.NextPage
	}
	if files != 3000 || pages != 30 {
		t.Errorf("listed %d files on %d pages, want 3000 on 30", files, pages)
	}
	o = &github.ListOptions{}
	for {
		page, resp, err := w.client.PullRequests.ListCommits(t.Context(), "acme", "widget", 1, o)
		if err != nil {
			t.Fatal(err)
		}
		commits += len(page)
		if resp.NextPage == 0 {
			break
		}
		o.Page = resp.NextPage
	}
	if commits != 250 {
		t.Errorf("listed %d commits of 252, want 250", commits)
	}
}

func TestContents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pr := w.awkwardPull()
	head := w.Push("acme/awkward", pr.Number, map[string]sim.Change{
		"big.bin": sim.Write(strings.Repeat("0123456789abcdef", 1<<16+1)), "edge.bin": sim.Write(strings.Repeat("0123456789abcdef", 1<<16)),
	})
	ctx := t.Context()
	opts := &github.RepositoryContentGetOptions{Ref: head}
	for name, want := range map[string]string{
		"new\nline.txt": "n\n", "機能.txt": "u\n", "-x": "dash\n", "with space.txt": "s\n", `back\slash`: "b\n", "dir/deep/x.txt": "y\n", "empty": "",
		"type.txt": "line\nline\nline\na\nb\nc\nd\nE\nf\ng\nh\ni\nj\n", // GitHub follows a link inside the repository
	} {
		f, _, _, err := w.client.Repositories.GetContents(ctx, "acme", "awkward", name, opts)
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		if got, err := f.GetContent(); err != nil || got != want {
			t.Errorf("%q = %q, %v; want %q", name, got, err, want)
		}
	}
	get := func(name string) *github.RepositoryContent {
		t.Helper()
		f, _, _, err := w.client.Repositories.GetContents(ctx, "acme", "awkward", name, opts)
		if err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		return f
	}
	if f := get("link"); f.GetType() != "symlink" || f.GetTarget() != "../outside" {
		t.Errorf("link = %s to %q, want a symlink to ../outside", f.GetType(), f.GetTarget())
	}
	if f := get("vendor/sub"); f.GetType() != "submodule" || f.GetSHA() != strings.Repeat("ab", 20) {
		t.Errorf("submodule = %s %s", f.GetType(), f.GetSHA())
	}
	if f := get("edge.bin"); f.GetEncoding() != "base64" {
		t.Errorf("1 MiB has encoding %q, want base64", f.GetEncoding())
	}
	big := get("big.bin")
	if big.GetEncoding() != "none" || *big.Content != "" || big.GetSize() != 1<<20+16 {
		t.Errorf("big file = encoding %q, %d bytes inline, size %d", big.GetEncoding(), len(*big.Content), big.GetSize())
	}
	raw, _, err := w.client.Git.GetBlobRaw(ctx, "acme", "awkward", big.GetSHA())
	if err != nil || len(raw) != 1<<20+16 {
		t.Errorf("blob = %d bytes, %v", len(raw), err)
	}
	_, dir, _, err := w.client.Repositories.GetContents(ctx, "acme", "awkward", "dir", opts)
	if err != nil || len(dir) != 1 || dir[0].GetType() != "dir" || dir[0].GetPath() != "dir/deep" {
		t.Errorf("directory = %v, %v", dir, err)
	}
	tree, _, err := w.client.Git.GetTree(ctx, "acme", "awkward", head, true)
	if err != nil || len(tree.Entries) < 18 {
		t.Errorf("tree = %d entries, %v", len(tree.Entries), err)
	}
	for _, test := range []struct{ name, ref string }{{"nothing.txt", head}, {"nothing.txt", ""}, {"mod.txt", "no-such-branch"}, {"mod.txt/below", head}} {
		_, _, _, err := w.client.Repositories.GetContents(ctx, "acme", "awkward", test.name, &github.RepositoryContentGetOptions{Ref: test.ref})
		if got := status(t, err); got != 404 {
			t.Errorf("%s at %q = %d, want 404", test.name, test.ref, got)
		}
	}
	a := w.call("GET", "/repos/acme/awkward/contents/mod.txt", w.token(""), "", "Accept", "application/vnd.github.raw+json")
	if !strings.HasPrefix(string(a.body), "line\n") {
		t.Errorf("raw contents = %q", a.body)
	}
	_, _, err = w.client.Git.GetBlob(ctx, "acme", "awkward", strings.Repeat("0", 40))
	if got := status(t, err); got != 404 {
		t.Errorf("unknown blob = %d, want 404", got)
	}
}

func TestBranchNamesAndDeletedForks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, branch := range []string{"fix-#2", "機能", "-x", "a@b+c", "$(id)", `q"uote'`, "deep/er"} {
		pr := w.OpenPullRequest(repoName, sim.NewPullRequest{Title: branch, Author: "mona", Branch: branch, Files: map[string]sim.Change{"b.txt": sim.Write(branch)}})
		got, _, err := w.client.PullRequests.Get(t.Context(), "acme", "widget", pr.Number)
		if err != nil || got.GetHead().GetRef() != branch {
			t.Errorf("ref = %q, %v; want %q", got.GetHead().GetRef(), err, branch)
		}
		// go-github does not escape the reference of GetCommit, so this is asked by hand.
		if a := w.call("GET", "/repos/acme/widget/commits/"+url.PathEscape(branch), w.token(""), ""); a.StatusCode != http.StatusOK {
			t.Errorf("commit of branch %q: %d %s", branch, a.StatusCode, a.body)
		}
		list, _, err := w.client.Checks.ListCheckRunsForRef(t.Context(), "acme", "widget", branch, nil)
		if err != nil || list.GetTotal() != 0 {
			t.Errorf("checks of branch %q: %v", branch, err)
		}
	}
	w.DeleteHeadRepository(repoName, 1)
	got, _, err := w.client.PullRequests.Get(t.Context(), "acme", "widget", 1)
	if err != nil || got.GetHead().Repo != nil || got.GetHead().User != nil || got.GetHead().GetSHA() != w.pull.HeadSHA {
		t.Errorf("head of a deleted fork = %v, %v; want its SHA and no repository", got.GetHead(), err)
	}
	ghost := w.OpenPullRequest(repoName, sim.NewPullRequest{Title: "From nobody", Branch: "ghost", Files: map[string]sim.Change{"g": sim.Write("g")}})
	got, _, err = w.client.PullRequests.Get(t.Context(), "acme", "widget", ghost.Number)
	if err != nil || got.User != nil || got.Body != nil {
		t.Errorf("user = %v, body = %v; want null for both", got.User, got.Body)
	}
}

func TestPullRequestLife(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	get := func() *github.PullRequest {
		t.Helper()
		p, _, err := w.client.PullRequests.Get(t.Context(), "acme", "widget", 1)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	w.ConvertToDraft(repoName, 1)
	if !get().GetDraft() {
		t.Error("not a draft after ConvertToDraft")
	}
	w.MarkReady(repoName, 1)
	w.ClosePullRequest(repoName, 1)
	if p := get(); p.GetDraft() || p.GetState() != "closed" || p.ClosedAt == nil || p.GetMerged() {
		t.Errorf("after closing: draft %t, state %s, merged %t", p.GetDraft(), p.GetState(), p.GetMerged())
	}
	open, _, err := w.client.PullRequests.List(t.Context(), "acme", "widget", nil)
	if err != nil || len(open) != 0 {
		t.Errorf("open pull requests = %d, %v; want none", len(open), err)
	}
	w.ReopenPullRequest(repoName, 1)
	forced := w.ForcePush(repoName, 1, map[string]sim.Change{"other.txt": sim.Write("o\n")})
	if p := get(); p.GetHead().GetSHA() != forced || p.GetCommits() != 1 || p.GetChangedFiles() != 1 {
		t.Errorf("after a force push: %s, %d commits, %d files", p.GetHead().GetSHA(), p.GetCommits(), p.GetChangedFiles())
	}
	w.Commit(repoName, "main", map[string]sim.Change{"base.txt": sim.Write("b\n")})
	if p := get(); p.GetChangedFiles() != 1 {
		t.Errorf("a commit to the base shows as %d changed files", p.GetChangedFiles())
	}
	cmp, _, err := w.client.Repositories.CompareCommits(t.Context(), "acme", "widget", "main", forced, nil)
	if err != nil || cmp.GetStatus() != "diverged" || cmp.GetAheadBy() != 1 || cmp.GetBehindBy() != 1 || len(cmp.Files) != 1 {
		t.Errorf("compare = %s, %d ahead, %d behind, %d files, %v", cmp.GetStatus(), cmp.GetAheadBy(), cmp.GetBehindBy(), len(cmp.Files), err)
	}
	w.MergePullRequest(repoName, 1)
	if p := get(); !p.GetMerged() || p.GetState() != "closed" || p.GetMergeCommitSHA() == "" {
		t.Errorf("after merging: merged %t, state %s", p.GetMerged(), p.GetState())
	}
	pulls, _, err := w.client.PullRequests.ListPullRequestsWithCommit(t.Context(), "acme", "widget", w.pull.HeadSHA, nil)
	if err != nil || len(pulls) != 0 {
		t.Errorf("a rewritten commit still belongs to %d pull requests (%v)", len(pulls), err)
	}
}

func TestHeadRequestHasNoBody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.call(http.MethodHead, "/repos/acme/widget", w.token(""), "")
	if a.StatusCode != http.StatusOK || len(a.body) != 0 {
		t.Errorf("HEAD = %d with %d bytes", a.StatusCode, len(a.body))
	}
}
