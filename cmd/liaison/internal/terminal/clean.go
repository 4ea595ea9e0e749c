package terminal

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line makes s one line that a terminal only shows: white space of any kind
// becomes a space, and what is [hostile] a middle dot.
func Line(s string) string {
	return clean(s, func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		return r
	})
}

// Text is as [Line], but leaves line feeds and tabs. A carriage return, which
// would let the end of a line cover its beginning, goes.
func Text(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	return clean(s, func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsSpace(r) && r < utf8.RuneSelf {
			return ' '
		}
		return r
	})
}

func clean(s string, space func(rune) rune) string {
	return strings.Map(func(r rune) rune {
		if r = space(r); hostile(r) {
			return '·'
		}
		return r
	}, s)
}

// hostile reports whether a terminal might obey r, or show what follows it in
// another order than it is read: the control characters (C0, DEL, C1), the marks
// that change the direction of writing, and what separates lines for some.
func hostile(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case unicode.IsControl(r), r == utf8.RuneError:
		return true
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x061c:
		return true
	case r == 0x2028, r == 0x2029, r == 0xfeff:
		return true
	}
	return false
}
