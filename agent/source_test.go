package agent

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// watched is a folder on the disk with its source, under a clock of its own.
type watched struct {
	*testing.T
	dir    string
	now    time.Time
	log    bytes.Buffer
	source *Source
}

func watch(t *testing.T, files map[string]string) *watched {
	t.Helper()
	w := &watched{T: t, dir: t.TempDir(), now: time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)}
	w.write(files)
	var err error
	w.source, err = NewSource(Options{
		Dir: w.dir, Checks: testChecks(), Log: slog.New(slog.NewTextHandler(&w.log, nil)), Now: func() time.Time { return w.now },
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// write changes files now, and puts the times of their folders there too.
func (w *watched) write(files map[string]string) {
	w.Helper()
	write(w.T, w.dir, files)
	for name := range files {
		for at := filepath.Join(w.dir, name); strings.HasPrefix(at, w.dir); at = filepath.Dir(at) {
			if err := os.Chtimes(at, w.now, w.now); err != nil {
				w.Fatal(err)
			}
		}
	}
}

func (w *watched) has(what, model string) {
	w.Helper()
	if got := w.source.Current().Model; got != model {
		w.Errorf("%s: the model is %q, want %q", what, got, model)
	}
}

func TestSourceTakesChanges(t *testing.T) {
	t.Parallel()
	w := watch(t, map[string]string{"instructions.md": "Help.\n", "agent.yaml": "model: a\n"})
	first := w.source.Current()
	w.has("at first", "a")

	w.now = w.now.Add(time.Minute)
	w.write(map[string]string{"agent.yaml": "model: bb\n"})
	w.has("just written", "a")
	w.now = w.now.Add(lookEvery)
	w.has("at rest", "bb")
	if first.Model != "a" {
		t.Error("a definition that was handed out has changed")
	}
	if !strings.Contains(w.log.String(), "agent folder read again") {
		t.Errorf("nobody is told: %s", w.log.String())
	}

	// Written long before somebody asks.
	w.write(map[string]string{"agent.yaml": "model: ccc\n"})
	w.now = w.now.Add(time.Hour)
	w.has("an hour later", "ccc")
	if same := w.source.Current(); same != w.source.Current() {
		t.Error("it is read without a change")
	}
}

// It is not looked at more often than every two seconds.
func TestSourceLooksSeldom(t *testing.T) {
	t.Parallel()
	w := watch(t, map[string]string{"instructions.md": "Help.\n", "agent.yaml": "model: a\n"})
	w.now = w.now.Add(time.Minute)
	w.has("a look", "a")
	past := w.now.Add(-time.Hour)
	w.write(map[string]string{"agent.yaml": "model: bb\n"})
	for _, name := range []string{".", "agent.yaml"} {
		if err := os.Chtimes(filepath.Join(w.dir, name), past, past); err != nil {
			t.Fatal(err)
		}
	}
	w.now = w.now.Add(lookEvery - time.Millisecond)
	w.has("within two seconds", "a")
	w.now = w.now.Add(time.Millisecond)
	w.has("after them", "bb")
}

// A folder that is still being written is not taken, however its times are.
func TestSourceWaitsForRest(t *testing.T) {
	t.Parallel()
	w := watch(t, map[string]string{"instructions.md": "Help.\n", "agent.yaml": "model: a\n"})
	for i := range 5 {
		w.now = w.now.Add(lookEvery)
		w.write(map[string]string{"agent.yaml": "model: b" + strings.Repeat("b", i) + "\n"})
		w.has("while it is written", "a")
	}
	// A machine whose clock is ahead wrote this.
	ahead := w.now.Add(24 * time.Hour)
	if err := os.Chtimes(filepath.Join(w.dir, "agent.yaml"), ahead, ahead); err != nil {
		t.Fatal(err)
	}
	w.now = w.now.Add(lookEvery)
	w.has("the first look", "a")
	w.now = w.now.Add(lookEvery)
	w.has("the second look", "bbbbb")
}

// A broken version keeps the last good one going, and is told of once.
func TestSourceKeepsTheLastGoodVersion(t *testing.T) {
	t.Parallel()
	w := watch(t, map[string]string{"instructions.md": "Help.\n", "agent.yaml": "model: a\n"})
	w.now = w.now.Add(time.Minute)
	w.write(map[string]string{"agent.yaml": "models: b\n"})
	for range 3 {
		w.now = w.now.Add(time.Minute)
		w.has("broken", "a")
	}
	if n := strings.Count(w.log.String(), "level=ERROR"); n != 1 || !strings.Contains(w.log.String(), "agent.yaml:1") {
		t.Errorf("it is told %d times:\n%s", n, w.log.String())
	}
	if p := w.source.Problems(); len(p) != 1 || p[0].File != "agent.yaml" || p[0].Line != 1 {
		t.Errorf("the problems are %q", p)
	}
	w.now = w.now.Add(time.Minute)
	w.write(map[string]string{"agent.yaml": "model: c\n"})
	w.now = w.now.Add(time.Minute)
	if p := w.source.Problems(); len(p) != 0 {
		t.Errorf("the problems of the mended folder are %q", p)
	}
	w.has("mended", "c")

	if err := os.RemoveAll(w.dir); err != nil {
		t.Fatal(err)
	}
	w.now = w.now.Add(time.Minute)
	w.has("without its folder", "c")
	w.now = w.now.Add(time.Minute)
	if p := w.source.Problems(); len(p) != 1 || p[0].Severity != Error {
		t.Errorf("the problems of no folder are %q", p)
	}
}

func TestSourceNeedsAGoodFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := NewSource(Options{Dir: dir})
	invalid, ok := errors.AsType[*InvalidError](err)
	if !ok || invalid.Dir != dir || len(invalid.Problems) != 1 {
		t.Fatalf("an empty folder: %v", err)
	}
	if !strings.Contains(err.Error(), "instructions.md: error: is missing") {
		t.Errorf("it says %q", err)
	}
	s, err := NewSource(Options{})
	if err != nil || s.Current().Dir != "" || len(s.Problems()) != 0 {
		t.Errorf("the built-in agent: %v", err)
	}
}

// Links are followed within the folder and nowhere else; what is no file is not opened.
func TestLinksInFolders(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	write(t, outside, map[string]string{"secret": "s", "dir/x": "x"})
	for name, test := range map[string]struct {
		to, at string
		want   string
	}{
		"out":              {filepath.Join(outside, "secret"), "skills/s/secret", "skills/s/secret: error: is a link that leads nowhere, or out of the folder"},
		"to a folder":      {"../../docs", "skills/s/docs", "skills/s/docs: error: is a link to a folder"},
		"to a folder away": {filepath.Join(outside, "dir"), "tools", "tools: error: is a link that leads nowhere, or out of the folder"},
		"nowhere":          {"none", "sandbox/workspace/x", "sandbox/workspace/x: error: is a link that leads nowhere"},
		"within":           {"../../docs/a.md", "skills/s/a.md", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir, map[string]string{
				"instructions.md": "Help.\n", "docs/a.md": "a", "skills/s/SKILL.md": "---\nname: s\ndescription: d\n---\n", "sandbox/workspace/y": "",
			})
			if err := os.Symlink(test.to, filepath.Join(dir, filepath.FromSlash(test.at))); err != nil {
				t.Skip("links cannot be made here: ", err)
			}
			def, problems := LoadDir(dir, Checks{})
			if test.want == "" {
				if def == nil || def.Skills[0].Files.(memory)[1].path != "a.md" {
					t.Fatalf("it is not followed: %q", problems)
				}
				return
			}
			var all []string
			for _, p := range problems {
				all = append(all, p.String())
			}
			if said := strings.Join(all, "\n"); def != nil || !strings.Contains(said, test.want) {
				t.Errorf("the problems are\n%s\nwant %q", said, test.want)
			}
		})
	}
}
