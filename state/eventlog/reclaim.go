package eventlog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/liaison-bot/liaison/state"
)

// reclaimBatch is how many records are moved between two syncs.
const reclaimBatch = 64

// Reclaim gives back the room of records that are unpacked or removed: it
// removes segments without any live one, and moves the live ones out of one
// segment that is mostly dead. More says that another call can do more.
func (l *Log) Reclaim(ctx context.Context) (more bool, err error) {
	if l.opts.Index == nil {
		return false, errNoIndex
	}
	l.packing.Lock()
	defer l.packing.Unlock()
	more, err = l.reclaim(ctx)
	if err != nil {
		return false, fmt.Errorf("reclaim segments: %w", err)
	}
	return more, nil
}

func (l *Log) reclaim(ctx context.Context) (bool, error) {
	all, err := l.opts.Index.Segments(ctx)
	if err != nil {
		return false, err
	}
	for i, s := range all {
		// The last one takes more, whether it is open now or not.
		if i == len(all)-1 || l.current != nil && s.Number == l.current.number || l.damaged[s.Number] && s.Live > 0 {
			continue
		}
		path := segmentPath(l.packed, s.Number)
		info, err := os.Stat(path)
		switch {
		case s.Live == 0:
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return false, err
			}
			if err := l.opts.Index.ForgetSegment(ctx, s.Number); err != nil {
				return false, err
			}
		case errors.Is(err, fs.ErrNotExist):
			l.spare(s.Number, err)
		case err != nil:
			return false, err
		case s.Live < info.Size()/2:
			return true, l.evacuate(ctx, s.Number)
		}
	}
	return false, nil
}

// spare leaves a segment alone until the next opening, so that what is damaged in
// it does not hold up the others.
func (l *Log) spare(number uint64, cause error) {
	l.opts.Logger.Error("a segment of packed records is damaged and stays as it is", "segment", number, "error", cause)
	if l.damaged == nil {
		l.damaged = map[uint64]bool{}
	}
	l.damaged[number] = true
}

// evacuate moves the live records of a segment to the current one, but for those
// that cannot be read.
func (l *Log) evacuate(ctx context.Context, number uint64) error {
	from, err := os.Open(segmentPath(l.packed, number))
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }() // nothing is written
	after := ""
	for {
		moves, err := l.opts.Index.InSegment(ctx, number, after, reclaimBatch)
		if err != nil || len(moves) == 0 {
			return err
		}
		copied := moves[:0]
		for _, m := range moves {
			if err := ctx.Err(); err != nil {
				return err
			}
			s, err := l.segment(ctx)
			if err != nil {
				return err
			}
			after = m.SessionID
			m.To, err = s.copy(from, m)
			if err != nil {
				err = fmt.Errorf("move session %s out of %s: %w", m.SessionID, from.Name(), err)
			}
			if errors.Is(err, state.ErrCorrupt) {
				l.spare(number, err)
				continue
			}
			if err != nil {
				return err
			}
			copied = append(copied, m)
			if s.size >= segmentSize { // what follows goes to another
				if err := s.f.Sync(); err != nil {
					l.leaveSegment()
					return err
				}
			}
		}
		if err := l.current.f.Sync(); err != nil {
			l.leaveSegment()
			return err
		}
		l.step("copied")
		if _, err := l.opts.Index.Pack(ctx, time.Time{}, copied); err != nil {
			return err
		}
		l.step("moved")
	}
}

// copy appends a record of another segment as it is, once it was read to its end.
func (s *segment) copy(from io.ReaderAt, m state.PackMove) (state.PackedRecord, error) {
	r, err := newPackedReader(from, m.SessionID, m.From)
	if err != nil {
		return state.PackedRecord{}, fmt.Errorf("%w: %w", err, state.ErrCorrupt)
	}
	defer r.close()
	if _, err := io.Copy(io.Discard, r); err != nil {
		return state.PackedRecord{}, err
	}
	stream := packHeader + int64(len(m.SessionID))
	h := packedHead{id: m.SessionID, events: m.From.Events, size: m.From.Size, length: m.From.Length - stream}
	_, err = io.Copy(io.NewOffsetWriter(s.f, s.size+stream), io.NewSectionReader(from, m.From.Offset+stream, h.length))
	if err != nil {
		return state.PackedRecord{}, err
	}
	return s.finish(h)
}

// Packed returns the number and the size in bytes of the segments.
func (l *Log) Packed(ctx context.Context) (segments int, size int64, err error) {
	if l.opts.Index == nil {
		return 0, 0, nil
	}
	all, err := l.opts.Index.Segments(ctx)
	if err != nil {
		return 0, 0, err
	}
	for _, s := range all {
		info, err := os.Stat(segmentPath(l.packed, s.Number))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return 0, 0, err
		}
		segments++
		size += info.Size()
	}
	return segments, size, nil
}
