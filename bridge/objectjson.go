package bridge

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// raw returns the object as JSON with sorted keys and without HTML escapes; nil
// for none, and for what JSON cannot say, such as a NaN.
func (o object) raw() json.RawMessage {
	if o == nil {
		return nil
	}
	b, ok := appendObject(make([]byte, 0, len(o)+len(o)/4), o, 0)
	if !ok {
		return nil
	}
	return b
}

func (v value) json() json.RawMessage {
	b, ok := appendValue(make([]byte, 0, len(v)+2), v, 0)
	if !ok {
		return nil
	}
	return b
}

func appendValue(b []byte, v value, depth int) ([]byte, bool) {
	s, ok := v.read()
	if !ok || depth > maxDepth {
		return b, false
	}
	switch s.kind {
	case kindNumber:
		return appendNumber(b, s.number())
	case kindString:
		return appendString(b, s.bytes), true
	case kindBool:
		return strconv.AppendBool(b, s.bits != 0), true
	case kindObject:
		return appendObject(b, s.bytes, depth+1)
	case kindList:
		return appendList(b, s.bytes, depth+1)
	default:
		return append(b, "null"...), true
	}
}

func appendList(b []byte, list []byte, depth int) ([]byte, bool) {
	b = append(b, '[')
	e := elements{rest: list}
	for first := true; ; first = false {
		v, ok := e.next()
		if !ok {
			return append(b, ']'), !e.malformed
		}
		if !first {
			b = append(b, ',')
		}
		if b, ok = appendValue(b, v, depth); !ok {
			return b, false
		}
	}
}

func appendObject(b []byte, o object, depth int) ([]byte, bool) {
	var few fewEntries
	fields, ok := o.entries(few[:0])
	if !ok {
		return b, false
	}
	slices.SortStableFunc(fields, func(x, y entry) int { return bytes.Compare(x.key, y.key) })
	b = append(b, '{')
	written := false
	for i, f := range fields {
		if i+1 < len(fields) && bytes.Equal(f.key, fields[i+1].key) {
			continue // the last of one name counts
		}
		if written {
			b = append(b, ',')
		}
		written = true
		b = append(appendString(b, f.key), ':')
		if b, ok = appendValue(b, f.value, depth); !ok {
			return b, false
		}
	}
	return append(b, '}'), true
}

// appendNumber writes a number as encoding/json does.
func appendNumber(b []byte, n float64) ([]byte, bool) {
	if math.IsNaN(n) || math.IsInf(n, 0) {
		return b, false
	}
	if abs := math.Abs(n); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		b = strconv.AppendFloat(b, n, 'e', -1, 64)
		if end := len(b) - 4; end >= 0 && string(b[end:end+3]) == "e-0" {
			b = append(b[:end+2], b[end+3])
		}
		return b, true
	}
	return strconv.AppendFloat(b, n, 'f', -1, 64), true
}

// appendString writes a string as encoding/json does without its HTML escapes.
func appendString(b, s []byte) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c < utf8.RuneSelf {
			b = append(b, s[start:i]...)
			switch c {
			case '"', '\\':
				b = append(b, '\\', c)
			case '\b':
				b = append(b, `\b`...)
			case '\f':
				b = append(b, `\f`...)
			case '\n':
				b = append(b, `\n`...)
			case '\r':
				b = append(b, `\r`...)
			case '\t':
				b = append(b, `\t`...)
			default:
				b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			}
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRune(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b = append(append(b, s[start:i]...), `\ufffd`...)
			start = i + size
		case r == '\u2028' || r == '\u2029': // line ends in JavaScript
			b = append(append(b, s[start:i]...), `\u202`...)
			b = append(b, hex[r&15])
			start = i + size
		}
		i += size
	}
	return append(append(b, s[start:]...), '"')
}

// marshal writes what protobuf has decoded as raw does; nil for what JSON cannot say.
func marshal(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
}
