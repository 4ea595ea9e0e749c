package boltstore

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/liaison-bot/liaison/state"
)

var _ state.Retainer = (*Store)(nil)

// dropOp removes what a table of ages holds up to a time, oldest first.
type dropOp struct {
	// find gathers up to limit keys that are past their time.
	find func(*batch) ([][]byte, error)
	// drop removes what one of them stands for, with the key, and reports whether
	// that was something.
	drop  func(*batch, []byte) (bool, error)
	after func(*Store)

	limit int
	keys  [][]byte
	n     int
	more  bool
}

func (o *dropOp) check(b *batch) (_ bool, err error) {
	o.keys, err = o.find(b)
	o.more = len(o.keys) >= o.limit
	return len(o.keys) > 0, err
}

func (o *dropOp) write(b *batch) error {
	for _, key := range o.keys {
		did, err := o.drop(b, key)
		if err != nil {
			return err
		}
		if did {
			o.n++
		}
	}
	return nil
}

func (o *dropOp) done(s *Store) {
	if o.after != nil {
		o.after(s)
	}
}

func (s *Store) drop(ctx context.Context, what string, o *dropOp) (int, bool, error) {
	if o.limit <= 0 {
		return 0, false, s.open()
	}
	if err := s.submit(ctx, o, 0); err != nil {
		return 0, false, fmt.Errorf("remove %s: %w", what, err)
	}
	return o.n, o.more, nil
}

// pastKeys returns up to limit keys of a table that begin with prefix and go on
// with a time before the given one.
func (r *reader) pastKeys(t table, prefix []byte, before uint64, limit int) ([][]byte, error) {
	var keys [][]byte
	err := r.prefixed(t, prefix, func(rest, _ []byte) (bool, error) {
		if limit <= len(keys) || number(rest) >= before {
			return false, nil
		}
		keys = append(keys, append(bytes.Clone(prefix), rest...))
		return true, nil
	})
	return keys, err
}

// DropBodies implements [state.Retainer]. Once it finds nothing more, it removes
// what the journal need not keep any longer, a segment with each call.
func (s *Store) DropBodies(ctx context.Context, before time.Time, limit int) (int, bool, error) {
	n, more, err := s.dropBodies(ctx, before, limit)
	if err == nil && !more && limit > 0 {
		more, err = s.reclaim(ctx, before)
	}
	return n, more, err
}

func (s *Store) dropBodies(ctx context.Context, before time.Time, limit int) (int, bool, error) {
	return s.drop(ctx, "old bodies", &dropOp{
		limit: limit,
		find: func(b *batch) ([][]byte, error) {
			return b.pastKeys(tableSettled, []byte{withBody}, dueKey(before), limit)
		},
		drop: func(b *batch, key []byte) (bool, error) {
			if err := b.table(tableSettled).Delete(key); err != nil {
				return false, err
			}
			if err := b.dropBody(key[len(key)-8:]); err != nil {
				return false, err
			}
			key[0] = withoutBody
			return true, b.table(tableSettled).Put(key, nil)
		},
	})
}

// DropDeliveries implements [state.Retainer].
func (s *Store) DropDeliveries(ctx context.Context, before time.Time, limit int) (int, bool, error) {
	// A delivery without a row is one that is undecided, so none may lose its row
	// behind the place from which the next opening looks for them.
	if err := s.spillAll(ctx); err != nil {
		return 0, false, fmt.Errorf("remove old deliveries: %w", err)
	}
	var forgotten [][]byte
	return s.drop(ctx, "old deliveries", &dropOp{
		limit: limit,
		find: func(b *batch) ([][]byte, error) {
			keys, err := b.pastKeys(tableSettled, []byte{withoutBody}, dueKey(before), limit)
			if err != nil {
				return nil, err
			}
			more, err := b.pastKeys(tableSettled, []byte{withBody}, dueKey(before), limit-len(keys))
			return append(keys, more...), err
		},
		drop: func(b *batch, key []byte) (bool, error) {
			if err := b.table(tableSettled).Delete(key); err != nil {
				return false, err
			}
			seq := key[len(key)-8:]
			d, found, err := b.delivery(number(seq))
			if err != nil || !found {
				return false, err
			}
			id := pair(d.Source, d.ID)
			forgotten = append(forgotten, id)
			if err := b.table(tableDeliveryIDs).Delete(id); err != nil {
				return false, err
			}
			if err := b.table(tableBodies).Delete(seq); err != nil {
				return false, err
			}
			return true, b.table(tableDeliveries).Delete(seq)
		},
		after: func(s *Store) {
			for _, id := range forgotten {
				s.recent.forget(string(id))
			}
		},
	})
}

// DropFacts implements [state.Retainer].
func (s *Store) DropFacts(ctx context.Context, before time.Time, limit int) (int, bool, error) {
	return s.drop(ctx, "old facts", dropAged(tableFactAges, tableFacts, before, limit))
}

// unchanged returns up to limit sessions of a stage that did not change since a
// time, those longest unchanged first.
func (r *reader) unchanged(stage byte, before time.Time, limit int) ([][]byte, error) {
	keys, err := r.pastKeys(tableSessionAges, []byte{stage}, unchangedUntil(before), limit)
	for i := range keys {
		keys[i] = keys[i][9:]
	}
	return keys, err
}

// DropSessions implements [state.Retainer].
func (s *Store) DropSessions(ctx context.Context, before time.Time, limit int) (int, bool, error) {
	var unrecorded map[string]bool
	return s.drop(ctx, "old sessions", &dropOp{
		limit: limit,
		find: func(b *batch) ([][]byte, error) {
			ids, err := b.unchanged(withoutFiles, before, limit)
			if err != nil {
				return nil, err
			}
			more, err := b.unchanged(withFiles, before, limit-len(ids))
			return append(ids, more...), err
		},
		drop: func(b *batch, id []byte) (bool, error) {
			if unrecorded == nil {
				var err error
				if unrecorded, err = b.unrecorded(); err != nil {
					return false, err
				}
			}
			open, err := b.open(string(id))
			if err != nil {
				return false, err
			}
			if open || unrecorded[string(id)] {
				return false, b.touch(string(id))
			}
			return true, b.dropSession(string(id))
		},
	})
}

// settledOp finds sessions that can be packed, and puts off those that cannot.
type settledOp struct {
	before time.Time
	limit  int
	ids    []string
	busy   []string
	more   bool
}

// Settled implements [state.Retainer].
func (s *Store) Settled(ctx context.Context, before time.Time, limit int) ([]string, bool, error) {
	if limit <= 0 {
		return nil, false, s.open()
	}
	op := &settledOp{before: before, limit: limit}
	if err := s.submit(ctx, op, 0); err != nil {
		return nil, false, fmt.Errorf("find settled sessions: %w", err)
	}
	return op.ids, op.more, nil
}

func (o *settledOp) check(b *batch) (bool, error) {
	keys, err := b.unchanged(withFiles, o.before, o.limit)
	if err != nil || len(keys) == 0 {
		return false, err
	}
	o.more = len(keys) >= o.limit
	unrecorded, err := b.unrecorded()
	if err != nil {
		return false, err
	}
	for _, key := range keys {
		id := string(key)
		open, err := b.open(id)
		if err != nil {
			return false, err
		}
		if open || unrecorded[id] {
			o.busy = append(o.busy, id)
			continue
		}
		o.ids = append(o.ids, id)
	}
	return len(o.busy) > 0, nil
}

func (o *settledOp) write(b *batch) error {
	for _, id := range o.busy {
		if err := b.touch(id); err != nil {
			return err
		}
	}
	return nil
}

func (*settledOp) done(*Store) {}
