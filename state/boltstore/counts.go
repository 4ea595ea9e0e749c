package boltstore

import (
	"context"
	"time"
)

// CountOf implements [rules.View].
func (r *reader) CountOf(key string) (int, error) {
	return int(number(r.table(tableCounts).Get([]byte(key)))), nil
}

// Counted implements [state.Counts].
func (s *Store) Counted(ctx context.Context, key string) (n int, err error) {
	err = s.view(ctx, func(r *reader) error {
		n, err = r.CountOf(key)
		return err
	})
	return n, err
}

func (o *commitOp) writeCounts(b *batch) error {
	for _, c := range o.change.Counts {
		key := []byte(c.Key)
		was := b.table(tableCounts).Get(key)
		n := number(was) + 1
		if len(was) == 16 {
			if err := b.table(tableCountAges).Delete(append(u64(number(was[8:])), key...)); err != nil {
				return err
			}
		}
		if err := b.table(tableCounts).Put(key, append(u64(n), u64(dueKey(c.Expires))...)); err != nil {
			return err
		}
		if err := b.table(tableCountAges).Put(aged(c.Expires, c.Key), nil); err != nil {
			return err
		}
	}
	return nil
}

// DropCounts implements [state.Retainer].
func (s *Store) DropCounts(ctx context.Context, before time.Time, limit int) (int, bool, error) {
	return s.drop(ctx, "expired counts", dropAged(tableCountAges, tableCounts, before, limit))
}

// DropEffects implements [state.Retainer].
func (s *Store) DropEffects(ctx context.Context, before time.Time, limit int) (int, bool, error) {
	return s.drop(ctx, "old effects", dropAged(tableEffectAges, tableOutboxIDs, before, limit))
}

// dropAged removes rows of a table that another one holds by their age.
func dropAged(ages, of table, before time.Time, limit int) *dropOp {
	return &dropOp{
		limit: limit,
		find: func(b *batch) ([][]byte, error) {
			return b.pastKeys(ages, nil, dueKey(before), limit)
		},
		drop: func(b *batch, key []byte) (bool, error) {
			if err := b.table(of).Delete(key[8:]); err != nil {
				return false, err
			}
			return true, b.table(ages).Delete(key)
		},
	}
}
