package evidence_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/internal/sim"
)

// TestCodeowners takes the first of three places, from the base branch only.
func TestCodeowners(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		base   map[string]string
		owners []string
		path   string
		readme string
	}{
		"first place":   {map[string]string{".github/CODEOWNERS": "* @octo/one\n", "CODEOWNERS": "* @octo/two\n"}, []string{"@octo/one"}, ".github/CODEOWNERS", "Nothing."},
		"second place":  {map[string]string{"CODEOWNERS": "* @octo/two\n", "docs/CODEOWNERS": "* @octo/three\n"}, []string{"@octo/two"}, "CODEOWNERS", "Nothing."},
		"third place":   {map[string]string{"docs/CODEOWNERS": "* @octo/three\n"}, []string{"@octo/three"}, "docs/CODEOWNERS", "Nothing."},
		"none":          {map[string]string{}, nil, "", "Nothing."},
		"a folder":      {map[string]string{".github/CODEOWNERS/x": "* @octo/one\n", "CODEOWNERS": "* @octo/two\n"}, []string{"@octo/two"}, "CODEOWNERS", "Nothing."},
		"binary":        {map[string]string{"CODEOWNERS": "* @octo/two\x00\n"}, nil, "", "code owners: CODEOWNERS is not text"},
		"above 1 MB":    {map[string]string{"CODEOWNERS": strings.Repeat("# x\n", 300_000) + "* @octo/two\n"}, []string{"@octo/two"}, "CODEOWNERS", "Nothing."},
		"above 3 MB":    {map[string]string{"CODEOWNERS": strings.Repeat("# x\n", 800_000) + "* @octo/two\n"}, nil, "", "CODEOWNERS is larger than 3 MB, and GitHub ignores it"},
		"lines ignored": {map[string]string{"CODEOWNERS": "* @octo/two\n[x] @octo/two\n/ @octo/two\n"}, []string{"@octo/two"}, "CODEOWNERS", "2 lines of CODEOWNERS could not be read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.base["README.md"] = "x\n"
			w := newWorld(t, c.base)
			pr := w.open(map[string]sim.Change{"README.md": sim.Write("y\n"), ".github/CODEOWNERS": sim.Write("* @mallory\n")})
			_, got := w.build(w.request(pr.Number))
			if f := got.file("README.md"); !slices.Equal(f.Owners, c.owners) {
				t.Errorf("owners are %q, want %q", f.Owners, c.owners)
			}
			wantContains(t, got.readme, c.readme)
			if got.exists("codeowners.txt") != (c.path != "") || c.path != "" && got.text("codeowners.txt") != c.base[c.path] {
				t.Errorf("codeowners.txt exists: %t; want the text of %q", got.exists("codeowners.txt"), c.path)
			}
			wantAbsent(t, got.text("files.json"), "@mallory")
		})
	}
}

// TestBaseGainsCommitsMeanwhile is no reason to begin again, and is told.
func TestBaseGainsCommitsMeanwhile(t *testing.T) {
	t.Parallel()
	w, pr := small(t)
	reads := 0
	tip := strings.Repeat("b", 40)
	w.tamper = func(r *http.Request, resp *http.Response) {
		if !isPull(r) {
			return
		}
		if reads++; reads == 2 {
			rewrite(t, resp, func(b []byte) []byte { return []byte(strings.ReplaceAll(string(b), pr.BaseSHA, tip)) })
		}
	}
	s, got := w.build(w.request(pr.Number))
	wantContains(t, got.readme, "what the base branch has gained since: it is at "+tip+" by now")
	if s.Base != pr.BaseSHA || got.manifest.BaseSHA != pr.BaseSHA {
		t.Errorf("base is %s, want %s", s.Base, pr.BaseSHA)
	}
}

// TestHugeDiff is a diff above what is kept.
func TestHugeDiff(t *testing.T) {
	t.Parallel()
	w, pr := small(t)
	w.tamper = func(r *http.Request, resp *http.Response) {
		if pullPath.MatchString(r.URL.Path) && !isPull(r) {
			rewrite(t, resp, func([]byte) []byte { return make([]byte, 4<<20+1) })
		}
	}
	_, got := w.build(w.request(pr.Number))
	wantContains(t, got.readme, "diff.patch: larger than 4 MiB; the manifest has the patches")
	if got.exists("diff.patch") {
		t.Error("a part of the diff was written")
	}
}
