package journal

import (
	"bytes"
	"errors"
	"io"
)

// scanChunk is how much of a segment is read at once.
const scanChunk = 1 << 20

// scanner finds the whole records of one segment in order.
type scanner struct {
	r       io.ReaderAt
	size    int64
	segment uint64
	mark    [markSize]byte

	at int64 // where the next record should begin
	// end is behind the last whole record.
	end int64
	// skipped is told of what holds no record and is followed by one that is whole.
	skipped func(from, to int64)

	base int64 // where buf is from
	buf  []byte
}

// window returns n bytes at an offset, fewer at the end. They are valid until the
// next call.
func (s *scanner) window(at int64, n int) ([]byte, error) {
	n = int(min(int64(n), s.size-at))
	if n <= 0 {
		return nil, nil
	}
	if at < s.base || at+int64(n) > s.base+int64(len(s.buf)) {
		want := int(min(max(int64(n), scanChunk), s.size-at))
		if cap(s.buf) < want {
			s.buf = make([]byte, max(want, scanChunk))
		}
		read, err := s.r.ReadAt(s.buf[:want], at)
		s.base, s.buf = at, s.buf[:read]
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		n = min(n, read)
	}
	return s.buf[at-s.base:][:n], nil
}

// next returns the next whole record, which is valid until the next call, or
// [io.EOF]. Other errors are those of reading.
func (s *scanner) next() (Record, Position, error) {
	from := s.at
	for s.at < s.size {
		raw, err := s.whole()
		if err != nil {
			return Record{}, Position{}, err
		}
		if r, err := decode(raw, s.mark); err == nil {
			if s.at > from && s.skipped != nil {
				s.skipped(from, s.at)
			}
			at := Position{Segment: s.segment, Offset: uint32(s.at), Length: uint32(len(raw))}
			s.at += int64(len(raw))
			if r.Kind != probe {
				s.end = s.at
				return r, at, nil
			}
			from = s.at
			continue
		}
		if s.at, err = s.search(s.at + 1); err != nil {
			return Record{}, Position{}, err
		}
	}
	return Record{}, Position{}, io.EOF
}

// whole returns what may be the record at s.at, or nil.
func (s *scanner) whole() ([]byte, error) {
	head, err := s.window(s.at, frameSize)
	if err != nil {
		return nil, err
	}
	length, ok := frame(head, s.mark)
	if !ok || int64(length) > s.size-s.at {
		return nil, nil
	}
	return s.window(s.at, length)
}

// search returns where the next mark is, or the end.
func (s *scanner) search(from int64) (int64, error) {
	for from < s.size {
		win, err := s.window(from, scanChunk)
		if err != nil {
			return 0, err
		}
		if i := bytes.Index(win, s.mark[:]); i >= 0 {
			return from + int64(i), nil
		}
		if len(win) <= markSize {
			break
		}
		from += int64(len(win) - markSize + 1)
	}
	return s.size, nil
}

// blank reports whether there are only zeros from an offset to the end: room
// that was prepared.
func (s *scanner) blank(from int64) (bool, error) {
	for from < s.size {
		win, err := s.window(from, scanChunk)
		if err != nil {
			return false, err
		}
		if len(win) == 0 {
			return false, nil
		}
		if len(bytes.TrimLeft(win, "\x00")) > 0 {
			return false, nil
		}
		from += int64(len(win))
	}
	return true, nil
}
