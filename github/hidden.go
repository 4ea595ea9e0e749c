package github

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

// hiding is the beginning of what GitHub does not show: comments, declarations,
// and elements whose content is not Markdown and that a blank line does not end.
var hiding = lazyregexp.New(`(?i)<(?:!|\?|/?(?:script|style|textarea|pre|title|xmp|iframe|noembed|noframes|plaintext)\b)`)

// unhide makes an agent's text show all of itself. HTML comments become
// visible, so that no text can carry a mark that looks like ours unseen;
// characters that nobody sees are spelled out.
func unhide(src string) string {
	return outsideCode(spellOut(src), hiding, escapeTag)
}

func escapeTag(m string) string { return "&lt;" + m[1:] }

// outsideCode replaces what matches where it is not surely code, until nothing
// does: a change can alter what is code. with returns nothing that matches.
func outsideCode(src string, re *lazyregexp.Regexp, with func(string) string) string {
	for round := 0; ; round++ {
		var code []span
		if round < maxRounds {
			code = layOut([]byte(src)).code
		}
		var b strings.Builder
		from := 0
		for _, m := range re.FindAllStringIndex(src, -1) {
			if _, ok := within(code, m[0]); ok {
				continue
			}
			b.WriteString(src[from:m[0]])
			b.WriteString(with(src[m[0]:m[1]]))
			from = m[1]
		}
		if from == 0 {
			return src
		}
		b.WriteString(src[from:])
		src = b.String()
	}
}

// spellOut makes a text valid UTF-8 with plain line ends, and shows the
// characters that make a reader see something else than a machine
// (https://trojansource.codes).
func spellOut(src string) string {
	if !utf8.ValidString(src) {
		src = strings.ToValidUTF8(src, "\uFFFD")
	}
	src = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", "\uFFFD").Replace(src)
	return unseen.ReplaceAllStringFunc(src, func(s string) string {
		r, _ := utf8.DecodeRuneInString(s)
		return fmt.Sprintf("[U+%04X]", r)
	})
}

// unseen are the characters that turn the direction of writing, and those without
// a shape, in which orders for the next agent that reads along can be written
// (https://embracethered.com/blog/posts/2024/hiding-and-finding-text-with-unicode-tags/).
// What joins the letters of some scripts and the parts of emoji is none of them.
var unseen = lazyregexp.New(`[\x{202A}-\x{202E}\x{2066}-\x{206F}\x{200B}\x{200E}\x{200F}\x{061C}\x{180E}\x{2060}-\x{2064}\x{FEFF}\x{E0000}-\x{E0FFF}]`)
