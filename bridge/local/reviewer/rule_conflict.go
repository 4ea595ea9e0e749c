package reviewer

import (
	"fmt"
	"strings"
)

// checkConflictMarkers finds what a merge left behind. A row of equals signs
// alone underlines a heading in many formats, so it counts only beside another
// marker; documents about git show single markers, so these need a pair.
func checkConflictMarkers(p *pull, found *collector) {
	for _, c := range p.changes {
		if c.vendored {
			continue
		}
		var first *line
		var lines []int
		kinds := map[byte]bool{}
		separators := 0
		for i := range c.patch.lines {
			l := &c.patch.lines[i]
			if l.kind != lineAdded {
				continue
			}
			mark := conflictMarker(l.text)
			switch mark {
			case 0:
				continue
			case '=':
				separators++
			default:
				kinds[mark] = true
			}
			if first == nil {
				first = l
			}
			lines = append(lines, l.new)
		}
		if len(kinds) == 0 {
			continue
		}
		severity := SeverityError
		if c.role == roleDocs || c.fixture {
			if !kinds['<'] || !kinds['>'] || separators == 0 {
				continue
			}
			severity = SeverityWarning
		}
		where := fmt.Sprintf("on line %d", lines[0])
		if len(lines) > 1 {
			where = fmt.Sprintf("on %s from %d to %d", count(len(lines), "line"), lines[0], lines[len(lines)-1])
		}
		found.add(c.at(first, severity, "Conflict markers are left in the file",
			"A merge was not finished: markers "+where+". Resolve it and check that no side's change got lost."))
	}
}

// conflictMarker returns the character of the marker that the line is, or 0.
func conflictMarker(text string) byte {
	if len(text) < 7 {
		return 0
	}
	mark := text[0]
	switch mark {
	case '<', '>', '|':
		if text[:7] == strings.Repeat(string(mark), 7) && (len(text) == 7 || text[7] == ' ') {
			return mark
		}
	case '=':
		if text == "=======" {
			return mark
		}
	}
	return 0
}
