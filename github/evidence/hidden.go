package evidence

import (
	"fmt"
	"strings"

	"github.com/liaison-bot/liaison/internal/lazyregexp"
	"github.com/liaison-bot/liaison/internal/unseen"
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
	text, runes := unseen.Reveal(text)
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
var linkComment = lazyregexp.New(`(?m)^ {0,3}(\[[^\]\n]+\]:[ \t]*(?:#|<>)[^\n]*)$`)

func revealLinks(text string) (string, int) {
	n := len(linkComment.FindAllStringIndex(text, -1))
	if n == 0 {
		return text, 0
	}
	return linkComment.ReplaceAllString(text, "[hidden link definition: $1]"), n
}
