//go:build unix

package slack

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/liaison-bot/liaison/internal/sim"
)

// An agent can put anything in the place of a file of ours. It must not keep the
// host from its next turn, or have it read without end.
func TestWhatAnAgentPutsInThePlaceOfOurFiles(t *testing.T) {
	t.Parallel()
	for name, put := range map[string]func(path string) error{
		"a pipe": func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a huge file": func(path string) error {
			return os.WriteFile(path, []byte(`{"latest":"9999999999.0"}`+strings.Repeat(" ", maxShown)), 0o600)
		},
		"a folder":     func(path string) error { return os.Mkdir(path, 0o700) },
		"a way out":    func(path string) error { return os.Symlink("/etc/passwd", path) },
		"an odd thing": func(path string) error { return os.WriteFile(path, []byte(`[`), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := talkWorld(t, sim.SlackOptions{})
			w.Reply(general, w.root.TS, ann, "it is a lamp")
			asked := w.MentionIn(general, w.root.TS, ann, "is it on?")
			dir := t.TempDir()
			must(t, os.Mkdir(filepath.Join(dir, threadFolder), 0o700))
			must(t, put(filepath.Join(dir, threadFolder, shownFile)))
			brief, _ := w.prepare(w.asking(asked), dir)
			wantIn(t, "prompt", brief.Prompt, "it is a lamp")
		})
	}
}
