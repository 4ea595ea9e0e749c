package bridge

import (
	"bytes"
	"math"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// wireField is one field of a message in its wire form.
type wireField struct {
	number protowire.Number
	typ    protowire.Type
	bytes  []byte // of a BytesType
	bits   uint64 // of a VarintType or a Fixed64Type
}

// cutField cuts the first field off a message; false when it is malformed. Nearly
// all fields are short and have small numbers, which is quick to read.
func cutField(b []byte) (f wireField, rest []byte, ok bool) {
	if len(b) >= 2 && b[0] < 0x80 && b[0] >= 8 && protowire.Type(b[0]&7) == protowire.BytesType && b[1] < 0x80 {
		end := 2 + int(b[1])
		if end > len(b) {
			return f, nil, false
		}
		return wireField{number: protowire.Number(b[0] >> 3), typ: protowire.BytesType, bytes: b[2:end:end]}, b[end:], true
	}
	number, typ, n := protowire.ConsumeTag(b)
	if n < 0 {
		return f, nil, false
	}
	f.number, f.typ, b = number, typ, b[n:]
	switch typ {
	case protowire.BytesType:
		f.bytes, n = protowire.ConsumeBytes(b)
	case protowire.VarintType:
		f.bits, n = protowire.ConsumeVarint(b)
	case protowire.Fixed64Type:
		f.bits, n = protowire.ConsumeFixed64(b)
	default:
		n = protowire.ConsumeFieldValue(number, typ, b)
	}
	if n < 0 {
		return f, nil, false
	}
	return f, b[n:], true
}

// scalar is a value that is split into its case and what it holds.
type scalar struct {
	kind valueKind
	// bytes is a string, or the wire form of an object or a list.
	bytes []byte
	// bits is a number or a bool.
	bits uint64
}

func (s scalar) number() float64 { return math.Float64frombits(s.bits) }

// read splits a value; false when it is malformed. The last case wins.
func (v value) read() (s scalar, ok bool) {
	for len(v) > 0 {
		f, rest, ok := cutField(v)
		if !ok {
			return scalar{}, false
		}
		v = rest
		kind := valueKind(f.number)
		switch {
		case f.typ == protowire.BytesType && (kind == kindString || kind == kindObject || kind == kindList),
			f.typ == protowire.Fixed64Type && kind == kindNumber,
			f.typ == protowire.VarintType && (kind == kindNull || kind == kindBool):
			s = scalar{kind: kind, bytes: f.bytes, bits: f.bits}
		}
	}
	return s, true
}

// validText makes a string of what claims to be UTF-8.
func validText(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	return string(bytes.ToValidUTF8(b, []byte("\uFFFD")))
}
