package sim

import (
	"bytes"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// similarEnough is git's default for calling a deleted and an added file a rename.
const similarEnough = 50

// renameCandidates bounds the comparison of deleted with added files, as git's
// diff.renameLimit does.
const renameCandidates = 400

// fileDiff is one changed path between two commits.
type fileDiff struct {
	path, from           string // from is set for a rename
	status               string // added, removed, modified, renamed, changed
	old, new             entry
	similarity           int // percent, for renames
	binary               bool
	hunks                string // without file headers, ending in a newline
	additions, deletions int
	halves               []fileDiff // removal and addition, for a change of type
}

// compare lists the changed paths between two commits, by path.
func (n *network) compare(base, head string) []fileDiff {
	key := base + head
	if d, known := n.diffs[key]; known {
		return d
	}
	var before, after snapshot
	if c := n.commits[base]; c != nil {
		before = c.files
	}
	if c := n.commits[head]; c != nil {
		after = c.files
	}
	d := n.compareFiles(before, after)
	n.diffs[key] = d
	return d
}

func (n *network) compareFiles(before, after snapshot) []fileDiff {
	byPath := map[string]fileDiff{}
	var gone, come []string
	for _, p := range sortedKeys(before) {
		if _, stays := after[p]; !stays {
			gone = append(gone, p)
		}
	}
	for _, p := range sortedKeys(after) {
		old, existed := before[p]
		switch {
		case !existed:
			come = append(come, p)
		case old == after[p]:
		case kind(old.mode) != kind(after[p].mode):
			byPath[p] = fileDiff{path: p, status: "changed", old: old, new: after[p]}
		default:
			byPath[p] = fileDiff{path: p, status: "modified", old: old, new: after[p]}
		}
	}
	renamed := n.renames(before, after, gone, come)
	for _, p := range come {
		if r, is := renamed[p]; is {
			byPath[p] = fileDiff{path: p, from: r.from, status: "renamed", old: before[r.from], new: after[p], similarity: r.similarity}
		} else {
			byPath[p] = fileDiff{path: p, status: "added", new: after[p]}
		}
	}
	for _, r := range renamed {
		byPath[r.from] = fileDiff{}
	}
	for _, p := range gone {
		if _, moved := byPath[p]; !moved {
			byPath[p] = fileDiff{path: p, status: "removed", old: before[p]}
		}
	}
	var list []fileDiff
	for _, p := range sortedKeys(byPath) {
		d := byPath[p]
		if d.path == "" {
			continue // the source of a rename
		}
		n.fill(&d)
		list = append(list, d)
	}
	return list
}

type rename struct {
	from       string
	similarity int
}

// renames pairs added files with deleted ones: equal content first, then
// the most similar.
func (n *network) renames(before, after snapshot, gone, come []string) map[string]rename {
	found := map[string]rename{}
	used := map[string]bool{}
	bySHA := map[string][]string{}
	for _, p := range gone {
		bySHA[before[p].sha] = append(bySHA[before[p].sha], p)
	}
	for _, p := range come {
		for _, from := range bySHA[after[p].sha] {
			if !used[from] && len(n.blobs[after[p].sha]) > 0 {
				found[p], used[from] = rename{from, 100}, true
				break
			}
		}
	}
	if len(gone)*len(come) > renameCandidates*renameCandidates {
		return found
	}
	for _, p := range come {
		if _, done := found[p]; done || kind(after[p].mode) != "file" {
			continue
		}
		best := rename{similarity: similarEnough - 1}
		for _, from := range gone {
			if used[from] || kind(before[from].mode) != "file" {
				continue
			}
			if s := similarity(n.blobs[before[from].sha], n.blobs[after[p].sha]); s > best.similarity {
				best = rename{from, s}
			}
		}
		if best.from != "" {
			found[p], used[best.from] = best, true
		}
	}
	return found
}

// similarity is the share of bytes in lines that both have, in percent.
func similarity(a, b []byte) int {
	longest := max(len(a), len(b))
	if longest == 0 || min(len(a), len(b))*100 < longest*similarEnough {
		return 0
	}
	lines := map[string]int{}
	for _, l := range bytes.SplitAfter(a, []byte("\n")) {
		lines[string(l)]++
	}
	common := 0
	for _, l := range bytes.SplitAfter(b, []byte("\n")) {
		if lines[string(l)] > 0 {
			lines[string(l)]--
			common += len(l)
		}
	}
	return common * 100 / longest
}

// kind groups modes: a change between groups is a change of type.
func kind(mode string) string {
	switch mode {
	case modeSymlink:
		return "symlink"
	case modeSubmodule:
		return "submodule"
	}
	return "file"
}

// content is what a diff compares: a submodule shows its commit as a line.
func (n *network) content(e entry) []byte {
	if e.mode == modeSubmodule {
		return []byte("Subproject commit " + e.sha + "\n")
	}
	return n.blobs[e.sha]
}

// isBinary is git's rule: a NUL byte among the first 8,000.
func isBinary(b []byte) bool { return bytes.IndexByte(b[:min(len(b), 8000)], 0) >= 0 }

// fill computes the hunks and counts of a changed path.
func (n *network) fill(d *fileDiff) {
	before, after := n.content(d.old), n.content(d.new)
	if isBinary(before) || isBinary(after) {
		d.binary = true
		return
	}
	d.hunks, d.additions, d.deletions = hunks(before, after)
	if d.status != "changed" {
		return
	}
	d.halves = []fileDiff{
		{path: d.path, status: "removed", old: d.old},
		{path: d.path, status: "added", new: d.new},
	}
	for i := range d.halves {
		n.fill(&d.halves[i])
	}
}

// hunks is the unified diff of two texts without its file headers.
func hunks(before, after []byte) (text string, additions, deletions int) {
	out := string(diff.Diff("a", before, "b", after))
	at := strings.Index(out, "@@")
	if at < 0 {
		return "", 0, 0
	}
	text = out[at:]
	for line := range strings.Lines(text) {
		switch line[0] {
		case '+':
			additions++
		case '-':
			deletions++
		}
	}
	return text, additions, deletions
}
