package evidence_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/liaison-bot/liaison/github/evidence"
)

// TestEvidenceIsReplacedWhole: nothing of an earlier turn is left, and nothing
// but pr/ is touched.
func TestEvidenceIsReplacedWhole(t *testing.T) {
	t.Parallel()
	w, pr := small(t)
	for _, name := range []string{"pr/files/0009", ".pr-stale/files", "notes"} {
		must(t, os.MkdirAll(filepath.Join(w.dir, name), 0o755))
		must(t, os.WriteFile(filepath.Join(w.dir, name, "old.txt"), nil, 0o644))
	}
	_, got := w.build(w.request(pr.Number))
	if got.exists("files/0009") {
		t.Error("a file of the earlier turn is still there")
	}
	entries, err := os.ReadDir(w.dir)
	must(t, err)
	var top []string
	for _, e := range entries {
		top = append(top, e.Name())
	}
	if !slices.Equal(top, []string{"notes", "pr"}) {
		t.Errorf("the workspace holds %q, want notes and pr", top)
	}
}

// TestLinksInTheWorkspace: an agent may have left links; nothing is written or
// removed where they lead.
func TestLinksInTheWorkspace(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("symbolic links need a privilege there")
	}
	for _, link := range []string{"pr", ".pr-stale"} {
		w, pr := small(t)
		outside := t.TempDir()
		must(t, os.WriteFile(filepath.Join(outside, "README.md"), []byte("mine"), 0o644))
		must(t, os.Symlink(outside, filepath.Join(w.dir, link)))
		w.build(w.request(pr.Number))
		if got := names(t, outside); !slices.Equal(got, []string{"README.md"}) {
			t.Errorf("%s: outside lie %q", link, got)
		}
		if content, err := os.ReadFile(filepath.Join(outside, "README.md")); err != nil || string(content) != "mine" {
			t.Errorf("%s: outside stands %q, %v", link, content, err)
		}
	}
}

func TestLivePull(t *testing.T) {
	t.Parallel()
	w, pr := small(t)
	p, err := evidence.LivePull(t.Context(), w.client, "octo", "shop", pr.Number)
	must(t, err)
	if p.Head.SHA != pr.HeadSHA || p.Title != "A change" || p.State != "open" {
		t.Errorf("pull request is %+v", p)
	}
	if _, err := evidence.LivePull(t.Context(), w.client, "octo", "../shop", 1); err == nil {
		t.Error("no error for a name that GitHub does not give")
	}
}
