package journal

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

// FuzzDecode takes any bytes for a record: what is accepted comes out as it went in.
func FuzzDecode(f *testing.F) {
	mark := markOf(lineage, 1)
	for i := range 4 {
		raw, sum := encode(nil, record(i), plain)
		f.Add(finish(raw, sum, mark, uint64(i))[frameSize:])
	}
	f.Add([]byte{1, 0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, payload []byte) {
		if len(payload) < seqSize+1 {
			return
		}
		// The sum is right, so that the rest is looked at.
		body, seq := payload[:len(payload)-seqSize], payload[len(payload)-seqSize:]
		raw, sum := encode(nil, Record{}, func([]byte, []byte) []byte { return append(make([]byte, frameSize), body...) })
		raw = finish(raw, sum, mark, 0)
		copy(raw[len(raw)-seqSize:], seq)
		if _, err := decode(raw, mark); err == nil && !bytes.Equal(seq, make([]byte, seqSize)) {
			t.Fatal("a number that is not in the sum was accepted")
		}
		copy(raw[len(raw)-seqSize:], make([]byte, seqSize))
		r, err := decode(raw, mark)
		if err != nil {
			return
		}
		again, sum := encode(nil, r, plain)
		back, err := decode(finish(again, sum, mark, r.Seq), mark)
		if err != nil || r.Kind != probe && (back.ID != strings.ToValidUTF8(r.ID, "\uFFFD") || !bytes.Equal(back.Body, r.Body) || len(back.Headers) > len(r.Headers)) {
			t.Fatalf("%+v came back as %+v, %v", r, back, err)
		}
	})
}

// FuzzScan writes anything anywhere into a segment: records that it does not
// touch are found, in order, and the scan ends.
func FuzzScan(f *testing.F) {
	raw, ends := segment(f, 8)
	f.Add(uint16(0), []byte("x"))
	f.Add(uint16(headerSize), bytes.Repeat([]byte{0}, 100))
	f.Add(uint16(headerSize+markSize), []byte{0xff, 0xff, 0xff, 0x03})
	f.Add(uint16(ends[2]), raw[headerSize:ends[0]])
	mark := markOf(lineage, 1)
	f.Fuzz(func(t *testing.T, at uint16, patch []byte) {
		spoiled := bytes.Clone(raw)
		from := int(at) % ends[7]
		n := copy(spoiled[from:], patch)
		s := &scanner{r: bytes.NewReader(spoiled), size: int64(len(spoiled)), segment: 1, mark: mark, at: headerSize, end: headerSize}
		seen := map[uint32]bool{}
		last := int64(-1)
		for {
			_, place, err := s.next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if int64(place.Offset) <= last {
				t.Fatalf("the record at %d comes after that at %d", place.Offset, last)
			}
			last = int64(place.Offset)
			seen[place.Offset] = true
		}
		start := headerSize
		for i, end := range ends {
			// A patch may hold records of its own, which hide what they reach into.
			if (from+n <= start || from >= end) && !seen[uint32(start)] && !bytes.Contains(patch, mark[:]) {
				t.Errorf("record %d was not found", i)
			}
			start = end
		}
	})
}
