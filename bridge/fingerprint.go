package bridge

import "hash/maphash"

// fingerprint is a number that two messages share when they say the same JSON,
// in whatever order their fields are on the wire. The seed is secret, so that
// nobody can write two messages that are mistaken for each other.
func (f *frame) fingerprint(seed maphash.Seed) uint64 {
	return blend(maphash.String(seed, f.name), hashObject(seed, f.body, 0))
}

func hashObject(seed maphash.Seed, o object, depth int) uint64 {
	if depth > maxDepth {
		return maphash.Bytes(seed, o)
	}
	var sum uint64 // of the entries in any order
	for e := (elements{rest: o}); ; {
		element, ok := e.next()
		if !ok {
			return blend(sum, uint64(kindObject))
		}
		one, _ := entryOf(element)
		sum += blend(maphash.Bytes(seed, one.key), hashValue(seed, one.value, depth))
	}
}

func hashValue(seed maphash.Seed, v value, depth int) uint64 {
	s, _ := v.read()
	switch s.kind {
	case kindObject:
		return hashObject(seed, s.bytes, depth+1)
	case kindList:
		if depth > maxDepth {
			return maphash.Bytes(seed, s.bytes)
		}
		sum := uint64(kindList)
		for e := (elements{rest: s.bytes}); ; {
			element, ok := e.next()
			if !ok {
				return sum
			}
			sum = blend(sum, hashValue(seed, element, depth+1))
		}
	case kindString:
		return blend(maphash.Bytes(seed, s.bytes), uint64(kindString))
	default:
		return blend(s.bits, uint64(s.kind))
	}
}

// blend mixes two numbers into one that depends on their order. The constants
// are those of the finalizer of SplitMix64.
func blend(a, b uint64) uint64 {
	x := a*0x9e3779b97f4a7c15 + b
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
