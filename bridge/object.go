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
		f, rest, ok := cutField(e.rest)
		if !ok {
			e.malformed = true
			return nil, false
		}
		e.rest = rest
		if f.number == 1 && f.typ == protowire.BytesType {
			return f.bytes, true
		}
	}
	return nil, false
}

// entry is a field of an object.
type entry struct {
	key   []byte
	value value
}

// entryOf splits an element of an object.
func entryOf(element []byte) (e entry, ok bool) {
	e.value = value{} // a key without a value has one that is absent, not none
	for len(element) > 0 {
		f, rest, ok := cutField(element)
		if !ok {
			return entry{}, false
		}
		element = rest
		if f.typ == protowire.BytesType {
			switch f.number {
			case 1:
				e.key = f.bytes
			case 2:
				e.value = f.bytes
			}
		}
	}
	return e, true
}

// fewEntries is room for the entries of an ordinary object.
type fewEntries [8]entry

// entries appends the object's entries to all, as far as they can be read.
func (o object) entries(all []entry) (entries, bool) {
	for e := (elements{rest: o}); ; {
		element, more := e.next()
		if !more {
			return all, !e.malformed
		}
		one, ok := entryOf(element)
		if !ok {
			return all, false
		}
		all = append(all, one)
	}
}

// entries are the fields of an object.
type entries []entry

// get returns a field, or nil. The last of several with one name counts.
func (all entries) get(name string) value {
	for i := len(all) - 1; i >= 0; i-- {
		if string(all[i].key) == name {
			return all[i].value
		}
	}
	return nil
}

// of returns a field if it has the kind.
func (all entries) of(name string, kind valueKind) (scalar, bool) {
	s, ok := all.get(name).read()
	if !ok || s.kind != kind {
		return scalar{}, false
	}
	return s, true
}

func (all entries) text(name string) string {
	s, _ := all.of(name, kindString)
	return validText(s.bytes)
}

// same returns known if that is the field's text, and spares it an allocation.
func (all entries) same(name, known string) string {
	s, _ := all.of(name, kindString)
	if string(s.bytes) == known {
		return known
	}
	return validText(s.bytes)
}

func (all entries) truth(name string) bool {
	s, ok := all.of(name, kindBool)
	return ok && s.bits != 0
}

func (all entries) object(name string) object {
	s, ok := all.of(name, kindObject)
	if !ok {
		return nil
	}
	return s.bytes
}

func (all entries) list(name string) elements {
	s, _ := all.of(name, kindList)
	return elements{rest: s.bytes}
}

// integer reads a number; 0 for one that a double cannot hold exactly.
func (all entries) integer(name string) int64 {
	s, ok := all.of(name, kindNumber)
	n := s.number()
	if !ok || math.IsNaN(n) || math.Abs(n) > 1<<53 {
		return 0
	}
	return int64(n)
}

func (all entries) texts(name string) []string {
	var texts []string
	for l := all.list(name); ; {
		v, ok := l.next()
		if !ok {
			return texts
		}
		if s, ok := value(v).read(); ok && s.kind == kindString {
			texts = append(texts, validText(s.bytes))
		}
	}
}

// json returns a field as JSON, or nil when it is not there.
func (all entries) json(name string) json.RawMessage {
	v := all.get(name)
	if v == nil {
		return nil
	}
	return v.json()
}
