package memstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/liaison-bot/liaison/state"
)

// setPacked replaces a session's position; without any it removes it.
func (d *data) setPacked(id string, to *state.PackedRecord) {
	if old, ok := d.ages.packed[id]; ok {
		d.ages.segments[old.Segment] -= old.Length
		delete(d.ages.packed, id)
	}
	if to != nil {
		d.ages.segments[to.Segment] += to.Length
		d.ages.packed[id] = *to
	}
}

// Packed implements [state.PackIndex].
func (s *Store) Packed(ctx context.Context, sessionID string) (state.PackedRecord, error) {
	return get(ctx, s, "packed session "+sessionID, func(d *data) (state.PackedRecord, bool) {
		p, ok := d.ages.packed[sessionID]
		return p, ok
	}, same)
}

// NewSegment implements [state.PackIndex].
func (s *Store) NewSegment(ctx context.Context) (n uint64, err error) {
	err = s.write(ctx, func() error {
		s.data.ages.segment++
		n = s.data.ages.segment
		s.data.ages.segments[n] = 0
		return nil
	})
	return n, err
}

// Pack implements [state.PackIndex].
func (s *Store) Pack(ctx context.Context, before time.Time, moves []state.PackMove) ([]bool, error) {
	done := make([]bool, len(moves))
	err := s.write(ctx, func() error {
		for i, m := range moves {
			if m.From != (state.PackedRecord{}) {
				now, ok := s.data.ages.packed[m.SessionID]
				done[i] = ok && now == m.From
			} else {
				at, ok := s.data.ages.sessions[m.SessionID]
				done[i] = ok && at.Before(before) && !s.data.open(m.SessionID)
			}
			if done[i] {
				s.data.setPacked(m.SessionID, &m.To)
			}
		}
		return nil
	})
	return done, err
}

// FilesGone implements [state.PackIndex].
func (s *Store) FilesGone(ctx context.Context, before time.Time, sessionIDs []string) error {
	return s.write(ctx, func() error {
		for _, id := range sessionIDs {
			if at, ok := s.data.ages.sessions[id]; ok && at.Before(before) {
				s.data.ages.noFiles[id] = true
			}
		}
		return nil
	})
}

// Unpack implements [state.PackIndex].
func (s *Store) Unpack(ctx context.Context, sessionID string) error {
	return s.write(ctx, func() error {
		delete(s.data.ages.noFiles, sessionID)
		s.data.setPacked(sessionID, nil)
		return nil
	})
}

// Segments implements [state.PackIndex].
func (s *Store) Segments(ctx context.Context) ([]state.Segment, error) {
	return list(ctx, s, -1, func(d *data) []state.Segment {
		var out []state.Segment
		for n, live := range d.ages.segments {
			out = append(out, state.Segment{Number: n, Live: live})
		}
		slices.SortFunc(out, func(a, b state.Segment) int { return cmp.Compare(a.Number, b.Number) })
		return out
	}, same)
}

// InSegment implements [state.PackIndex].
func (s *Store) InSegment(ctx context.Context, segment uint64, after string, limit int) ([]state.PackMove, error) {
	return list(ctx, s, max(limit, 0), func(d *data) []state.PackMove {
		var out []state.PackMove
		for id, p := range d.ages.packed {
			if p.Segment == segment && id > after {
				out = append(out, state.PackMove{SessionID: id, From: p})
			}
		}
		slices.SortFunc(out, func(a, b state.PackMove) int { return cmp.Compare(a.SessionID, b.SessionID) })
		return out
	}, same)
}

// ForgetSegment implements [state.PackIndex].
func (s *Store) ForgetSegment(ctx context.Context, segment uint64) error {
	return s.write(ctx, func() error {
		if live := s.data.ages.segments[segment]; live != 0 {
			return fmt.Errorf("forget segment %d: %d bytes of it are in use: %w", segment, live, state.ErrConflict)
		}
		delete(s.data.ages.segments, segment)
		return nil
	})
}
