package approvals

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

// Excerpt returns the input within a number of bytes, for a place that has no more,
// and whether that is all of it. What is cut says how much is missing, and is
// empty where not even that fits.
func (v View) Excerpt(bytes int) (text string, whole bool) {
	if len(v.Input) <= bytes {
		return v.Input, true
	}
	// The note never grows with what is kept, so that there is room for it.
	room := bytes - len(missing(len(v.Input)))
	if room < 0 {
		return "", false
	}
	text, _ = cutText(v.Input, room)
	return text + missing(len(v.Input)-len(text)), false
}

func missing(n int) string { return fmt.Sprintf("\n… %d bytes more", n) }

// unfinished is an escape, or a mark of ours, of which the end is cut off.
var unfinished = lazyregexp.New(`(?:\\(?:u\{?[0-9A-Fa-f]{0,6})?|⟨[^⟩]{0,40}|\[[a-z]{0,8})$`)

// cutText returns as many whole characters as fit into a number of bytes, and
// divides none of the marks that stand for something.
func cutText(s string, bytes int) (string, bool) {
	if len(s) <= bytes {
		return s, true
	}
	for bytes > 0 && !utf8.RuneStart(s[bytes]) {
		bytes--
	}
	s = s[:max(bytes, 0)]
	tail := max(0, len(s)-64)
	if at := unfinished.FindStringIndex(strings.ToValidUTF8(s[tail:], "")); at != nil {
		s = s[:len(s)-(at[1]-at[0])]
	}
	return s, false
}
