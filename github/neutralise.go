package github

import (
	"html"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

// breaker is put into a word that GitHub would act on. It shows as nothing.
const breaker = "&#8203;"

// maxRounds bounds the passes over a text: a change can alter what is code,
// and with it what the next pass finds. Beyond it nothing counts as code.
const maxRounds = 5

// neutralise takes from a text what reaches beyond its comment: mentions of
// people and teams, references to issues, the keywords that close them, and what
// other bots take for a command. Code and URLs are left as they are. It can be
// applied again without further change.
//
// Everything counts as live that is not surely code or a URL, because GitHub
// looks at the rendered text: there an entity, a backslash or an HTML block
// hides nothing (https://github.com/renovatebot/renovate/issues/1238).
func neutralise(src string) string {
	for round := 0; ; round++ {
		var l layout
		if round < maxRounds {
			l = layOut([]byte(src))
		}
		at := liveSpots(src, l)
		if len(at) == 0 {
			return src
		}
		var b strings.Builder
		from := 0
		for _, pos := range at {
			b.WriteString(src[from:pos])
			b.WriteString(breaker)
			from = pos
		}
		b.WriteString(src[from:])
		src = b.String()
	}
}

// liveSpots returns where breakers belong, in ascending order.
func liveSpots(src string, l layout) []int {
	safe := protected(src, l)
	var spots []int
	s := scanner{src: src, safe: safe}
	word := urlWord{src: src}
	boundary := true // no letter or digit before
	for pos := 0; pos < len(src); {
		if skip, ok := within(safe, pos); ok {
			pos, boundary = skip.end, true
			continue
		}
		r, end := s.at(pos)
		next, afterNext := s.at(end)
		switch {
		case r == '@' && isWord(next) && (boundary || word.before(pos)),
			r == '/' && src[pos] == '/' && isWord(next) && beginsLine(src, pos),
			r == '#' && (isDigit(next) || pos > 0 && src[pos-1] == '&' && (next == 'x' || next == 'X')):
			spots = append(spots, end)
		case (r == 'g' || r == 'G') && boundary && (next == 'h' || next == 'H'):
			// GH-12
			if dash, afterDash := s.at(afterNext); dash == '-' {
				if digit, _ := s.at(afterDash); isDigit(digit) {
					spots = append(spots, afterDash)
				}
			}
		}
		pos, boundary = end, !isWord(r)
	}
	if !strings.Contains(src, "://") {
		return spots
	}
	for _, m := range closingURL.FindAllStringSubmatchIndex(src, -1) {
		if _, ok := within(safe, m[2]); !ok {
			spots = append(spots, m[2]+1)
		}
	}
	slices.Sort(spots)
	return slices.Compact(spots)
}

// beginsLine reports whether a line has nothing but white space before pos. Bots
// that take "/approve" or "/merge" for a command look for it there.
func beginsLine(src string, pos int) bool {
	before := strings.TrimRight(src[:pos], " \t")
	return before == "" || before[len(before)-1] == '\n'
}

// urlWord knows whether the word so far is something like a URL. Renderers
// differ in where a link ends; behind one, a letter is no part of an address.
type urlWord struct {
	src string
	pos int
	url bool
}

// before reports on the word that ends at pos, which must not decrease.
func (w *urlWord) before(pos int) bool {
	for ; w.pos < pos; w.pos++ {
		switch w.src[w.pos] {
		case ' ', '\t', '\n', '<', '>', '(', ')':
			w.url = false
		case ':', '/':
			w.url = true
		case '.':
			w.url = w.url || strings.EqualFold(w.src[max(0, w.pos-3):w.pos], "www")
		}
	}
	return w.url
}

// closingURL is a closing keyword before the URL of an issue, which GitHub
// takes for the number.
var closingURL = lazyregexp.New(`(?i)\b(close[sd]?|fix(?:es|ed)?|resolve[sd]?)\b[:\s]+[<(\[]?https?://\S+/(?:issues|pull|pulls|discussions)/[0-9]`)

// scanner reads characters as they are shown.
type scanner struct {
	src  string
	safe []span
}

// at returns the character at pos and where the next one begins; 0 at the end
// and inside what is safe.
func (s scanner) at(pos int) (rune, int) {
	if pos >= len(s.src) {
		return 0, pos
	}
	if _, ok := within(s.safe, pos); ok {
		return 0, pos
	}
	switch s.src[pos] {
	case '&':
		if m := entity.FindString(s.src[pos:min(len(s.src), pos+40)]); m != "" {
			shown := html.UnescapeString(m)
			if r, n := utf8.DecodeRuneInString(shown); n == len(shown) && shown != m {
				return r, pos + len(m)
			}
		}
	case '\\':
		if pos+1 < len(s.src) && isPunctuation(s.src[pos+1]) {
			return rune(s.src[pos+1]), pos + 2
		}
	}
	r, n := utf8.DecodeRuneInString(s.src[pos:])
	return r, pos + n
}

// entity is a character reference as Markdown knows it. What is none there but
// one within HTML, which needs no semicolon, is broken apart like a reference to an issue.
var entity = lazyregexp.New(`^&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});`)

func isWord(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || isDigit(r)
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

func isPunctuation(c byte) bool {
	return c < utf8.RuneSelf && (unicode.IsPunct(rune(c)) || unicode.IsSymbol(rune(c)))
}

var (
	// bareURL is what every renderer makes a link without further marks: a host
	// with a top-level domain, and then up to the first character at which
	// renderers disagree.
	// https://github.github.com/gfm/#autolinks-extension-
	bareURL = lazyregexp.New(`(?:https?://|ftp://|www\.)[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*\.[a-z]{2,63}\b(?::[0-9]+)?(?:[/?#][A-Za-z0-9@:%_+.~#!?/=;,-]*(?:&[A-Za-z0-9_]+=[A-Za-z0-9@:%_+.~#!?/=;,-]*)*)?`)
	// tag is a tag inside an HTML block.
	tag = lazyregexp.New(`<[A-Za-z/][^<>]*>`)
)

// protected returns what is left as it is, sorted and without overlaps.
func protected(src string, l layout) []span {
	spans := slices.Clone(l.code)
	for _, t := range l.tags {
		// Where an attribute holds another "<", readers differ on where the tag is.
		if strings.LastIndexByte(src[t.start:t.end], '<') <= 0 {
			spans = append(spans, t)
		}
	}
	for _, block := range l.html {
		for _, m := range tag.FindAllStringIndex(src[block.start:block.end], -1) {
			spans = append(spans, span{block.start + m[0], block.start + m[1]})
		}
	}
	var urls [][]int
	if strings.Contains(src, "://") || strings.Contains(src, "www.") {
		urls = bareURL.FindAllStringIndex(src, -1)
	}
	open := brackets{src: src, code: l.code}
	for _, m := range urls {
		if _, ok := within(l.html, m[0]); !ok && linkStart(src, m[0]) && !open.at(m[0]) {
			spans = append(spans, span{m[0], m[1]})
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return a.start - b.start })
	merged := spans[:0]
	for _, s := range spans {
		if n := len(merged); n > 0 && s.start < merged[n-1].end {
			merged[n-1].end = max(merged[n-1].end, s.end)
			continue
		}
		merged = append(merged, s)
	}
	return merged
}

// linkStart reports whether a URL may begin at pos.
func linkStart(src string, pos int) bool {
	if pos == 0 {
		return true
	}
	return strings.IndexByte(" \t\r\n*_~(<", src[pos-1]) >= 0
}

// brackets knows where a square bracket is open. GitHub makes no bare URL a
// link there, in case the bracket becomes one.
type brackets struct {
	src        string
	code       []span
	pos, depth int
}

// at reports whether a bracket is open at pos, which must not decrease.
func (b *brackets) at(pos int) bool {
	for ; b.pos < pos; b.pos++ {
		if c, ok := within(b.code, b.pos); ok {
			b.pos = c.end - 1
			continue
		}
		switch b.src[b.pos] {
		case '[':
			b.depth++
		case ']':
			b.depth = max(0, b.depth-1)
		case '\n':
			if strings.HasPrefix(b.src[b.pos:], "\n\n") {
				b.depth = 0
			}
		}
	}
	return b.depth > 0
}
