package evidence_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/internal/sim"
)

// TestWithoutTrees reads contents by path when the trees cannot be read, or not
// whole, as happens in very large repositories.
func TestWithoutTrees(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*world){
		"refused": func(w *world) {
			w.Fail(sim.Fault{PathPattern: "/repos/*/*/git/trees/**", Status: 404, Times: -1})
		},
		"truncated": func(w *world) {
			w.tamper = func(r *http.Request, resp *http.Response) {
				if strings.Contains(r.URL.Path, "/git/trees/") {
					rewrite(t, resp, func([]byte) []byte { return []byte(`{"tree":[],"truncated":true}`) })
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			large := strings.Repeat("0123456789abcde\n", 70_000) // above 1 MB
			w := newWorld(t, map[string]string{"odd name?#%.txt": "old\n", "gone.txt": "gone\n", "from.txt": "A text that is moved, and long enough.\n"})
			pr := w.open(map[string]sim.Change{
				"odd name?#%.txt": sim.Write("new\n"),
				"gone.txt":        sim.Delete(),
				"to.txt":          sim.Rename("from.txt", "A text that is moved, and long enough.\nAnd changed.\n"),
				"large.txt":       sim.Write(large),
				"sub":             sim.Submodule("1234567890123456789012345678901234567890"),
				"link":            sim.Symlink("nowhere"),
				"-rf":             sim.Write("dash\n"),
			})
			lose(w)
			_, got := w.build(w.request(pr.Number))
			wantContains(t, got.readme, "the git tree of head: ", "the git tree of base: ")
			for path, want := range map[string][2]string{
				"odd name?#%.txt": {"new\n", "old\n"}, "gone.txt": {"", "gone\n"}, "large.txt": {large, ""}, "-rf": {"dash\n", ""},
				"to.txt": {"A text that is moved, and long enough.\nAnd changed.\n", "A text that is moved, and long enough.\n"},
				"link":   {"nowhere", ""},
			} {
				f := got.file(path)
				for side, file := range [2]string{f.Head, f.Base} {
					content := ""
					if file != "" {
						content = got.text(file)
					}
					if content != want[side] {
						t.Errorf("%s: side %d has %.40q, want %.40q (%s; %s)", path, side, content, want[side], f.HeadMissing, f.BaseMissing)
					}
				}
			}
			if f := got.file("sub"); f.Kind != "submodule" || f.Head != "" || !strings.HasPrefix(f.HeadMissing, "a submodule") {
				t.Errorf("submodule: %+v", f)
			}
			if f := got.file("link"); f.Kind != "symlink" {
				t.Errorf("symlink: %+v", f)
			}
			if f := got.file("gone.txt"); f.Size != 0 || f.BaseBlob == "" {
				t.Errorf("removed file: %+v", f)
			}
		})
	}
}

// TestFollowedLinks: the contents API gives what a link leads to, which is not
// what was changed.
func TestFollowedLinks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"README.md": "x\n", "target.txt": "the target's text\n"})
	pr := w.open(map[string]sim.Change{"link": sim.Symlink("target.txt")})
	w.Fail(sim.Fault{PathPattern: "/repos/*/*/git/trees/**", Status: 404, Times: -1})
	_, got := w.build(w.request(pr.Number))
	f := got.file("link")
	if f.Head != "" && strings.Contains(got.text(f.Head), "the target's text") {
		t.Errorf("the content of the link is that of another file: %+v", f)
	}
}

// TestTreeThatLacksAFile is a manifest and a tree that do not fit each other.
func TestTreeThatLacksAFile(t *testing.T) {
	t.Parallel()
	w, pr := small(t)
	w.tamper = func(r *http.Request, resp *http.Response) {
		if strings.Contains(r.URL.Path, "/git/trees/") {
			rewrite(t, resp, func([]byte) []byte {
				return []byte(`{"tree":[null,{"path":null},{"path":"a.go","type":"blob","sha":"../x"}],"truncated":false}`)
			})
		}
	}
	_, got := w.build(w.request(pr.Number))
	if f := got.file("a.go"); f.HeadMissing != "not found in the tree of head" || f.Patch == "" {
		t.Errorf("file is %+v", f)
	}
	wantContains(t, got.readme, "1 content: not found in the tree of base")
}
