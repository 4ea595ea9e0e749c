package reviewer

import (
	"path"
	"strings"
)

// change is one changed file, as far as the evidence shows it.
type change struct {
	manifestEntry
	size int64 // in bytes, -1 when unknown

	role     role
	language language
	// fixture is set for test data, samples and examples: made-up values are at home there.
	fixture   bool
	vendored  bool
	generated bool
	minified  bool

	oldMode, newMode uint32

	patch     patch
	patchSeen bool
	// head is the file's content at head where a rule needs all of it.
	head     string
	headSeen bool
}

func newChange(entry manifestEntry) *change {
	c := &change{manifestEntry: entry, size: -1}
	if entry.Size != nil {
		c.size = *entry.Size
	}
	c.Additions = min(max(c.Additions, 0), maxCount)
	c.Deletions = min(max(c.Deletions, 0), maxCount)
	classify(c)
	return c
}

func (c *change) base() string { return path.Base(c.Path) }

// written reports whether people wrote the file: neither generated nor vendored nor minified.
func (c *change) written() bool { return !c.generated && !c.vendored && !c.minified }

// isComment reports whether the line is nothing but a comment.
func (c *change) isComment(text string) bool {
	return c.language.isComment(strings.TrimSpace(text))
}

// previousLine returns the text before the line at index i at head, as far as the hunk shows it.
func (c *change) previousLine(i int) string {
	for ; i > 0 && !c.patch.lines[i].starts; i-- {
		if before := &c.patch.lines[i-1]; before.kind != lineRemoved && strings.TrimSpace(before.text) != "" {
			return strings.TrimSpace(before.text)
		}
	}
	return ""
}

// nextLine returns the text after the line at index i at head, as far as the hunk shows it.
func (c *change) nextLine(i int) string {
	for i++; i < len(c.patch.lines) && !c.patch.lines[i].starts; i++ {
		if after := &c.patch.lines[i]; after.kind != lineRemoved && strings.TrimSpace(after.text) != "" {
			return strings.TrimSpace(after.text)
		}
	}
	return ""
}

// eachAdded calls visit for every added line that is not moved.
func (c *change) eachAdded(visit func(i int, l *line)) {
	for i := range c.patch.lines {
		if l := &c.patch.lines[i]; l.kind == lineAdded && !l.moved {
			visit(i, l)
		}
	}
}

// at makes a finding about a line of the head.
func (c *change) at(l *line, severity Severity, title, body string) Finding {
	return Finding{Path: c.Path, Line: l.new, Side: SideRight, Severity: severity, Title: title, Body: body}
}

// about makes a finding about the file.
func (c *change) about(severity Severity, title, body string) Finding {
	return Finding{Path: c.Path, Severity: severity, Title: title, Body: body}
}
