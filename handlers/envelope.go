package handlers

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// envelope is what the door must know of Slack's JSON before it is stored.
type envelope struct {
	kind      string
	eventID   string
	challenge string
}

// maxEnvelopeText bounds a text of the envelope in bytes, quotes included; what is
// longer counts as absent.
const maxEnvelopeText = 8 << 10

// readEnvelope finds the texts "type", "event_id" and "challenge" of the outermost
// object, and what is not there or no text is empty. As encoding/json does, it
// takes the last of several. It only steps over all else, so that it costs little,
// needs no memory however deep a body is, and does not mind what it cannot be:
// where it loses the thread it returns what it had found.
func readEnvelope(data []byte) envelope {
	var e envelope
	s := scanner{rest: data}
	if !s.take('{') || s.take('}') {
		return e
	}
	for {
		key, ok := s.text()
		if !ok || !s.take(':') {
			return e
		}
		into := e.field(key)
		if into == nil {
			if !s.skip() {
				return e
			}
		} else if *into = ""; s.peek() == '"' {
			value, ok := s.text()
			if !ok {
				return e
			}
			*into = unquote(value)
		} else if !s.skip() {
			return e
		}
		if !s.take(',') {
			return e
		}
	}
}

// maxEscapedKey is the length of the longest key with escapes throughout.
const maxEscapedKey = len(`""`) + len("challenge")*len(`\u0000`)

// field returns what a key with its quotes is kept in, and nil for all others.
func (e *envelope) field(key []byte) *string {
	name := key
	if bytes.IndexByte(key, '\\') >= 0 {
		if len(key) > maxEscapedKey {
			return nil
		}
		name = []byte(`"` + unquote(key) + `"`)
	}
	switch string(name) {
	case `"type"`:
		return &e.kind
	case `"event_id"`:
		return &e.eventID
	case `"challenge"`:
		return &e.challenge
	}
	return nil
}

// unquote returns what a JSON text with its quotes says.
func unquote(quoted []byte) string {
	if len(quoted) > maxEnvelopeText {
		return ""
	}
	plain := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(plain, '\\') < 0 && utf8.Valid(plain) {
		return string(plain)
	}
	var text string
	if json.Unmarshal(quoted, &text) != nil {
		return ""
	}
	return text
}

// scanner steps through JSON.
type scanner struct{ rest []byte }

// peek returns the next byte that is no space, and 0 at the end.
func (s *scanner) peek() byte {
	for i, c := range s.rest {
		if c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			s.rest = s.rest[i:]
			return c
		}
	}
	s.rest = nil
	return 0
}

// take steps over c and reports whether it came next.
func (s *scanner) take(c byte) bool {
	if s.peek() != c {
		return false
	}
	s.rest = s.rest[1:]
	return true
}

// text returns the next text with its quotes.
func (s *scanner) text() ([]byte, bool) {
	if s.peek() != '"' {
		return nil, false
	}
	for i := 1; ; i++ {
		next := bytes.IndexByte(s.rest[i:], '"')
		if next < 0 {
			return nil, false
		}
		i += next
		// A quote belongs to the text when it is escaped: by a backslash that is not
		// itself escaped.
		escapes := i - len(bytes.TrimRight(s.rest[:i], `\`))
		if escapes%2 == 0 {
			text := s.rest[:i+1]
			s.rest = s.rest[i+1:]
			return text, true
		}
	}
}

// skip steps over one value.
func (s *scanner) skip() bool {
	for depth := 0; ; {
		switch s.peek() {
		case 0:
			return false
		case '"':
			if _, ok := s.text(); !ok {
				return false
			}
		case '{', '[':
			depth++
			s.rest = s.rest[1:]
		case '}', ']':
			depth--
			s.rest = s.rest[1:]
		case ',', ':':
			if depth == 0 {
				return false // a value was expected
			}
			s.rest = s.rest[1:]
		default:
			end := bytes.IndexAny(s.rest, " \t\r\n,:]}[{\"")
			if end < 0 {
				return false
			}
			s.rest = s.rest[end:]
		}
		if depth < 0 {
			return false
		}
		if depth == 0 {
			return true
		}
	}
}
