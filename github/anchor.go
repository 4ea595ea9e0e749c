package github

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/liaison-bot/liaison/github/evidence"
	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

// The sides of a diff.
// https://docs.github.com/rest/pulls/reviews#create-a-review-for-a-pull-request
const (
	sideRight = "RIGHT"
	sideLeft  = "LEFT"
)

// place finds a finding's place in the change, or says in Demoted why it has
// none. GitHub refuses a whole review for one comment beside the diff
// (https://github.com/The-PR-Agent/pr-agent/issues/592). It reports false for a
// finding about a file that the configuration does not have reviewed.
func (c *changes) place(f finding, set settings) (finding, bool) {
	demote := func(format string, args ...any) (finding, bool) {
		f.Demoted = fmt.Sprintf(format, args...)
		return f, true
	}
	if strings.TrimSpace(f.Path) == "" {
		return demote("it is about the pull request as a whole")
	}
	if c.fault != "" {
		return demote("%s", c.fault)
	}
	file, before := c.find(f.Path)
	if file == nil {
		f.Elsewhere = true
		return demote("its file is not among those that the pull request changes")
	}
	f.Path = file.Path
	if f.Side == "" {
		f.Side = sideRight
		if before || file.Status == "removed" {
			f.Side = sideLeft
		}
	}
	if f.StartLine > f.Line {
		f.StartLine, f.Line = f.Line, f.StartLine
	}
	if f.StartLine == f.Line {
		f.StartLine = 0 // GitHub refuses a range of one line
	}
	names := []string{file.Path}
	if file.PreviousPath != "" {
		names = append(names, file.PreviousPath)
	}
	if !set.covers(names...) {
		return f, false
	}
	if f.Line == 0 {
		return demote("it is about the file as a whole")
	}
	hunks, why := c.hunks(file)
	if why != "" {
		return demote("%s", why)
	}
	from := f.Line
	if f.StartLine > 0 {
		from = f.StartLine
	}
	last := false
	for _, h := range hunks {
		lines := h.right
		if f.Side == sideLeft {
			lines = h.left
		}
		if lines.has(from) && lines.has(f.Line) {
			return f, true
		}
		last = last || lines.has(f.Line)
	}
	where := "new"
	if f.Side == sideLeft {
		where = "old"
	}
	if last {
		return demote("lines %d to %d of the %s file are not in one hunk of the diff", from, f.Line, where)
	}
	return demote("line %d of the %s file is not in the diff", f.Line, where)
}

// evidencePath is the name of a changed file's part of the evidence.
var evidencePath = lazyregexp.New(`^(?:\./)?(?:pr/)?files/([0-9]{4,6})/(patch\.diff|head\.txt|base\.txt)$`)

// find returns the changed file that a path names, and whether it names where
// the file was before. An agent may also call a file by its place in the evidence,
// or as diffs do.
func (c *changes) find(name string) (file *evidence.File, before bool) {
	if file := c.byPath[name]; file != nil {
		return file, false
	}
	if file := c.byPrevious[name]; file != nil {
		return file, true
	}
	if m := evidencePath.FindStringSubmatch(name); m != nil {
		n, _ := strconv.Atoi(m[1])
		return c.byNumber[n], m[2] == "base.txt"
	}
	clean := path.Clean(name)
	for _, other := range []string{clean, strings.TrimPrefix(clean, "/"), strings.TrimPrefix(clean, "b/")} {
		if file := c.byPath[other]; file != nil {
			return file, false
		}
	}
	for _, other := range []string{clean, strings.TrimPrefix(clean, "a/")} {
		if file := c.byPrevious[other]; file != nil {
			return file, true
		}
	}
	if other, old := strings.CutPrefix(clean, "a/"); old && c.byPath[other] != nil {
		return c.byPath[other], true
	}
	return nil, false
}
