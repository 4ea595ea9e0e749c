package load

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// Values that stand for what differs from one request to the next. Each is
// replaced by something of its own length, so that a body never changes its size.
const (
	markNumber = 7_654_321
	markID     = 4_000_004_321
	markSHA    = "c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00"
	markEvent  = "EvMARK0MARK0"
	markStamp  = "1234567890.123456"
	markText   = "uniquemarktext00"
)

// marks are the values as they stand in a body, with what replaces them.
var marks = []struct {
	text  string
	write func(dst []byte, n uint64)
}{
	{strconv.Itoa(markNumber), func(dst []byte, n uint64) { decimal(dst, 1_000_000+n%9_000_000) }},
	{strconv.Itoa(markID), func(dst []byte, n uint64) { decimal(dst, 2_000_000_000+n%2_000_000_000) }},
	{markSHA, func(dst []byte, n uint64) { hexadecimal(dst, n) }},
	{markEvent, func(dst []byte, n uint64) { decimal(dst[2:], n) }},
	{markStamp, func(dst []byte, n uint64) {
		decimal(dst[:10], 1_700_000_000+n/1_000_000)
		decimal(dst[11:], n%1_000_000)
	}},
	{markText, func(dst []byte, n uint64) { hexadecimal(dst, n) }},
}

// place is where a mark stands in a body.
type place struct {
	at, end int
	write   func(dst []byte, n uint64)
}

// template is a body with the places that differ.
type template struct {
	body   []byte
	places []place
}

// newTemplate encodes a payload and finds the marks in it.
func newTemplate(payload any) template {
	body, err := json.Marshal(payload)
	if err != nil {
		panic("load: encode a payload: " + err.Error()) // they are our own
	}
	t := template{body: body}
	for _, m := range marks {
		for from := 0; ; {
			i := bytes.Index(body[from:], []byte(m.text))
			if i < 0 {
				break
			}
			t.places = append(t.places, place{from + i, from + i + len(m.text), m.write})
			from += i + len(m.text)
		}
	}
	return t
}

// fill writes variant n over body, a copy of the template's.
func (t template) fill(body []byte, n uint64) {
	for _, p := range t.places {
		p.write(body[p.at:p.end], n)
	}
}

// decimal fills dst with the last digits of n.
func decimal(dst []byte, n uint64) {
	for i := len(dst) - 1; i >= 0; i-- {
		dst[i] = byte('0' + n%10)
		n /= 10
	}
}

// hexadecimal fills dst with digits that look random and differ for each n.
func hexadecimal(dst []byte, n uint64) {
	const digits = "0123456789abcdef"
	word := scatter(n)
	for i := range dst {
		if i%16 == 0 && i > 0 {
			word = scatter(word)
		}
		dst[i] = digits[word>>(60-4*(i%16))&15]
	}
}

// scatter maps numbers one to one to numbers in no visible order, as the ids of
// platforms come: a store must not be flattered by keys in order. It is the
// finalizer of SplitMix64 (https://prng.di.unimi.it/splitmix64.c).
func scatter(n uint64) uint64 {
	n += 0x9e3779b97f4a7c15
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return n ^ n>>31
}
