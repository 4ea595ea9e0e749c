package boltstore

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/liaison-bot/liaison/state"
)

var _ state.PackIndex = (*Store)(nil)

// packedSize is the length of a stored position.
const packedSize = 40

func encodePacked(p state.PackedRecord) []byte {
	row := make([]byte, 0, packedSize)
	for _, n := range []uint64{p.Segment, uint64(p.Offset), uint64(p.Length), uint64(p.Events), uint64(p.Size)} {
		row = binary.BigEndian.AppendUint64(row, n)
	}
	return row
}

func decodePacked(id string, row []byte) (state.PackedRecord, error) {
	if len(row) != packedSize {
		return state.PackedRecord{}, fmt.Errorf("position of packed session %q: %w", id, state.ErrCorrupt)
	}
	at := func(i int) uint64 { return binary.BigEndian.Uint64(row[8*i:]) }
	return state.PackedRecord{
		Segment: at(0), Offset: int64(at(1)), Length: int64(at(2)), Events: int64(at(3)), Size: int64(at(4)),
	}, nil
}

func (r *reader) packed(id string) (p state.PackedRecord, found bool, err error) {
	row := r.table(tablePacked).Get([]byte(id))
	if row == nil {
		return p, false, nil
	}
	p, err = decodePacked(id, row)
	return p, true, err
}

// setPacked replaces a session's position; without any it removes it.
func (b *batch) setPacked(id string, to *state.PackedRecord) error {
	old, found, err := b.packed(id)
	if err != nil {
		return err
	}
	if found {
		if err := b.addLive(old.Segment, -old.Length); err != nil {
			return err
		}
		if err := b.table(tableInSegment).Delete(append(u64(old.Segment), id...)); err != nil {
			return err
		}
		if err := b.count(metaPacked, -1); err != nil {
			return err
		}
	}
	if to == nil {
		return b.table(tablePacked).Delete([]byte(id))
	}
	if err := b.addLive(to.Segment, to.Length); err != nil {
		return err
	}
	if err := b.table(tableInSegment).Put(append(u64(to.Segment), id...), nil); err != nil {
		return err
	}
	if err := b.count(metaPacked, 1); err != nil {
		return err
	}
	return b.table(tablePacked).Put([]byte(id), encodePacked(*to))
}

func (b *batch) addLive(segment uint64, n int64) error {
	live := b.table(tableSegments)
	return live.Put(u64(segment), u64(number(live.Get(u64(segment)))+uint64(n)))
}

func (b *batch) dropPacked(s state.Session) error { return b.setPacked(s.ID, nil) }

// Packed implements [state.PackIndex].
func (s *Store) Packed(ctx context.Context, sessionID string) (p state.PackedRecord, err error) {
	err = s.view(ctx, func(r *reader) error {
		var found bool
		p, found, err = r.packed(sessionID)
		if err == nil && !found {
			err = fmt.Errorf("packed session %s: %w", sessionID, state.ErrNotFound)
		}
		return err
	})
	return p, err
}

// packOp applies moves and other changes of the index.
type packOp struct {
	refuse func(*batch) error // may be nil
	apply  func(*batch) error
}

func (o *packOp) check(b *batch) (bool, error) {
	if o.refuse == nil {
		return true, nil
	}
	err := o.refuse(b)
	return err == nil, err
}

func (o *packOp) write(b *batch) error { return o.apply(b) }

func (*packOp) done(*Store) {}

