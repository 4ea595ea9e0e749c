package markup

import (
	"html"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// folded is a text as the most forgiving reader would take it: entities decoded
// however often they were encoded, backslashes and marks of emphasis gone, compatible
// forms made plain, and nothing in it that cannot be seen.
type folded struct {
	runes []rune
	// start and end are where each rune stands in the source.
	start, end []int
}

// maxFolds is how often what came out of a text is read again: taking out what is
// not seen may bring the halves of an entity together.
const maxFolds = 3

// fold reads a text. Without tags, HTML elements and comments count as nothing too.
func fold(src string, tags bool) folded {
	f := foldOnce(src, tags)
	for range maxFolds {
		if !slices.Contains(f.runes, '&') {
			break
		}
		again := foldOnce(string(f.runes), tags)
		if len(again.runes) == len(f.runes) {
			break
		}
		f = again.over(f)
	}
	return f
}

func foldOnce(src string, tags bool) folded {
	var f folded
	add := func(r rune, start, end int) {
		f.runes = append(f.runes, r)
		f.start = append(f.start, start)
		f.end = append(f.end, end)
	}
	for at := 0; at < len(src); {
		r, size := utf8.DecodeRuneInString(src[at:])
		end := at + size
		if r == '<' && !tags && tagLength(src[at:]) > 0 {
			at += tagLength(src[at:])
			continue
		}
		if r == '&' {
			if decoded, n := entity(src[at:]); n > 0 {
				r, end = decoded, at+n
			}
		}
		switch {
		case unseen(r), r == '*', r == '_', r == '~', r == '`', r == '\\':
		case r < utf8.RuneSelf:
			add(r, at, end)
		default:
			for _, c := range norm.NFKC.String(string(r)) {
				add(c, at, end)
			}
		}
		at = end
	}
	return f
}

// over returns what was read out of another reading, in places of its source.
func (f folded) over(first folded) folded {
	// Places of f are bytes of first's runes; index holds which rune each is in.
	var index []int
	for i, r := range first.runes {
		for range utf8.RuneLen(r) {
			index = append(index, i)
		}
	}
	for i := range f.runes {
		f.start[i] = first.start[index[f.start[i]]]
		f.end[i] = first.end[index[f.end[i]-1]]
	}
	return f
}

// longestEntity is longer than the name of any entity.
const longestEntity = 40

// entity decodes the entity at the beginning of a text, and what it decodes to if
// that is the beginning of another one. It returns how many bytes that took, or zero.
func entity(src string) (decoded rune, length int) {
	decoded = '&'
	for decoded == '&' {
		r, n := reference(src[max(1, length):])
		if n == 0 {
			return '&', length
		}
		decoded, length = r, max(1, length)+n
	}
	return decoded, length
}

// reference decodes what follows the "&" of an entity. It returns how many bytes
// that took, or zero.
func reference(src string) (decoded rune, length int) {
	window := src[:min(len(src), longestEntity)]
	end := strings.IndexFunc(window, func(r rune) bool { return r != '#' && !isAlphanumeric(r) })
	if end < 0 {
		end = len(window)
	}
	name := "&" + window[:end]
	if end < len(window) && window[end] == ';' {
		if text := html.UnescapeString(name + ";"); !strings.HasPrefix(text, "&") || text == "&" {
			decoded, _ = utf8.DecodeRuneInString(text)
			return decoded, end + 1
		}
	}
	// Browsers take some without their semicolon.
	if strings.HasPrefix(name, "&#") {
		digits := strings.TrimRightFunc(name, func(r rune) bool { return r != '#' && !unicode.Is(unicode.ASCII_Hex_Digit, r) })
		if text := html.UnescapeString(digits); !strings.HasPrefix(text, "&#") {
			decoded, _ = utf8.DecodeRuneInString(text)
			return decoded, len(digits) - 1
		}
	}
	switch {
	case len(window) >= 2 && strings.EqualFold(window[:2], "lt"):
		return '<', 2
	case len(window) >= 3 && strings.EqualFold(window[:3], "amp"):
		return '&', 3
	}
	return 0, 0
}

// longestTag bounds what is taken for one element.
const longestTag = 200

// tagLength is how many bytes of a text are an HTML element or comment, or zero.
func tagLength(src string) int {
	window := src[:min(len(src), longestTag)]
	if strings.HasPrefix(window, "<!--") {
		if end := strings.Index(window[4:], "-->"); end >= 0 {
			return 4 + end + 3
		}
		return 0
	}
	if len(window) < 2 || window[1] != '/' && !unicode.IsLetter(rune(window[1])) {
		return 0
	}
	end := strings.IndexAny(window[1:], "<>\n")
	if end < 0 || window[1+end] != '>' {
		return 0
	}
	return 1 + end + 1
}

// unseen reports whether a rune takes no place on a screen.
func unseen(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Variation_Selector, r):
		return true
	}
	return unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
}

func isAlphanumeric(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
}
