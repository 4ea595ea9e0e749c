package boltstore

import (
	"bytes"
	"context"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/internal/rules"
)

// The first byte of a key of tableSessionLists says which list it is in.
const (
	listedByPrincipal = 'p'
	listedByChannel   = 'c'
)

// listOf begins the keys of one list of sessions.
func listOf(kind byte, name string) []byte {
	k := make([]byte, 0, len(name)+2)
	return append(append(append(k, kind), name...), 0)
}

// listSession puts a new session into the lists that people ask for.
func (b *batch) listSession(s state.Session) error {
	lists := b.table(tableSessionLists)
	if err := lists.Put(append(listOf(listedByPrincipal, s.Principal), s.ID...), []byte(s.Channel)); err != nil {
		return err
	}
	return lists.Put(append(listOf(listedByChannel, s.Channel), s.ID...), nil)
}

// listSessions lists the sessions of a file that had no lists.
func listSessions(tx *bolt.Tx, _ time.Time) error {
	b := &batch{reader: reader{tx: tx}}
	return b.after(tableSessions, nil, func(k, v []byte) (bool, error) {
		var s state.Session
		err := decode(tableSessions, k, v, &s)
		if err == nil {
			s.ID = string(k)
			err = b.listSession(s)
		}
		return err == nil, err
	})
}

// RecentSessions implements [state.SessionIndex].
func (s *Store) RecentSessions(ctx context.Context, f state.SessionFilter, limit int) ([]state.Session, error) {
	if limit <= 0 {
		return nil, s.open()
	}
	var out []state.Session
	err := s.view(ctx, func(r *reader) error {
		out = nil
		add := func(id []byte) (bool, error) {
			var row state.Session
			err := r.find(tableSessions, "session", string(id), &row)
			out = append(out, row)
			return len(out) < limit, err
		}
		switch {
		case f.Principal != "":
			return r.preceding(tableSessionLists, listOf(listedByPrincipal, f.Principal), f.Before, func(id, channel []byte) (bool, error) {
				if f.Channel != "" && f.Channel != string(channel) {
					return true, nil
				}
				return add(id)
			})
		case f.Channel != "":
			return r.preceding(tableSessionLists, listOf(listedByChannel, f.Channel), f.Before, func(id, _ []byte) (bool, error) {
				return add(id)
			})
		}
		return r.preceding(tableSessions, nil, f.Before, func(id, _ []byte) (bool, error) { return add(id) })
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// preceding calls fn for the entries whose key begins with prefix and goes on
// with less than before, or with anything when that is empty, from the last to
// the first, with the rest of the key, while it says so.
func (r *reader) preceding(t table, prefix []byte, before string, fn func(rest, v []byte) (bool, error)) error {
	c := r.table(t).Cursor()
	k, v := seekBefore(c, append(bytes.Clone(prefix), before...), before == "")
	for ; k != nil && bytes.HasPrefix(k, prefix); k, v = c.Prev() {
		if more, err := fn(k[len(prefix):], v); err != nil || !more {
			return err
		}
	}
	return nil
}

// seekBefore moves a cursor to the last entry with a key below end or, with
// whole, to the last whose key begins with end.
func seekBefore(c *bolt.Cursor, end []byte, whole bool) (k, v []byte) {
	if whole {
		if len(end) == 0 {
			return c.Last()
		}
		// The prefixes end in NUL, so the next one up has no entries of their list.
		end = append(bytes.Clone(end[:len(end)-1]), end[len(end)-1]+1)
	}
	if k, _ = c.Seek(end); k == nil {
		return c.Last()
	}
	return c.Prev()
}

// maxLooked is how many deliveries one listing looks at; see [state.DeliveryIndex].
const maxLooked = 10_000

// Deliveries implements [state.DeliveryIndex].
func (s *Store) Deliveries(ctx context.Context, f state.DeliveryFilter, limit int) ([]state.StoredDelivery, uint64, error) {
	if limit <= 0 {
		return nil, 0, s.open()
	}
	s.removal.RLock()
	defer s.removal.RUnlock()
	rest := s.undecided.before(f.Before, maxLooked+1)
	l := lister{filter: f, limit: limit}
	err := s.view(ctx, func(r *reader) error {
		// Those without a row come before the row that they are newer than.
		return r.eachBefore(f.Before, rest, l.look)
	})
	if err != nil {
		return nil, 0, err
	}
	return s.complete(l.found, false), l.next, nil
}

// lister gathers deliveries for one page.
type lister struct {
	filter state.DeliveryFilter
	limit  int
	looked int
	last   uint64
	found  []deliveryRow
	next   uint64
}

func (l *lister) look(d deliveryRow) bool {
	if l.looked >= maxLooked || len(l.found) >= l.limit {
		l.next = l.last
		return false
	}
	l.looked++
	l.last = d.Seq
	seen := d.StoredDelivery
	if seen.Status == "" {
		seen.Status = state.DeliveryPending // it has no row yet
	}
	if rules.Wanted(l.filter, seen) {
		l.found = append(l.found, d)
	}
	return true
}

// eachBefore calls fn for the deliveries with a smaller number, or for all if it
// is 0, from the last on, while it says so; those of rest where they have no row.
func (r *reader) eachBefore(seq uint64, rest []undecidedEntry, fn func(deliveryRow) bool) error {
	before, more := "", true
	if seq != 0 {
		before = string(u64(seq))
	}
	err := r.preceding(tableDeliveries, nil, before, func(k, v []byte) (bool, error) {
		for len(rest) > 0 && more && rest[0].seq >= number(k) {
			if rest[0].seq > number(k) {
				more = fn(rest[0].row())
			}
			rest = rest[1:]
		}
		if !more {
			return false, nil
		}
		var d deliveryRow
		if err := decode(tableDeliveries, k, v, &d); err != nil {
			return false, err
		}
		d.Seq = number(k)
		more = fn(d)
		return more, nil
	})
	for _, e := range rest {
		if err != nil || !more {
			break
		}
		more = fn(e.row())
	}
	return err
}

// unlistSession takes a session that is removed out of the lists.
func (b *batch) unlistSession(s state.Session) error {
	lists := b.table(tableSessionLists)
	if err := lists.Delete(append(listOf(listedByPrincipal, s.Principal), s.ID...)); err != nil {
		return err
	}
	return lists.Delete(append(listOf(listedByChannel, s.Channel), s.ID...))
}
