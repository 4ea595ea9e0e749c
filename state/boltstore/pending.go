package boltstore

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/internal/journal"
)

// Pending implements [state.Queue].
func (s *Store) Pending(ctx context.Context, after uint64, limit int) ([]state.StoredDelivery, error) {
	page, err := s.due(ctx, math.MaxUint64, after, limit)
	return page.Deliveries, err
}

// Due implements [state.Queue].
func (s *Store) Due(ctx context.Context, now time.Time, after uint64, limit int) (state.DuePage, error) {
	return s.due(ctx, dueKey(now), after, limit)
}

func (s *Store) due(ctx context.Context, now, after uint64, limit int) (state.DuePage, error) {
	if limit <= 0 {
		return state.DuePage{Through: after}, s.open()
	}
	s.removal.RLock()
	defer s.removal.RUnlock()
	look := pendingLook{now: now, after: after, limit: limit}
	whole, err := look.at(ctx, s)
	for err == nil && !whole { // some were decided meanwhile
		whole, err = look.at(ctx, s)
	}
	if err != nil {
		return state.DuePage{}, err
	}
	page := state.DuePage{Deliveries: s.complete(look.rows, true), Through: look.through}
	if look.next > 0 {
		page.Next = time.Unix(0, int64(look.next)).UTC()
	}
	return page, nil
}

// pendingLook finds the rows of a page of deliveries that are due, or what is
// known of those that have none.
type pendingLook struct {
	now, after uint64
	limit      int

	rows          []deliveryRow
	through, next uint64
}

// at looks once. It is not whole if there may be others that belong to the page.
func (l *pendingLook) at(ctx context.Context, s *Store) (whole bool, err error) {
	l.rows, l.through, l.next, whole = nil, l.after, 0, true
	rest := s.undecided.after(l.after, l.limit)
	err = s.view(ctx, func(r *reader) error {
		before := 0 // of rest
		err := r.after(tablePending, u64(l.after), func(k, due []byte) (bool, error) {
			for before < len(rest) && rest[before].seq < number(k) {
				before++
			}
			if len(l.rows)+before >= l.limit {
				return false, nil // it is of the next page, and so is when it is due
			}
			l.through = number(k)
			err := l.consider(r, number(k), number(due))
			return len(l.rows) < l.limit, err
		})
		for _, e := range rest {
			if r.table(tableDeliveries).Get(u64(e.seq)) != nil {
				whole = false
				continue
			}
			l.rows = append(l.rows, e.row())
			l.through = max(l.through, e.seq)
		}
		return err
	})
	slices.SortFunc(l.rows, func(a, b deliveryRow) int { return cmp.Compare(a.Seq, b.Seq) })
	if len(l.rows) >= l.limit {
		l.rows = l.rows[:l.limit]
		l.through = l.rows[l.limit-1].Seq
		whole = whole || l.through <= rest[len(rest)-1].seq
	}
	return whole, err
}

// consider adds a delivery that is due. When that is stands in the index, or in
// the row where the index says nothing.
func (l *pendingLook) consider(r *reader, seq, due uint64) error {
	if due <= l.now {
		d, err := r.indexedDelivery(seq)
		if err != nil {
			return err
		}
		if due = dueKey(d.NotBefore); due <= l.now {
			l.rows = append(l.rows, d)
			return nil
		}
	}
	if l.next == 0 || due < l.next {
		l.next = due
	}
	return nil
}

// complete adds to deliveries what only the journal has: everything, where they
// have no row yet, and their bodies. One that cannot be read comes without a
// body, so that it cannot be decoded, is given up in the end and stops no other.
func (s *Store) complete(rows []deliveryRow, bodies bool) []state.StoredDelivery {
	if len(rows) == 0 {
		return nil
	}
	r := s.journal.Reader()
	defer r.Close()
	out := make([]state.StoredDelivery, len(rows))
	for i, d := range rows {
		if d.At != (journal.Position{}) && (bodies || d.Status == "") {
			if err := d.fill(r, bodies); err != nil {
				s.opts.Logger.Error("a delivery cannot be read from the journal", "source", d.Source, "delivery", d.ID, "error", err)
			}
		}
		out[i] = d.StoredDelivery
	}
	return out
}
