package redact

import (
	"encoding/base64"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	// maxEncoded is how many encodings one within another are looked through.
	maxEncoded = 2
	// minEncoded is the length in bytes from which a word may hold a secret in
	// another form.
	minEncoded = 16
)

// inWord reports whether encoded texts are made of a character.
func inWord(c byte) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return true
	}
	return strings.IndexByte(`+/=-_%.~:@\*!`, c) >= 0
}

// encoded masks each word that says something secret once it is decoded: with the
// escapes of URLs or of JSON, or as base64.
func (r *Redactor) encoded(s string, depth int) string {
	if len(s) < minEncoded {
		return s
	}
	var out strings.Builder
	done := 0
	for i := 0; i < len(s); {
		if !inWord(s[i]) {
			i++
			continue
		}
		start := i
		for i < len(s) && inWord(s[i]) {
			i++
		}
		if i-start >= minEncoded && r.hides(s[start:i], depth) {
			out.WriteString(s[done:start] + Mask)
			done = i
		}
	}
	if done == 0 {
		return s
	}
	return out.String() + s[done:]
}

// hides reports whether a word holds a secret in another form.
func (r *Redactor) hides(word string, depth int) bool {
	if strings.IndexByte(word, '%') >= 0 {
		if text, changed := unescape(word, '%'); changed && r.masks(text, depth) {
			return true
		}
	}
	if strings.IndexByte(word, '\\') >= 0 {
		if text, changed := unescape(word, '\\'); changed && r.masks(text, depth) {
			return true
		}
	}
	if r.hidesBase64(word, base64.RawStdEncoding, "+/", depth) {
		return true
	}
	return strings.ContainsAny(word, "-_") && r.hidesBase64(word, base64.RawURLEncoding, "-_", depth)
}

func (r *Redactor) masks(text string, depth int) bool {
	masked := r.plain(text)
	if masked == text && depth > 1 {
		masked = r.encoded(text, depth-1)
	}
	return masked != text
}

// unescape decodes what is escaped as in URLs (%41), or as in JSON (\u0041).
func unescape(word string, mark byte) (string, bool) {
	out := make([]byte, 0, len(word))
	changed := false
	for i := 0; i < len(word); i++ {
		switch {
		case mark == '%' && word[i] == '+':
			out = append(out, ' ')
			continue
		case word[i] != mark:
		case mark == '%' && i+2 < len(word):
			if c, err := strconv.ParseUint(word[i+1:i+3], 16, 8); err == nil {
				out, changed = append(out, byte(c)), true
				i += 2
				continue
			}
		case mark == '\\' && i+5 < len(word) && word[i+1] == 'u':
			if c, err := strconv.ParseUint(word[i+2:i+6], 16, 16); err == nil {
				out, changed = utf8.AppendRune(out, rune(c)), true
				i += 5
				continue
			}
		case mark == '\\' && i+1 < len(word) && (word[i+1] == '/' || word[i+1] == '\\'):
			continue
		}
		out = append(out, word[i])
	}
	return string(out), changed
}

// hidesBase64 looks at all parts of a word that an encoding with these two further
// characters can have made, from each place at which a group may begin: what stands
// before it may be a path.
func (r *Redactor) hidesBase64(word string, encoding *base64.Encoding, two string, depth int) bool {
	other := func(c rune) bool {
		return (c < 'A' || 'Z' < c) && (c < 'a' || 'z' < c) && (c < '0' || '9' < c) && !strings.ContainsRune(two, c)
	}
	for part := range strings.FieldsFuncSeq(word, other) {
		if len(part) < minEncoded {
			continue
		}
		for from := range 4 {
			text := part[from:]
			if len(text)%4 == 1 {
				text = text[:len(text)-1]
			}
			// The alphabet is right, so that it can be decoded.
			if decoded, err := encoding.DecodeString(text); err == nil && r.masks(string(decoded), depth) {
				return true
			}
		}
	}
	return false
}
