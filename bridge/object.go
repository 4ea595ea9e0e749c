package bridge

import (
	"encoding/json"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// object is a google.protobuf.Struct, a JSON object, in its wire form. The zero
// value is empty. Its fields may be anything: one that is missing, malformed or of
// another type reads as its zero value.
type object []byte

// value is a google.protobuf.Value in its wire form; nil when there is none.
type value []byte

// valueKind is which case of a value is set.
type valueKind protowire.Number

// The cases of google.protobuf.Value by their field numbers; kindAbsent stands
// for a value without any.
const (
	kindAbsent valueKind = 0
	kindNull   valueKind = 1
	kindNumber valueKind = 2
	kindString valueKind = 3
	kindBool   valueKind = 4
	kindObject valueKind = 5
	kindList   valueKind = 6
)

// maxDepth is how deep values may be nested; below it there is nothing. Real
// messages have a handful of levels, and each costs a stack frame here.
const maxDepth = 512

// elements iterates over the repeated field 1, which is the entries of an object
// as well as the values of a list.
type elements struct {
	rest []byte
	// malformed is set when the iteration ended early.
	malformed bool
}

func (e *elements) next() ([]byte, bool) {
	for len(e.rest) > 0 {
		number, typ, n := protowire.ConsumeTag(e.rest)
		if n < 0 {
			break
		}
		size := protowire.ConsumeFieldValue(number, typ, e.rest[n:])
		if size < 0 {
			break
		}
		field := e.rest[n : n+size]
		e.rest = e.rest[n+size:]
		if number == 1 && typ == protowire.BytesType {
			element, _ := protowire.ConsumeBytes(field)
			return element, true
		}
	}
	e.malformed = len(e.rest) > 0
	return nil, false
}

// entry splits an element of an object.
func entry(element []byte) (key []byte, v value, ok bool) {
	v = value{} // a key without a value has one that is absent, not none
	for len(element) > 0 {
		number, typ, n := protowire.ConsumeTag(element)
		if n < 0 {
			return nil, nil, false
		}
		size := protowire.ConsumeFieldValue(number, typ, element[n:])
		if size < 0 {
			return nil, nil, false
		}
		if typ == protowire.BytesType {
			field, _ := protowire.ConsumeBytes(element[n : n+size])
			switch number {
			case 1:
				key = field
			case 2:
				v = field
			}
		}
		element = element[n+size:]
	}
	return key, v, true
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
		number, typ, n := protowire.ConsumeTag(v)
		if n < 0 {
			return scalar{}, false
		}
		v = v[n:]
		size := protowire.ConsumeFieldValue(number, typ, v)
		if size < 0 {
			return scalar{}, false
		}
		kind := valueKind(number)
		switch {
		case (kind == kindString || kind == kindObject || kind == kindList) && typ == protowire.BytesType:
			b, _ := protowire.ConsumeBytes(v)
			s = scalar{kind: kind, bytes: b}
		case kind == kindNumber && typ == protowire.Fixed64Type:
			bits, _ := protowire.ConsumeFixed64(v)
			s = scalar{kind: kind, bits: bits}
		case (kind == kindNull || kind == kindBool) && typ == protowire.VarintType:
			bits, _ := protowire.ConsumeVarint(v)
			s = scalar{kind: kind, bits: bits}
		}
		v = v[size:]
	}
	return s, true
}

// get returns a field, or nil. The last of several with one name counts.
func (o object) get(name string) value {
	var found value
	for e := (elements{rest: o}); ; {
		element, ok := e.next()
		if !ok {
			return found
		}
		if key, v, ok := entry(element); ok && string(key) == name {
			found = v
		}
	}
}

// of returns a field if it has the kind.
func (o object) of(name string, kind valueKind) (scalar, bool) {
	s, ok := o.get(name).read()
	if !ok || s.kind != kind {
		return scalar{}, false
	}
	return s, true
}

func (o object) text(name string) string {
	s, _ := o.of(name, kindString)
	return validText(s.bytes)
}

// same returns known if that is the field's text, and spares it an allocation.
func (o object) same(name, known string) string {
	s, _ := o.of(name, kindString)
	if string(s.bytes) == known {
		return known
	}
	return validText(s.bytes)
}

func (o object) truth(name string) bool {
	s, ok := o.of(name, kindBool)
	return ok && s.bits != 0
}

func (o object) object(name string) object {
	s, ok := o.of(name, kindObject)
	if !ok {
		return nil
	}
	return s.bytes
}

func (o object) list(name string) elements {
	s, _ := o.of(name, kindList)
	return elements{rest: s.bytes}
}

// integer reads a number; 0 for one that a double cannot hold exactly.
func (o object) integer(name string) int64 {
	s, ok := o.of(name, kindNumber)
	n := s.number()
	if !ok || math.IsNaN(n) || math.Abs(n) > 1<<53 {
		return 0
	}
	return int64(n)
}

func (o object) texts(name string) []string {
	var all []string
	for l := o.list(name); ; {
		v, ok := l.next()
		if !ok {
			return all
		}
		if s, ok := value(v).read(); ok && s.kind == kindString {
			all = append(all, validText(s.bytes))
		}
	}
}

// json returns a field as JSON, or nil when it is not there.
func (o object) json(name string) json.RawMessage {
	v := o.get(name)
	if v == nil {
		return nil
	}
	return v.json()
}
