package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/liaison-bot/liaison/state"
)

// Reader reads records by their places. It keeps the file of the last one open.
type Reader struct {
	j       *Journal
	f       *os.File
	segment uint64
	buf     []byte
}

// Reader returns a reader, which must be closed.
func (j *Journal) Reader() *Reader { return &Reader{j: j} }

// Close releases what the reader holds.
func (r *Reader) Close() {
	if r.f != nil {
		_ = r.f.Close()
		r.f = nil
	}
}

// Record reads one record, which is valid until the next call. The error wraps
// [state.ErrCorrupt] where it is missing or damaged.
func (r *Reader) Record(at Position) (Record, error) {
	if err := r.open(at.Segment); err != nil {
		return Record{}, err
	}
	if at.Length > MaxRecord {
		return Record{}, fmt.Errorf("a record of %d bytes: %w", at.Length, state.ErrCorrupt)
	}
	if uint32(cap(r.buf)) < at.Length {
		r.buf = make([]byte, at.Length)
	}
	raw := r.buf[:at.Length]
	if _, err := r.f.ReadAt(raw, int64(at.Offset)); err != nil && !errors.Is(err, io.EOF) {
		return Record{}, fmt.Errorf("read the journal: %w", err)
	}
	rec, err := decode(raw, markOf(r.j.opts.Lineage, at.Segment))
	if err != nil {
		return Record{}, fmt.Errorf("%s at %d (%w): %w", r.f.Name(), at.Offset, err, state.ErrCorrupt)
	}
	return rec, nil
}

func (r *Reader) open(segment uint64) error {
	if r.f != nil && r.segment == segment {
		return nil
	}
	r.Close()
	f, err := os.Open(r.j.path(segment))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %w", err, state.ErrCorrupt)
	}
	if err != nil {
		return err
	}
	r.f, r.segment = f, segment
	return nil
}

// Each calls fn for the records of a segment that is not written, in order. A
// record is valid until fn returns.
func (j *Journal) Each(segment uint64, fn func(Record, Position) error) (err error) {
	f, err := os.Open(j.path(segment))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	s := &scanner{r: f, size: info.Size(), segment: segment, mark: markOf(j.opts.Lineage, segment), at: headerSize}
	for {
		r, at, err := s.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = fn(r, at)
		}
		if err != nil {
			return err
		}
	}
}
