package github

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"github.com/liaison-bot/liaison/github/evidence"
)

// changes is what the pull request changes, as the evidence of the turn has it.
// The host wrote it; the names in it are strangers'.
type changes struct {
	root *os.Root
	// fault is why nothing is known of the change; then all else is empty.
	fault                string
	byPath, byPrevious   map[string]*evidence.File
	byNumber             map[int]*evidence.File
	read                 map[*evidence.File][]hunk
	unread               map[*evidence.File]string
	sinceFrom, sinceHead string
}

// hunk is a piece of a file's diff: the lines of the old and of the new file that
// are in it.
type hunk struct{ left, right lines }

// lines are those from first to last; none where last is below first.
type lines struct{ first, last int }

func (l lines) has(n int) bool { return l.first <= n && n <= l.last }

// loadChanges reads the manifest of the evidence below dir. Without one, no
// finding has a place, which is no reason to refuse the review.
func loadChanges(dir string) *changes {
	c := &changes{
		byPath: map[string]*evidence.File{}, byPrevious: map[string]*evidence.File{}, byNumber: map[int]*evidence.File{},
		read: map[*evidence.File][]hunk{}, unread: map[*evidence.File]string{},
	}
	const fault = "what the pull request changes cannot be read"
	root, err := os.OpenRoot(dir)
	if err != nil {
		c.fault = fault
		return c
	}
	c.root = root
	raw, err := c.file("files.json", maxEvidenceManifest)
	var m evidence.Manifest
	if err != nil || json.Unmarshal(raw, &m) != nil {
		c.fault = fault
		return c
	}
	for i := range m.Files {
		f := &m.Files[i]
		c.byPath[f.Path], c.byNumber[f.Number] = f, f
		if f.PreviousPath != "" && f.PreviousPath != f.Path {
			c.byPrevious[f.PreviousPath] = f
		}
	}
	var since struct {
		From        string `json:"from"`
		To          string `json:"to"`
		Incremental bool   `json:"incremental"`
	}
	if raw, err := c.file("since.json", maxEvidenceManifest); err == nil && json.Unmarshal(raw, &since) == nil && since.Incremental && validSHA(since.From) {
		c.sinceFrom, c.sinceHead = since.From, since.To
	}
	return c
}

// since returns the commit up to which an earlier review went, where only what
// came after it was looked at.
func (c *changes) since(head string) string {
	if c.sinceHead != head {
		return ""
	}
	return c.sinceFrom
}

func (c *changes) close() {
	if c.root != nil {
		_ = c.root.Close()
	}
}

// file reads a file of the evidence of at most limit bytes.
func (c *changes) file(name string, limit int64) ([]byte, error) {
	f, err := c.root.Open(path.Join("pr", name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no file", name)
	}
	raw, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(raw)) > limit {
		err = fmt.Errorf("%s has more than %d bytes", name, limit)
	}
	return raw, err
}

// hunks returns the hunks of a changed file, or why there are none.
func (c *changes) hunks(f *evidence.File) (all []hunk, why string) {
	if why := c.unread[f]; why != "" {
		return nil, why
	}
	if all, known := c.read[f]; known {
		return all, ""
	}
	switch raw, err := c.file(f.Patch, maxEvidencePatch); {
	case f.Patch == "":
		why = "there is no diff of its file"
		if f.PatchMissing != "" {
			why += ": " + f.PatchMissing
		}
	case err != nil:
		why = "the diff of its file cannot be read"
	default:
		if all, err = parseHunks(string(raw)); err != nil {
			why = "the diff of its file cannot be read"
		}
	}
	if why != "" {
		c.unread[f] = why
		return nil, why
	}
	c.read[f] = all
	return all, ""
}

// parseHunks reads a patch without a header, as GitHub gives it for one file.
func parseHunks(patch string) ([]hunk, error) {
	files, _, err := gitdiff.Parse(strings.NewReader("--- a/file\n+++ b/file\n" + patch))
	if err != nil {
		return nil, err
	}
	if len(files) != 1 {
		return nil, fmt.Errorf("it has the diffs of %d files", len(files))
	}
	var all []hunk
	for _, t := range files[0].TextFragments {
		all = append(all, hunk{
			left:  lines{int(t.OldPosition), int(t.OldPosition + t.OldLines - 1)},
			right: lines{int(t.NewPosition), int(t.NewPosition + t.NewLines - 1)},
		})
	}
	return all, nil
}
