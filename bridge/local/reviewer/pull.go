package reviewer

import (
	"context"
	"fmt"
	"strings"
)

// pull is a pull request as the evidence shows it.
type pull struct {
	facts    facts
	headSHA  string
	changes  []*change
	hasTests bool // a check of the head is named for tests
	gaps     gaps
}

// gaps is what could not be seen.
type gaps struct {
	noFacts    bool
	noManifest bool
	unlisted   bool   // GitHub did not list every file
	missing    string // why, in the host's words
	files      int    // beyond maxFiles
	unnamed    int    // without a usable path
	patches    int    // text files whose patch is not there
	cut        int    // patches that end too early
	unreadable int    // parts of the whole diff that cannot be understood
}

// load reads the evidence. It fails only when ctx ends: everything else that is
// not there is a gap.
func load(ctx context.Context, w *workspace) (*pull, error) {
	p := &pull{}
	p.loadFacts(w)
	p.loadManifest(w)
	sections := p.loadDiff(w)
	if p.gaps.noManifest {
		p.changesFromDiff(sections)
	}
	if err := p.loadPatches(ctx, w, sections); err != nil {
		return nil, err
	}
	p.loadChecks(w)
	if err := p.loadHeads(ctx, w); err != nil {
		return nil, err
	}
	markMoved(p.changes)
	return p, nil
}

func (p *pull) loadFacts(w *workspace) {
	var bad error
	_, more, err := w.tracedRead("pull_request.json", maxFactsBytes, "the pull request's facts", func(data []byte) string {
		if bad = decode(data, &p.facts); bad != nil {
			return "cannot be understood"
		}
		return fmt.Sprintf("pull request %d", p.facts.Number)
	})
	p.gaps.noFacts = err != nil || more || bad != nil
	p.headSHA = p.facts.Head.SHA
}

func (p *pull) loadManifest(w *workspace) {
	var files manifest
	var bad error
	_, more, err := w.tracedRead("files.json", maxManifestBytes, "which files changed", func(data []byte) string {
		if bad = decode(data, &files); bad != nil {
			return "cannot be understood"
		}
		return count(len(files.Files), "changed file")
	})
	if err != nil || more || bad != nil {
		p.gaps.noManifest = true
		return
	}
	if files.HeadSHA != "" {
		p.headSHA = files.HeadSHA
	}
	p.gaps.unlisted = files.Complete != nil && !*files.Complete
	if p.gaps.unlisted {
		p.gaps.missing = files.Missing
	}
	for _, entry := range files.Files {
		if entry.Path == "" || len(entry.Path) > maxPathBytes {
			p.gaps.unnamed++
			continue
		}
		if len(p.changes) == maxFiles {
			p.gaps.files++
			continue
		}
		p.changes = append(p.changes, newChange(entry))
	}
}

// loadDiff reads the whole diff: modes are only in there, and it may have
// patches that GitHub's list of files leaves out.
func (p *pull) loadDiff(w *workspace) map[string]section {
	sections := map[string]section{}
	_, _, _ = w.tracedRead("diff.patch", maxDiffBytes, "the whole diff, for modes and missing patches", func(data []byte) string {
		list, unreadable := splitDiff(string(data))
		for _, s := range list {
			if len(sections) < maxFiles {
				sections[s.path] = s
			}
		}
		p.gaps.unreadable = unreadable
		return "diffs of " + count(len(list), "file")
	})
	return sections
}

// changesFromDiff stands in for a manifest that is not there.
func (p *pull) changesFromDiff(sections map[string]section) {
	for _, name := range sortedKeys(sections) {
		s := sections[name]
		entry := manifestEntry{Path: s.path, PreviousPath: s.previous, Status: s.status, Kind: kindText}
		switch {
		case s.newMode == gitModeSymlink || s.oldMode == gitModeSymlink:
			entry.Kind = kindSymlink
		case s.newMode == gitModeSubmodule || s.oldMode == gitModeSubmodule:
			entry.Kind = kindSubmodule
		case s.binary:
			entry.Kind = kindBinary
		}
		p.changes = append(p.changes, newChange(entry))
	}
}