func (s *Store) index(ctx context.Context, what string, apply func(*batch) error) error {
	if err := s.submit(ctx, &packOp{apply: apply}, 0); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// NewSegment implements [state.PackIndex].
func (s *Store) NewSegment(ctx context.Context) (n uint64, err error) {
	err = s.index(ctx, "begin a segment", func(b *batch) error {
		if n, err = b.table(tableSegments).NextSequence(); err != nil {
			return err
		}
		return b.table(tableSegments).Put(u64(n), u64(0))
	})
	return n, err
}

// Pack implements [state.PackIndex].
func (s *Store) Pack(ctx context.Context, before time.Time, moves []state.PackMove) ([]bool, error) {
	done := make([]bool, len(moves))
	err := s.index(ctx, "note packed sessions", func(b *batch) error {
		unrecorded, err := b.unrecorded()
		if err != nil {
			return err
		}
		for i, m := range moves {
			if done[i], err = b.holds(m, before, unrecorded); err != nil {
				return err
			}
			if !done[i] {
				continue
			}
			if err := b.setPacked(m.SessionID, &m.To); err != nil {
				return err
			}
		}
		return nil
	})
	return done, err
}

// holds reports whether a move may still be made.
func (b *batch) holds(m state.PackMove, before time.Time, unrecorded map[string]bool) (bool, error) {
	if m.From != (state.PackedRecord{}) {
		now, found, err := b.packed(m.SessionID)
		return found && now == m.From, err
	}
	_, at, found := b.age(m.SessionID)
	if !found || at >= unchangedUntil(before) || unrecorded[m.SessionID] {
		return false, nil
	}
	open, err := b.open(m.SessionID)
	return !open, err
}

// FilesGone implements [state.PackIndex].
func (s *Store) FilesGone(ctx context.Context, before time.Time, sessionIDs []string) error {
	return s.index(ctx, "note removed files", func(b *batch) error {
		for _, id := range sessionIDs {
			if _, at, found := b.age(id); found && at < unchangedUntil(before) {
				if err := b.setAge(id, withoutFiles, at); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// Unpack implements [state.PackIndex].
func (s *Store) Unpack(ctx context.Context, sessionID string) error {
	return s.index(ctx, "note an unpacked session", func(b *batch) error {
		if _, at, found := b.age(sessionID); found {
			if err := b.setAge(sessionID, withFiles, at); err != nil {
				return err
			}
		}
		return b.setPacked(sessionID, nil)
	})
}

// Segments implements [state.PackIndex].
func (s *Store) Segments(ctx context.Context) ([]state.Segment, error) {
	var out []state.Segment
	err := s.view(ctx, func(r *reader) error {
		out = nil
		return r.after(tableSegments, nil, func(k, v []byte) (bool, error) {
			out = append(out, state.Segment{Number: number(k), Live: int64(number(v))})
			return true, nil
		})
	})
	return out, err
}

// InSegment implements [state.PackIndex].
func (s *Store) InSegment(ctx context.Context, segment uint64, after string, limit int) ([]state.PackMove, error) {
	if limit <= 0 {
		return nil, s.open()
	}
	var out []state.PackMove
	err := s.view(ctx, func(r *reader) error {
		out = nil
		return r.following(tableInSegment, u64(segment), after, func(id, _ []byte) (bool, error) {
			p, found, err := r.packed(string(id))
			if err == nil && (!found || p.Segment != segment) {
				err = fmt.Errorf("session %q of segment %d is in an index only: %w", id, segment, state.ErrCorrupt)
			}
			out = append(out, state.PackMove{SessionID: string(id), From: p})
			return err == nil && len(out) < limit, err
		})
	})
	return out, err
}

// ForgetSegment implements [state.PackIndex].
func (s *Store) ForgetSegment(ctx context.Context, segment uint64) error {
	op := &packOp{
		refuse: func(b *batch) error {
			if live := number(b.table(tableSegments).Get(u64(segment))); live != 0 {
				return fmt.Errorf("%d bytes of it are in use: %w", live, state.ErrConflict)
			}
			return nil
		},
		apply: func(b *batch) error { return b.table(tableSegments).Delete(u64(segment)) },
	}
	if err := s.submit(ctx, op, 0); err != nil {
		return fmt.Errorf("forget segment %d: %w", segment, err)
	}
	return nil
}
