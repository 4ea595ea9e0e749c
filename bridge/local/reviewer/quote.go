package reviewer

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// quote puts text of the pull request into a Markdown code span: mentions,
// references, closing keywords, links and HTML are dead in there. Credentials
// are masked, invisible characters are written out, and no more than limit
// characters are kept. Backticks are written out as well, so that the span ends
// where it should for every reader, also those that know one kind of span only.
func quote(text string, limit int) string {
	if len(text) > maxQuotedSource {
		// What the cut leaves of a credential could not be told any more.
		text = maskCredentials(text[:maxQuotedSource])
		text = text[:min(len(text), maxQuotedSource/2)]
	}
	text = visible(maskCredentials(text), limit)
	if text == "" {
		return "(empty)"
	}
	if strings.TrimSpace(text) == "" {
		text = strings.ReplaceAll(text, " ", `\x20`)
	}
	// A code span drops one space on each side when both are there.
	if strings.HasPrefix(text, " ") && strings.HasSuffix(text, " ") {
		text = " " + text + " "
	}
	return "`" + text + "`"
}

// quotePlace quotes a path with its line; line 0 leaves the path alone.
func quotePlace(path string, line int) string {
	if line <= 0 {
		return quote(path, maxQuotedPath)
	}
	return quote(shorten(maskCredentials(path), maxQuotedPath)+fmt.Sprintf(":%d", line), maxQuotedPath+12)
}

// quoteNames quotes at most maxNames names as a list.
func quoteNames(names []string) string {
	shown := names[:min(len(names), maxNames)]
	quoted := make([]string, len(shown))
	for i, name := range shown {
		quoted[i] = quote(name, maxQuotedName)
	}
	list := strings.Join(quoted, ", ")
	if rest := len(names) - len(shown); rest > 0 {
		list += fmt.Sprintf(" and %d more", rest)
	}
	return list
}

// shorten keeps the first and the last characters of a long path: both its
// folder and its name say something.
func shorten(text string, limit int) string {
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	runes := []rune(text)
	head := limit / 3
	tail := limit - head - 1
	return string(runes[:head]) + "…" + string(runes[len(runes)-tail:])
}

// visible writes out line breaks, control characters, invisible characters,
// backticks and bytes that are no UTF-8, as Go does in string literals, and keeps at most
// limit characters. Backslashes are doubled only where something was written
// out, so that ordinary Windows paths stay readable.
func visible(text string, limit int) string {
	text = shorten(text, limit)
	plain := !strings.Contains(text, htmlComment)
	for i, r := range text {
		if !shown(r) || r == utf8.RuneError && invalidAt(text, i) {
			plain = false
			break
		}
	}
	if plain {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\\':
			b.WriteString(`\\`)
		case strings.HasPrefix(text[i:], htmlComment):
			b.WriteString(`\x3c`)
		case shown(r):
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u{%x}`, r)
		}
		i += size
	}
	return b.String()
}

// htmlComment opens what surfaces hide their marks in. It is written out, so that
// no name in a pull request can pass for such a mark.
const htmlComment = "<!--"

func shown(r rune) bool { return r != '`' && unicode.IsPrint(r) && !isHidden(r) }

func invalidAt(text string, i int) bool {
	_, size := utf8.DecodeRuneInString(text[i:])
	return size == 1
}

// count writes a number with its noun: "1 file", "2 files", "3,000 files".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	switch {
	case strings.HasSuffix(noun, "y") && !hasAnySuffix(noun, "ay", "ey"):
		noun = strings.TrimSuffix(noun, "y") + "ies"
	case strings.HasSuffix(noun, "ch"):
		noun += "es"
	default:
		noun += "s"
	}
	return thousands(n) + " " + noun
}

// thousands writes n with commas.
func thousands(n int) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// joinAnd joins words as a sentence does: "a", "a and b", "a, b and c".
func joinAnd(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