// loadPatches reads each file's patch from its own file, else from the whole diff.
func (p *pull) loadPatches(ctx context.Context, w *workspace, sections map[string]section) error {
	sweep := &sweep{workspace: w, purpose: "the remaining patches"}
	defer sweep.end()
	bytesLeft, linesLeft := maxPatchBytesTotal, maxPatchLinesTotal
	for _, c := range p.changes {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("review: %w", err)
		}
		s, inDiff := sections[c.Path]
		if inDiff {
			c.oldMode, c.newMode = s.oldMode, s.newMode
		}
		limit := min(maxPatchBytes, bytesLeft)
		text, cut := "", false
		if c.Patch != "" && limit > 0 {
			text, cut = sweep.read(c, limit)
		}
		if text == "" && inDiff && s.hunks != "" {
			text = s.hunks
			if cut = len(text) > limit; cut {
				text = text[:limit]
			}
		}
		if cut {
			text = text[:strings.LastIndexByte(text, '\n')+1]
		}
		if text == "" {
			if c.patchExpected() {
				p.gaps.patches++
			}
			continue
		}
		c.patchSeen = true
		c.patch = parsePatch(text, linesLeft)
		bytesLeft -= len(text)
		linesLeft -= len(c.patch.lines)
		if cut || c.patch.incomplete {
			c.patch.incomplete = true
			p.gaps.cut++
		}
		c.learnFromPatch()
	}
	return nil
}

// patchExpected reports whether a change of text must be somewhere.
func (c *change) patchExpected() bool {
	switch c.Kind {
	case kindBinary, kindSymlink, kindSubmodule:
		return false
	}
	if c.CountsKnown {
		return c.Additions+c.Deletions > 0
	}
	return c.Status != statusRenamed && c.size != 0
}

// learnFromPatch fills in what the manifest does not know.
func (c *change) learnFromPatch() {
	if added, removed := c.patch.counts(); !c.CountsKnown || c.Additions+c.Deletions == 0 {
		c.Additions, c.Deletions = added, removed
	}
	for i := range min(len(c.patch.lines), 40) {
		if l := &c.patch.lines[i]; l.kind != lineRemoved && l.new <= 40 && generatedHeader.MatchString(l.scanned()) {
			c.markGenerated()
		}
	}
}

func (c *change) markGenerated() {
	if c.role == roleCode || c.role == roleTest {
		c.generated, c.role = true, roleGenerated
	}
}

// loadChecks learns from the check runs whether the repository has tests.
func (p *pull) loadChecks(w *workspace) {
	_, _, _ = w.tracedRead("checks.json", maxChecksBytes, "whether tests run on the head", func(data []byte) string {
		p.hasTests = namesTests(data)
		if p.hasTests {
			return "tests run on the head"
		}
		return "no check is named for tests"
	})
}

// loadHeads reads whole files where a rule needs more than the patch.
func (p *pull) loadHeads(ctx context.Context, w *workspace) error {
	for _, c := range p.changes {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("review: %w", err)
		}
		limit := c.headNeeded()
		if c.Head == "" || limit == 0 {
			continue
		}
		data, more, err := w.tracedRead(c.Head, limit, "all of "+plainName(c.Path), func(data []byte) string {
			return count(strings.Count(string(data), "\n"), "line") + " of " + plainName(c.Path)
		})
		if err != nil {
			continue
		}
		if limit == maxHeaderBytes {
			if generatedHeader.Match(data) {
				c.markGenerated()
			}
			continue
		}
		c.head, c.headSeen = string(data), !more
	}
	return nil
}

// headNeeded returns how much of the file at head rules need, in bytes.
func (c *change) headNeeded() int {
	switch {
	case c.Status == statusRemoved || c.vendored:
		return 0
	case c.Kind == kindSymlink, c.role == roleCI, c.language == langContainer,
		c.role == roleDependencies && !isLockFile(strings.ToLower(c.base())),
		isMigrationPath(strings.ToLower(c.Path)):
		return maxHeadBytes
	case c.role == roleCode && c.Additions >= generatedProbeLines:
		return maxHeaderBytes
	}
	return 0
}

// markMoved marks added lines that the pull request removes elsewhere in a file
// of the same role. What is configured in one file and another is no move: there
// the place is the meaning.
func markMoved(changes []*change) {
	type place struct{ where, text string }
	where := func(c *change) string {
		if c.role == roleCode || c.role == roleTest {
			return string(c.role)
		}
		return c.Path
	}
	removed := map[place]int{}
	for _, c := range changes {
		for i := range c.patch.lines {
			if l := &c.patch.lines[i]; l.kind == lineRemoved {
				if text := strings.TrimSpace(l.text); text != "" {
					removed[place{where(c), text}]++
				}
			}
		}
	}
	if len(removed) == 0 {
		return
	}
	for _, c := range changes {
		for i := range c.patch.lines {
			l := &c.patch.lines[i]
			if l.kind != lineAdded {
				continue
			}
			key := place{where(c), strings.TrimSpace(l.text)}
			if removed[key] > 0 {
				removed[key]--
				l.moved = true
			}
		}
	}
}
