package evidence

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/go-github/v66/github"
)

// Manifest is files.json: every changed file that GitHub lists.
type Manifest struct {
	HeadSHA string `json:"head_sha"`
	BaseSHA string `json:"base_sha"`
	// MergeBaseSHA is the commit that the patches start from; empty when unknown.
	MergeBaseSHA string `json:"merge_base_sha"`
	Complete     bool   `json:"complete"`
	Missing      string `json:"missing"`
	Files        []File `json:"files"`
}

// File is one changed file. Paths are the words of strangers.
type File struct {
	Number       int    `json:"number"`
	Path         string `json:"path"`
	PreviousPath string `json:"previous_path"`
	Status       string `json:"status"`
	Additions    int    `json:"additions"`
	Deletions    int    `json:"deletions"`
	CountsKnown  bool   `json:"counts_known"`
	Kind         string `json:"kind"`
	// Encoding is what the contents had before they were written as UTF-8.
	Encoding string `json:"encoding"`
	Size     int64  `json:"size"`
	HeadBlob string `json:"head_blob"`
	HeadMode string `json:"head_mode"`
	BaseBlob string `json:"base_blob"`
	BaseMode string `json:"base_mode"`

	Patch        string `json:"patch"`
	PatchMissing string `json:"patch_missing"`
	Head         string `json:"head"`
	HeadMissing  string `json:"head_missing"`
	Base         string `json:"base"`
	BaseMissing  string `json:"base_missing"`

	Owners      []string `json:"owners"`
	AgentConfig bool     `json:"agent_config"`

	patch string
	risk  risk
	lines [2]int // of head and base, -1 where the content is not at hand
}

// The kinds of a file.
const (
	kindText      = "text"
	kindBinary    = "binary"
	kindSymlink   = "symlink"
	kindSubmodule = "submodule"
	kindUnknown   = "unknown"
)

// noPatch is why a file has no patch that should have one.
const noPatch = "GitHub sent none, as it does for large changes"

// The states of a file that matter here.
const (
	statusAdded     = "added"
	statusRemoved   = "removed"
	statusRenamed   = "renamed"
	statusCopied    = "copied"
	statusUnchanged = "unchanged"
)

// manifest reads the list of changed files, all of it.
func (f *fetcher) manifest(ctx context.Context, p PullRequest) (Manifest, error) {
	op := fmt.Sprintf("list the changed files of %s/%s#%d", f.owner, f.repo, f.number)
	l, err := pages(ctx, f, needAlways, op, maxFiles,
		func(ctx context.Context, o github.ListOptions) ([]*github.CommitFile, *github.Response, error) {
			return f.client.PullRequests.ListFiles(ctx, f.owner, f.repo, f.number, &o)
		})
	if err != nil {
		return Manifest{}, err
	}
	m := Manifest{HeadSHA: p.Head.SHA, BaseSHA: p.Base.SHA, Files: make([]File, 0, len(l.items))}
	for i, c := range l.items {
		m.Files = append(m.Files, changedFile(i+1, c))
	}
	switch n := len(m.Files); {
	// The pull request knows the true number, the list may stop before it.
	case p.ChangedFiles > n:
		m.Missing = fmt.Sprintf("%d of %d changed files are not listed: GitHub lists at most %d",
			p.ChangedFiles-n, p.ChangedFiles, maxFiles)
	case l.cut != "":
		m.Missing = fmt.Sprintf("more than %d files are changed: GitHub lists at most %d", n, maxFiles)
	default:
		m.Complete = true
	}
	return m, nil
}

// changedFile takes one entry of GitHub's list, any part of which may be null.
func changedFile(number int, c *github.CommitFile) File {
	f := File{
		Number:       number,
		Path:         c.GetFilename(),
		PreviousPath: c.GetPreviousFilename(),
		Status:       c.GetStatus(),
		Additions:    c.GetAdditions(),
		Deletions:    c.GetDeletions(),
		Kind:         kindUnknown,
		Size:         -1,
		Owners:       []string{},
		patch:        c.GetPatch(),
		lines:        [2]int{-1, -1},
	}
	f.AgentConfig = configuresAgent(f.Path) || configuresAgent(f.PreviousPath)
	f.risk = riskOf(&f)
	if sha := c.GetSHA(); isObjectID(sha) {
		if f.Status == statusRemoved {
			f.BaseBlob = sha
		} else {
			f.HeadBlob = sha
		}
	}
	if f.Status == statusRemoved {
		f.Size = 0
	}
	return f
}

// basePath is where the file was before.
func (f *File) basePath() string {
	if f.PreviousPath != "" {
		return f.PreviousPath
	}
	return f.Path
}

// settle decides, once all that can be had is there, what is known of the file's
// kind and counts and why there is no patch.
func (f *File) settle() {
	if f.Kind == kindUnknown && f.patch != "" {
		f.Kind = kindText
		if isSubmodulePatch(f.patch) {
			f.Kind = kindSubmodule
		}
	}
	same := f.HeadBlob != "" && f.HeadBlob == f.BaseBlob
	f.settleCounts(same)
	if f.Patch != "" || f.PatchMissing != "" {
		return
	}
	switch {
	case same || f.Status == statusUnchanged:
		f.PatchMissing = "the content did not change"
	case f.Kind == kindBinary:
		f.PatchMissing = "binary"
	case f.isEmpty():
		f.PatchMissing = "the file is empty"
	default:
		f.PatchMissing = noPatch
	}
}

// isEmpty tells whether the file holds nothing on the sides that it has.
func (f *File) isEmpty() bool {
	return (f.lines[headSide] == 0 || f.Status == statusRemoved) && (f.lines[baseSide] == 0 || f.Status == statusAdded)
}

// settleCounts finds out whether the counts can be believed. GitHub sends zeros,
// without a word, for files whose diff it did not make.
func (f *File) settleCounts(same bool) {
	switch {
	case f.Additions+f.Deletions > 0:
		f.CountsKnown = true
	case f.patch != "":
		f.Additions, f.Deletions = countPatch(f.patch)
		f.CountsKnown = true
	case same, f.Status == statusUnchanged, f.Kind == kindBinary:
		f.CountsKnown = true
	case f.Status == statusAdded && f.lines[headSide] >= 0:
		f.Additions, f.CountsKnown = f.lines[headSide], true
	case f.Status == statusRemoved && f.lines[baseSide] >= 0:
		f.Deletions, f.CountsKnown = f.lines[baseSide], true
	}
}

// countPatch counts the added and removed lines of hunks.
func countPatch(patch string) (additions, deletions int) {
	for line := range strings.Lines(patch) {
		switch line[0] {
		case '+':
			additions++
		case '-':
			deletions++
		}
	}
	return additions, deletions
}

// isSubmodulePatch tells whether all that changes is a submodule's commit.
func isSubmodulePatch(patch string) bool {
	changed := false
	for line := range strings.Lines(patch) {
		switch line[0] {
		case '+', '-':
			if !strings.HasPrefix(line[1:], "Subproject commit ") {
				return false
			}
			changed = true
		}
	}
	return changed
}
