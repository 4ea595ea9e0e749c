package markup

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// folded is a text as the most forgiving reader would take it: entities decoded
// however often they were encoded, escapes and marks of emphasis gone, compatible
// forms made plain, and nothing in it that cannot be seen.
type folded struct {
	runes []rune
	// start and end are where each rune stands in the source.
	start, end []int
}

// fold reads a text. Without tags, HTML elements and comments count as nothing too.
func fold(src string, tags bool) folded {
	var f folded
	add := func(r rune, start, end int) {
		f.runes = append(f.runes, r)
		f.start = append(f.start, start)
		f.end = append(f.end, end)
	}
	for at := 0; at < len(src); {
		r, size := utf8.DecodeRuneInString(src[at:])
		end := at + size
		switch {
		case r == '<' && !tags && tagLength(src[at:]) > 0:
			at += tagLength(src[at:])
			continue
		case r == '&':
			var n int
			if r, n = entity(src[at:]); n > 0 {
				end = at + n
			}
		case r == '\\' && end < len(src) && isPunctuation(src[end]):
			r = rune(src[end])
			end++
		}
		if r == '&' && src[at] == '\\' {
			// An escaped ampersand may still begin an entity for a second reader.
			if decoded, n := entity(src[end-1:]); n > 0 {
				r, end = decoded, end-1+n
			}
		}
		switch {
		case unseen(r), r == '*', r == '_', r == '~', r == '`':
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

// longestEntity is longer than the name of any entity.
const longestEntity = 40

// entity decodes the entity at the beginning of a text, and what it decodes to if
// that is the beginning of another one. It returns how many bytes that took, or zero.
func entity(src string) (decoded rune, length int) {
	for {
		rest := src[max(1, length):]
		semicolon := strings.IndexByte(rest[:min(len(rest), longestEntity)], ';')
		if semicolon < 1 {
			break
		}
		name := "&" + rest[:semicolon+1]
		text := html.UnescapeString(name)
		if text == name {
			break
		}
		decoded, _ = utf8.DecodeRuneInString(text)
		length = max(1, length) + semicolon + 1
		if decoded != '&' {
			return decoded, length
		}
	}
	if rest := src[max(1, length):]; len(rest) >= 2 && strings.EqualFold(rest[:2], "lt") {
		// Browsers take it without its semicolon.
		return '<', max(1, length) + 2
	}
	if length > 0 {
		return '&', length
	}
	return '&', 0
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

// isPunctuation reports whether a backslash before it escapes it.
func isPunctuation(c byte) bool {
	return c > ' ' && c < 0x7F && !isAlphanumeric(rune(c))
}

func isAlphanumeric(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
}
