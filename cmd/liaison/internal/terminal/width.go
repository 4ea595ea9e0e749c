package terminal

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// ellipsis ends what was cut.
const ellipsis = "…"

// Width is the number of columns that s takes on a terminal: two for a wide or
// full-width character of https://www.unicode.org/reports/tr11/, none for one
// that joins the character before it.
func Width(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

func runeWidth(r rune) int {
	if r < 0x300 {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// Cut shortens s to at most columns, and says so by an ellipsis.
func Cut(s string, columns int) string {
	if Width(s) <= columns {
		return s
	}
	if columns < 1 {
		return ""
	}
	room := columns - 1
	for i, r := range s {
		if room -= runeWidth(r); room < 0 {
			return s[:i] + ellipsis
		}
	}
	return s
}

// pad fills s with spaces up to columns, on the left where right is set.
func pad(s string, columns int, right bool) string {
	fill := strings.Repeat(" ", max(0, columns-Width(s)))
	if right {
		return fill + s
	}
	return s + fill
}
