package markup

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// spanStart is where the span begins that a place is within, or the place.
func (s *splitter) spanStart(at int) int {
	i := sort.Search(len(s.spans), func(i int) bool { return s.spans[i].end > at })
	if i == len(s.spans) || s.spans[i].start >= at {
		return at
	}
	return s.spans[i].start
}

// longestCluster is how many code points of one character are kept together. It
// bounds what hostile text can make of that.
const longestCluster = 32

// grapheme returns the last place until at, but after start, between what a reader
// sees as two characters, at which a cut makes no mention.
func (s *splitter) grapheme(start, at int) int {
	at = quietCut(s.src, start, s.outsideEntity(start, at))
	for at > start && at < len(s.src) && !utf8.RuneStart(s.src[at]) {
		at--
	}
	for back, tries := at, 0; back > start && tries < longestCluster; tries++ {
		if !joined(s.src[start:back], s.src[back:]) {
			return back
		}
		_, size := utf8.DecodeLastRuneInString(s.src[start:back])
		back -= size
	}
	return at
}

// outsideEntity moves a place out of an entity, if that is in one.
func (s *splitter) outsideEntity(start, at int) int {
	from := max(start+1, at-longestEntity)
	ampersand := strings.LastIndexByte(s.src[min(from, at):at], '&')
	if ampersand < 0 {
		return at
	}
	begin := from + ampersand
	if _, n := entity(s.src[begin:]); begin+n > at {
		return begin
	}
	return at
}

const zeroWidthJoiner = '\u200D'

// joined reports whether the end of one text and the beginning of another are one
// character, by the rules of Unicode that matter for emoji and combining marks
// (https://unicode.org/reports/tr29/).
func joined(before, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	next, size := utf8.DecodeRuneInString(after)
	switch {
	case size == 0:
		return false
	case last == zeroWidthJoiner, next == zeroWidthJoiner, unicode.In(next, unicode.M, unicode.Variation_Selector):
		return true
	case next >= 0x1F3FB && next <= 0x1F3FF, next >= 0xE0020 && next <= 0xE007F: // skin tones, tags
		return true
	case regional(last) && regional(next):
		return flags(before)%2 == 1
	}
	return false
}

// regional reports whether a rune is half a flag.
func regional(r rune) bool { return r >= 0x1F1E6 && r <= 0x1F1FF }

// flags counts the halves of flags at the end of a text, as far as it matters.
func flags(text string) int {
	n := 0
	for ; n < longestCluster; n++ {
		r, size := utf8.DecodeLastRuneInString(text)
		if !regional(r) {
			break
		}
		text = text[:len(text)-size]
	}
	return n
}
