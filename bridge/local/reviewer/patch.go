package reviewer

import (
	"strings"
)

// lineKind is what a diff says of a line.
type lineKind byte

const (
	lineContext lineKind = ' '
	lineAdded   lineKind = '+'
	lineRemoved lineKind = '-'
)

// line is one line of a patch.
type line struct {
	text string
	// old and new count from 1 in the base's and the head's file; the one that
	// does not apply is the number that the next line of that side will have.
	old, new int
	kind     lineKind
	// starts is set on the first line of a hunk: the one before is not its neighbour.
	starts bool
	// moved is set on an added line that the pull request removes elsewhere.
	moved bool
}

// patch is the change of one file.
type patch struct {
	lines []line
	// incomplete is set when the patch is cut off or contradicts itself.
	incomplete bool
}

// maxLineNumber bounds what a hunk header may claim.
const maxLineNumber = 1 << 30

// parsePatch reads hunks, with or without a header before the first one. It
// never fails: what cannot be understood is left out and marks the patch as
// incomplete. At most limit lines are kept.
//
// Everything after the first hunk header belongs to the file, so a hunk that
// claims fewer lines than it has hides nothing.
func parsePatch(text string, limit int) patch {
	var p patch
	var oldNext, newNext, oldLeft, newLeft int
	inHunk, starts := false, false
	for text != "" {
		var raw string
		raw, text, _ = strings.Cut(text, "\n")
		if strings.HasPrefix(raw, "@@ ") {
			if oldLeft != 0 || newLeft != 0 {
				p.incomplete = true
			}
			var ok bool
			oldNext, oldLeft, newNext, newLeft, ok = parseHunkHeader(raw)
			if !ok {
				p.incomplete = true
				inHunk, oldLeft, newLeft = false, 0, 0
				continue
			}
			inHunk, starts = true, true
			continue
		}
		if !inHunk {
			continue
		}
		if len(p.lines) >= limit {
			p.incomplete = true
			return p
		}
		raw = strings.TrimSuffix(raw, "\r")
		l := line{old: oldNext, new: newNext, starts: starts}
		switch {
		case raw == "":
			if text == "" {
				continue // the patch's own last line break
			}
			// Some tools strip the space of an empty context line.
			l.kind = lineContext
		case raw[0] == '\\':
			continue // "\ No newline at end of file"
		case raw[0] == ' ', raw[0] == '+', raw[0] == '-':
			l.kind, l.text = lineKind(raw[0]), raw[1:]
		default:
			p.incomplete = true
			continue
		}
		if l.kind != lineAdded {
			oldNext++
			oldLeft--
		}
		if l.kind != lineRemoved {
			newNext++
			newLeft--
		}
		starts = false
		p.lines = append(p.lines, l)
	}
	if oldLeft != 0 || newLeft != 0 {
		p.incomplete = true
	}
	return p
}

// parseHunkHeader reads "@@ -a,b +c,d @@"; a count that is left out is 1.
func parseHunkHeader(raw string) (oldStart, oldCount, newStart, newCount int, ok bool) {
	rest, found := strings.CutPrefix(raw, "@@ -")
	if !found {
		return 0, 0, 0, 0, false
	}
	oldStart, oldCount, rest, ok = parseRange(rest)
	if !ok {
		return 0, 0, 0, 0, false
	}
	if rest, found = strings.CutPrefix(rest, " +"); !found {
		return 0, 0, 0, 0, false
	}
	newStart, newCount, rest, ok = parseRange(rest)
	if !ok || !strings.HasPrefix(rest, " @@") {
		return 0, 0, 0, 0, false
	}
	return oldStart, oldCount, newStart, newCount, true
}

func parseRange(s string) (start, count int, rest string, ok bool) {
	start, rest, ok = parseNumber(s)
	if !ok {
		return 0, 0, s, false
	}
	if after, found := strings.CutPrefix(rest, ","); found {
		count, rest, ok = parseNumber(after)
		return start, count, rest, ok
	}
	return start, 1, rest, true
}

func parseNumber(s string) (n int, rest string, ok bool) {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		n = n*10 + int(s[i]-'0')
		if n > maxLineNumber {
			return 0, s, false
		}
		i++
	}
	return n, s[i:], i > 0
}

// scanned is the part of a line that rules look at.
func (l *line) scanned() string {
	if len(l.text) > maxScannedLine {
		return l.text[:maxScannedLine]
	}
	return l.text
}

// counts returns how many lines are added and removed.
func (p *patch) counts() (added, removed int) {
	for i := range p.lines {
		switch p.lines[i].kind {
		case lineAdded:
			added++
		case lineRemoved:
			removed++
		}
	}
	return added, removed
}
