package evidence

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// Reveal returns text with everything made visible that a person who reads the
// rendered page does not see: HTML comments and their relatives, link
// definitions that serve as comments, and characters without a shape, such as
// zero-width, bidirectional and tag characters. Nothing is dropped: each piece
// stands as a marker in square brackets that begins with "hidden". The second
// result is the number of markers. Line ends become "\n", and invalid UTF-8 the
// replacement character.
func Reveal(text string) (string, int) {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\r\n", "\n"), "\uFFFD")
	text, comments := revealComments(text)
	text, links := revealLinks(text)
	text, runes := revealRunes(text)
	return text, comments + links + runes
}

// hiddenMarkup are the forms of HTML that a page does not show. The shorter
// comments come first: what follows them is visible.
var hiddenMarkup = [...]struct{ open, end string }{
	{"<!-->", ""},
	{"<!--->", ""},
	{"<!--", "-->"},
	{"<![CDATA[", "]]>"},
	{"<?", "?>"},
	{"<!", ">"},
}

func revealComments(text string) (string, int) {
	var out strings.Builder
	n := 0
	for {
		at := strings.Index(text, "<")
		if at < 0 {
			break
		}
		out.WriteString(text[:at])
		text = text[at:]
		marker, size := hiddenAt(text)
		if size == 0 {
			out.WriteByte('<')
			text = text[1:]
			continue
		}
		out.WriteString(marker)
		text = text[size:]
		n++
	}
	if n == 0 {
		return out.String() + text, 0
	}
	out.WriteString(text)
	return out.String(), n
}

// hiddenAt returns the marker for hidden markup at the start of text, and its
// size in text; zero when there is none.
func hiddenAt(text string) (marker string, size int) {
	for _, form := range hiddenMarkup {
		inner, ok := strings.CutPrefix(text, form.open)
		if !ok {
			continue
		}
		if form.end == "" {
			return "[hidden: empty comment]", len(form.open)
		}
		if form.open == "<!" && (inner == "" || !isLetter(inner[0])) {
			return "", 0
		}
		inner, _, closed := strings.Cut(inner, form.end)
		// A comment within a comment shall not look like one afterwards.
		shown := strings.TrimSpace(strings.ReplaceAll(inner, "<", "\u2039"))
		if !closed {
			return fmt.Sprintf("[hidden markup, never closed: %s]", shown), len(text)
		}
		return fmt.Sprintf("[hidden markup: %s]", shown), len(form.open) + len(inner) + len(form.end)
	}
	return "", 0
}

func isLetter(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// linkComment is a link definition that leads nowhere: a way to write a comment in Markdown.
var linkComment = regexp.MustCompile(`(?m)^ {0,3}(\[[^\]\n]+\]:[ \t]*(?:#|<>)[^\n]*)$`)

func revealLinks(text string) (string, int) {
	n := len(linkComment.FindAllStringIndex(text, -1))
	if n == 0 {
		return text, 0
	}
	return linkComment.ReplaceAllString(text, "[hidden link definition: $1]"), n
}

// maxRevealed is how many different characters of one hidden run are named.
const maxRevealed = 12

func revealRunes(text string) (string, int) {
	if !strings.ContainsFunc(text, isInvisible) {
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
		if isInvisible(r) && (len(run) > 0 || !shapesEmoji(prev, r, next)) {
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

// isInvisible tells whether a character has no shape of its own.
func isInvisible(r rune) bool {
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
