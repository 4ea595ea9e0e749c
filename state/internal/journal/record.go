package journal

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"slices"
	"strings"
	"time"
)

// Kind says what a record is.
type Kind byte

// The kinds of records.
const (
	// Accepted is a delivery that came for the first time. It counts on its own.
	Accepted Kind = iota + 1
	// Rearmed is a delivery that came again after it was given up, and Moved a
	// copy of an older record. They count once the database names their place.
	Rearmed
	Moved
	// probe proves that the journal can be written. The next record replaces it.
	probe
)

// Record is one delivery in the journal.
type Record struct {
	Kind Kind
	// Seq is the delivery's number.
	Seq uint64
	// Source, ID and Event are of any length together below the limit of a record.
	Source, ID, Event string
	Headers           map[string]string
	ReceivedAt        time.Time
	// Body is what the caller encoded.
	Body []byte
}

// Position is where a record is. The zero value is none.
type Position struct {
	Segment uint64 `json:"segment"`
	Offset  uint32 `json:"offset"`
	// Length is that of the whole record; zero in a position that is only a place.
	Length uint32 `json:"length,omitempty"`
}

// Start is where the first record of a segment is.
func Start(segment uint64) Position { return Position{Segment: segment, Offset: headerSize} }

// After is the place behind the record at p.
func (p Position) After() Position { return Position{Segment: p.Segment, Offset: p.Offset + p.Length} }

// Before reports whether p comes before q.
func (p Position) Before(q Position) bool {
	return p.Segment < q.Segment || p.Segment == q.Segment && p.Offset < q.Offset
}

// A record is: mark, length and sum of what follows, then kind, source, id,
// event, time, headers, body, number. The number comes last so that only it is
// left to be summed once the order is known.
const (
	markSize  = 8
	frameSize = markSize + 4 + 4
	seqSize   = 8
	// MaxRecord is the most bytes of a record. GitHub sends at most 25 MB
	// (https://docs.github.com/webhooks/webhook-events-and-payloads#payload-cap),
	// and a server reads at most 1 MiB of headers.
	MaxRecord = 66 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var errMalformed = errors.New("no whole record")

// encode appends the frame and everything of r but its number to dst, the body
// as body appends it, and returns the sum so far.
func encode(dst []byte, r Record, body func(dst, raw []byte) []byte) ([]byte, uint32) {
	dst = append(dst, make([]byte, frameSize)...)
	start := len(dst)
	dst = append(dst, byte(r.Kind))
	dst = appendText(dst, r.Source)
	dst = appendText(dst, r.ID)
	dst = appendText(dst, r.Event)
	dst = appendTime(dst, r.ReceivedAt)
	dst = binary.AppendUvarint(dst, uint64(len(r.Headers)))
	for name, value := range r.Headers {
		dst = appendText(dst, name)
		dst = appendText(dst, value)
	}
	dst = body(dst, r.Body)
	return dst, crc32.Checksum(dst[start:], castagnoli)
}

func appendText(dst []byte, s string) []byte {
	s = strings.ToValidUTF8(s, "\uFFFD")
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// appendTime keeps the time zone as an offset, or UTC where it has none that
// can be written.
func appendTime(dst []byte, t time.Time) []byte {
	at := len(dst)
	dst = append(dst, 0)
	with, err := t.AppendBinary(dst)
	if err != nil {
		with, _ = t.UTC().AppendBinary(dst)
	}
	with[at] = byte(len(with) - at - 1)
	return with
}

// finish completes an encoded record with its mark and its number.
func finish(raw []byte, sum uint32, mark [markSize]byte, seq uint64) []byte {
	raw = binary.LittleEndian.AppendUint64(raw, seq)
	size := uint32(len(raw) - frameSize)
	sum = crc32.Update(sum, castagnoli, raw[len(raw)-seqSize:])
	copy(raw, mark[:])
	binary.LittleEndian.PutUint32(raw[markSize:], size)
	binary.LittleEndian.PutUint32(raw[markSize+4:], crc32.Update(sum, castagnoli, raw[markSize:markSize+4]))
	return raw
}

// frame returns the length of the record that begins with head.
func frame(head []byte, mark [markSize]byte) (length int, ok bool) {
	if len(head) < frameSize || [markSize]byte(head) != mark {
		return 0, false
	}
	size := binary.LittleEndian.Uint32(head[markSize:])
	if size < seqSize+1 || size > MaxRecord-frameSize {
		return 0, false
	}
	return frameSize + int(size), true
}

// decode reads a whole record. The body is a part of raw.
func decode(raw []byte, mark [markSize]byte) (r Record, err error) {
	length, ok := frame(raw, mark)
	if !ok || length != len(raw) {
		return r, errMalformed
	}
	payload := raw[frameSize:]
	sum := crc32.Update(crc32.Checksum(payload, castagnoli), castagnoli, raw[markSize:markSize+4])
	if sum != binary.LittleEndian.Uint32(raw[markSize+4:]) {
		return r, errMalformed
	}
	r.Seq = binary.LittleEndian.Uint64(payload[len(payload)-seqSize:])
	d := decoder{rest: payload[1 : len(payload)-seqSize]}
	r.Kind = Kind(payload[0])
	if r.Kind == probe {
		return r, nil
	}
	r.Source, r.ID, r.Event = string(d.text()), string(d.text()), string(d.text())
	r.ReceivedAt = d.time()
	n := d.count()
	if n > 0 && !d.failed {
		r.Headers = make(map[string]string, min(n, 64))
		for range n {
			name := string(d.text())
			r.Headers[name] = string(d.text())
			if d.failed {
				break
			}
		}
	}
	if d.failed {
		return r, errMalformed
	}
	r.Body = slices.Clip(d.rest)
	return r, nil
}

// decoder takes apart what encode wrote. After a failure it yields nothing.
type decoder struct {
	rest   []byte
	failed bool
}

func (d *decoder) count() uint64 {
	n, size := binary.Uvarint(d.rest)
	if size <= 0 {
		d.failed, d.rest = true, nil
		return 0
	}
	d.rest = d.rest[size:]
	return n
}

func (d *decoder) bytes(n uint64) []byte {
	if n > uint64(len(d.rest)) {
		d.failed, d.rest = true, nil
		return nil
	}
	out := d.rest[:n]
	d.rest = d.rest[n:]
	return out
}

func (d *decoder) text() []byte { return d.bytes(d.count()) }

func (d *decoder) time() (t time.Time) {
	raw := d.bytes(1)
	if d.failed {
		return t
	}
	if err := t.UnmarshalBinary(d.bytes(uint64(raw[0]))); err != nil {
		d.failed = true
	}
	return t
}
