package markup

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/util"
)

// escaper escapes what Slack reads as its own; nothing else may be escaped.
// https://docs.slack.dev/messaging/formatting-message-text#escaping
var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// Marks are written as these while a line is made, because only the whole line
// tells whether Slack would take a mark for what it is. They are no characters,
// and no text has them after [tidy].
const (
	literalStar = '\uFDD0' + iota
	literalUnderscore
	literalTilde
	literalBacktick
	openBold
	openItalic
	openStrike
	closeBold
	closeItalic
	closeStrike
	openCode
	closeCode

	firstMark = literalStar
	lastMark  = closeCode
)

// shown is what each mark is in the end.
const shown = "*_~`*_~*_~``"

// reserved takes the marks' own runes out of a text.
var reserved = func(r rune) rune {
	if isMark(r) {
		return utf8.RuneError
	}
	return r
}

// literal escapes plain text, with marks in it that shall not format.
var literal = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;",
	"*", string(rune(literalStar)), "_", string(rune(literalUnderscore)),
	"~", string(rune(literalTilde)), "`", string(rune(literalBacktick)))

// settle writes the marks of a text out. A literal one that Slack would take for
// formatting gets a zero-width space, as mrkdwn knows no backslash
// (https://github.com/openclaw/openclaw/pull/137526); so does one that formats in
// the middle of a word, where Slack would not take it.
func settle(text string) string {
	var counts [closeCode - literalStar + 1]int
	for _, r := range text {
		if isMark(r) {
			counts[r-literalStar]++
		}
	}
	var b strings.Builder
	prev := '\n'
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		if !isMark(r) {
			if prev == '\n' && strings.HasPrefix(text[at:], "&gt;") {
				b.WriteString(breaker) // not a quotation
			}
			b.WriteString(text[at : at+size])
			prev, at = r, at+size
			continue
		}
		end := at + size
		if r <= literalBacktick {
			for strings.HasPrefix(text[end:], text[at:at+size]) {
				end += size
			}
		}
		next := '\n'
		if end < len(text) {
			next, _ = utf8.DecodeRuneInString(text[end:])
		}
		var before, after bool
		switch {
		case r <= literalBacktick:
			others := counts[r-literalStar] - (end-at)/size
			if r != literalBacktick {
				others += counts[r-literalStar+openBold-literalStar]
			}
			before = others > 0 && !unicode.IsSpace(prev) && !isWord(next)
			after = others > 0 && !isWord(prev) && !unicode.IsSpace(next)
		case r >= closeBold && r <= closeStrike, r == closeCode:
			after = isWord(next)
		default:
			before = isWord(prev)
		}
		if before {
			b.WriteString(breaker)
		}
		for range (end - at) / size {
			b.WriteByte(shown[r-firstMark])
		}
		if after {
			b.WriteString(breaker)
		}
		prev, at = '*', end // any mark bounds a word
	}
	return b.String()
}

func isMark(r rune) bool { return r >= firstMark && r <= lastMark }

// unescape is Markdown text as a reader sees it: escapes and entities resolved.
func unescape(raw []byte) string {
	var b strings.Builder
	from := 0
	for i := 0; i+1 < len(raw); i++ {
		if raw[i] == '\\' && util.IsPunct(raw[i+1]) {
			b.WriteString(unescapeEntities(string(raw[from:i])))
			b.WriteByte(raw[i+1])
			i++
			from = i + 1
		}
	}
	b.WriteString(unescapeEntities(string(raw[from:])))
	return b.String()
}

// unescapeEntities is HTML text as a reader sees it.
func unescapeEntities(text string) string {
	return strings.Map(reserved, string(util.ResolveEntityNames(util.ResolveNumericReferences([]byte(text)))))
}

// linkable are the schemes that may become a link of Slack's.
var linkable = map[string]bool{"http": true, "https": true, "mailto": true, "tel": true}

// address returns a destination as it may stand in a link, or false when it is none.
// Slack has no escape for what ends a link, so that is encoded.
func address(destination string) (string, bool) {
	u, err := url.Parse(destination)
	if err != nil || !linkable[strings.ToLower(u.Scheme)] || u.Opaque == "" && u.Host == "" {
		return "", false
	}
	var b strings.Builder
	for _, r := range destination {
		switch {
		case r == '|' || r == '<' || r == '>' || r == '`' || unicode.IsSpace(r) || unicode.IsControl(r) || isMark(r):
			b.WriteString(url.PathEscape(string(r)))
		case r == '&':
			b.WriteString("&amp;")
		default:
			b.WriteRune(r)
		}
	}
	return b.String(), true
}
