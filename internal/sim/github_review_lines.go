package sim

import (
	"fmt"
	"strings"
)

// shownLine is one line of a diff as it is shown: ' ', '+' or '-', and its
// numbers on both sides, of which a line that was added or removed has one.
type shownLine struct {
	hunk     int
	kind     byte
	old, new int
}

// shownLines reads the hunks of a diff.
func shownLines(hunks string) []shownLine {
	var list []shownLine
	hunk, before, after := 0, 0, 0
	for text := range strings.Lines(hunks) {
		l := shownLine{hunk: hunk, kind: text[0]}
		switch text[0] {
		case '@':
			hunk++
			var rest string
			if n, _ := fmt.Sscanf(text, "@@ -%d,%d +%d,%s", &before, new(int), &after, &rest); n < 3 {
				panic("sim: hunk " + text) // hunks are made here
			}
			before, after = max(before, 1), max(after, 1)
			continue
		case ' ':
			l.old, l.new = before, after
			before, after = before+1, after+1
		case '+':
			l.new = after
			after++
		case '-':
			l.old = before
			before++
		default:
			continue // "\ No newline at end of file"
		}
		list = append(list, l)
	}
	return list
}

// trackLine follows a line from one text to another; 0 means that it is gone.
func trackLine(before, after []byte, line int) int {
	text, _, _ := hunks(before, after)
	shift := 0
	for _, l := range shownLines(text) {
		switch {
		case l.old > line || l.kind == '+' && l.new-shift > line:
			return line + shift
		case l.old == line && l.kind == ' ':
			return l.new
		case l.old == line:
			return 0
		case l.kind == '+':
			shift++
		case l.kind == '-':
			shift--
		}
	}
	return line + shift
}
