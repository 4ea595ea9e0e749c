package unseen

import (
	"fmt"
	"strings"
	"unicode"
)

// maxRevealed is how many different characters of one hidden run are named.
const maxRevealed = 12

// Reveal returns a text in which each run of characters without a shape stands as a
// marker in square brackets that begins with "hidden" and names them, and the number
// of markers. Line feeds and tabs stay, and so do the uses that everybody makes of
// such characters in emoji.
func Reveal(text string) (string, int) {
	if !strings.ContainsFunc(text, Invisible) {
		return text, 0
	}
	var (
		out  strings.Builder
		run  []rune
		prev rune
		n    int
	)
	runes := []rune(text)
	flush := func() {
		if len(run) > 0 {
			out.WriteString(describeRun(run))
			run = run[:0]
			n++
		}
	}
	for i, r := range runes {
		var next rune
		if i+1 < len(runes) {
			next = runes[i+1]
		}
		if Invisible(r) && (len(run) > 0 || !shapesEmoji(prev, r, next)) {
			run = append(run, r)
		} else {
			flush()
			out.WriteRune(r)
		}
		prev = r
	}
	flush()
	return out.String(), n
}

// Invisible reports whether a character has no shape of its own. A line feed and a
// tab count as visible.
func Invisible(r rune) bool {
	if r == '\n' || r == '\t' {
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// shapesEmoji tells the uses of invisible characters that everybody makes: the
// joiner between two symbols, and the selector of a symbol's style.
func shapesEmoji(prev, r, next rune) bool {
	switch r {
	case 0x200D:
		return (isSymbol(prev) || prev == 0xFE0F) && isSymbol(next)
	case 0xFE0E, 0xFE0F:
		return isSymbol(prev) || prev == '#' || prev == '*' || '0' <= prev && prev <= '9'
	}
	return false
}

func isSymbol(r rune) bool {
	return unicode.In(r, unicode.So, unicode.Sk, unicode.Sm)
}

// describeRun names the characters of a hidden run, and what tag characters in
// it spell: they are invisible twins of ASCII that a language model can read.
func describeRun(run []rune) string {
	var out, spelled strings.Builder
	out.WriteString("[hidden:")
	for i, named := 0, 0; i < len(run); named++ {
		same := 1
		for i+same < len(run) && run[i+same] == run[i] {
			same++
		}
		if named == maxRevealed {
			fmt.Fprintf(&out, " and %d more", len(run)-i)
			break
		}
		fmt.Fprintf(&out, " U+%04X", run[i])
		if same > 1 {
			fmt.Fprintf(&out, "×%d", same)
		}
		i += same
	}
	for _, r := range run {
		if 0xE0020 <= r && r <= 0xE007E {
			spelled.WriteRune(r - 0xE0000)
		}
	}
	if spelled.Len() > 0 {
		fmt.Fprintf(&out, " spells %q", spelled.String())
	}
	out.WriteByte(']')
	return out.String()
}
