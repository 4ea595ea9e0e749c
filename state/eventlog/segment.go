package eventlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/internal/durable"
)

// A packed record is a header, the session's id and a zstd stream of its lines:
//
//	"LPK1"  length of the id (2)  events (8)  size of the lines (8)
//	length of the stream (8)  CRC-32C of all this but the magic, and of the id (4)
//
// Numbers are big-endian. The stream has a checksum of its own.
const (
	packMagic  = "LPK1"
	packHeader = 4 + 2 + 8 + 8 + 8 + 4
	// segmentSize is from where on a segment takes no more records. A smaller one
	// would make more files, a larger one costs more to rewrite.
	segmentSize = 64 << 20
	// packWindow bounds what reading a record needs in memory.
	packWindow = 256 << 10
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// packedHead is what stands before a stream.
type packedHead struct {
	id                   string
	events, size, length int64
}

func (h packedHead) encode() []byte {
	b := make([]byte, 0, packHeader+len(h.id))
	b = append(b, packMagic...)
	b = binary.BigEndian.AppendUint16(b, uint16(len(h.id)))
	for _, n := range []int64{h.events, h.size, h.length} {
		b = binary.BigEndian.AppendUint64(b, uint64(n))
	}
	sum := crc32.Update(crc32.Checksum(b[4:], castagnoli), castagnoli, []byte(h.id))
	return append(binary.BigEndian.AppendUint32(b, sum), h.id...)
}

// readHead reads the head of the record at an offset.
func readHead(r io.ReaderAt, at int64) (packedHead, error) {
	var b [packHeader]byte
	if _, err := r.ReadAt(b[:], at); err != nil {
		return packedHead{}, err
	}
	id := make([]byte, binary.BigEndian.Uint16(b[4:]))
	if string(b[:4]) != packMagic || len(id) > state.MaxID {
		return packedHead{}, errors.New("no packed record begins here")
	}
	if _, err := r.ReadAt(id, at+packHeader); err != nil {
		return packedHead{}, err
	}
	sum := crc32.Update(crc32.Checksum(b[4:packHeader-4], castagnoli), castagnoli, id)
	if sum != binary.BigEndian.Uint32(b[packHeader-4:]) {
		return packedHead{}, errors.New("the head of a packed record has a wrong checksum")
	}
	h := packedHead{id: string(id)}
	for i, n := range []*int64{&h.events, &h.size, &h.length} {
		if *n = int64(binary.BigEndian.Uint64(b[6+8*i:])); *n < 0 {
			return packedHead{}, errors.New("the head of a packed record has a negative number")
		}
	}
	return h, nil
}

// bytes is the length of the whole record.
func (h packedHead) bytes() int64 { return packHeader + int64(len(h.id)) + h.length }

// segment is the file that packed records are appended to.
type segment struct {
	number uint64
	f      *os.File
	size   int64
	enc    *zstd.Encoder
}

func segmentPath(dir string, number uint64) string {
	return filepath.Join(dir, fmt.Sprintf("%08d.seg", number))
}

// openSegment opens a segment to append to it. What a crash left at its end is
// nobody's.
func openSegment(dir string, number uint64, create bool) (*segment, error) {
	path := segmentPath(dir, number)
	flags := os.O_RDWR
	if create {
		if err := durable.MkdirAll(dir); err != nil {
			return nil, err
		}
		flags |= os.O_CREATE
	}
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && create {
		err = durable.SyncDir(dir)
	}
	var enc *zstd.Encoder
	if err == nil {
		enc, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(packWindow), zstd.WithLowerEncoderMem(true))
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &segment{number: number, f: f, size: info.Size(), enc: enc}, nil
}

// append packs lines and returns where they are. Nothing is synced.
func (s *segment) append(id string, events, size int64, lines io.Reader) (state.PackedRecord, error) {
	start := packHeader + int64(len(id))
	out := io.NewOffsetWriter(s.f, s.size+start)
	s.enc.Reset(out)
	n, err := s.enc.ReadFrom(lines)
	if err = errors.Join(err, s.enc.Close()); err != nil {
		return state.PackedRecord{}, err
	}
	if n != size {
		return state.PackedRecord{}, fmt.Errorf("%d bytes instead of %d: %w", n, size, state.ErrCorrupt)
	}
	length, err := out.Seek(0, io.SeekCurrent)
	if err != nil {
		return state.PackedRecord{}, err
	}
	return s.finish(packedHead{id: id, events: events, size: size, length: length})
}

// finish writes the head of a record whose stream is in place.
func (s *segment) finish(h packedHead) (state.PackedRecord, error) {
	if _, err := s.f.WriteAt(h.encode(), s.size); err != nil {
		return state.PackedRecord{}, err
	}
	p := state.PackedRecord{
		Segment: s.number, Offset: s.size, Length: h.bytes(), Events: h.events, Size: h.size,
	}
	s.size += p.Length
	return p, nil
}

func (s *segment) close() error { return s.f.Close() }

// packedReader reads the lines of a packed record.
type packedReader struct {
	f    *os.File
	dec  *zstd.Decoder
	left int64 // of the lines
}

// errMoved says that a packed record is no longer where it was.
var errMoved = errors.New("the packed record was moved")

// openPacked opens the record of a session, or returns errMoved.
func openPacked(dir, id string, p state.PackedRecord) (*packedReader, error) {
	path := segmentPath(dir, p.Segment)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errMoved
	}
	if err != nil {
		return nil, err
	}
	r, err := newPackedReader(f, id, p)
	if err != nil {
		_ = f.Close() // nothing was written
		return nil, fmt.Errorf("packed record of session %s at %d in %s (%w): %w", id, p.Offset, path, err, state.ErrCorrupt)
	}
	r.f = f
	return r, nil
}

func newPackedReader(f io.ReaderAt, id string, p state.PackedRecord) (*packedReader, error) {
	h, err := readHead(f, p.Offset)
	if err != nil {
		return nil, err
	}
	if h.id != id || h.events != p.Events || h.size != p.Size || h.bytes() != p.Length {
		return nil, errors.New("it is another record")
	}
	stream := io.NewSectionReader(f, p.Offset+packHeader+int64(len(id)), h.length)
	dec, err := zstd.NewReader(stream, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(packWindow))
	if err != nil {
		return nil, err
	}
	return &packedReader{dec: dec, left: p.Size}, nil
}

// Read implements [io.Reader]. A stream of another length than it says is an error.
func (r *packedReader) Read(p []byte) (int, error) {
	n, err := r.dec.Read(p)
	if r.left -= int64(n); r.left < 0 || errors.Is(err, io.EOF) && r.left > 0 {
		return 0, fmt.Errorf("the stream has another length than it should: %w", state.ErrCorrupt)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("unpack (%w): %w", err, state.ErrCorrupt)
	}
	return n, err
}

func (r *packedReader) close() {
	r.dec.Close()
	if r.f != nil {
		_ = r.f.Close() // nothing was written
	}
}
