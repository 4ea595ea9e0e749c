package boltstore

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/internal/journal"
)

// Pending implements [state.Queue].
func (s *Store) Pending(ctx context.Context, after uint64, limit int) ([]state.StoredDelivery, error) {
	if limit <= 0 {
		return nil, s.open()
	}
	s.removal.RLock()
	defer s.removal.RUnlock()
	rows, whole, err := s.pendingRows(ctx, after, limit)
	for err == nil && !whole { // some were decided meanwhile
		rows, whole, err = s.pendingRows(ctx, after, limit)
	}
	if err != nil {
		return nil, err
	}
	return s.complete(rows, true), nil
}

// pendingRows returns the rows of a page, or what is known of those that have
// none; it is not whole if there may be others that belong to it.
func (s *Store) pendingRows(ctx context.Context, after uint64, limit int) (rows []deliveryRow, whole bool, err error) {
	rest := s.undecided.after(after, limit)
	whole = true
	err = s.view(ctx, func(r *reader) error {
		err := r.after(tablePending, u64(after), func(k, _ []byte) (bool, error) {
			d, err := r.indexedDelivery(number(k))
			if err != nil {
				return false, err
			}
			rows = append(rows, d)
			return len(rows) < limit, nil
		})
		for _, e := range rest {
			if r.table(tableDeliveries).Get(u64(e.seq)) != nil {
				whole = false
				continue
			}
			rows = append(rows, e.row())
		}
		return err
	})
	slices.SortFunc(rows, func(a, b deliveryRow) int { return cmp.Compare(a.Seq, b.Seq) })
	return rows[:min(limit, len(rows))], whole || len(rows) >= limit, err
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

// Delivery implements [state.Queue].
func (s *Store) Delivery(ctx context.Context, source, id string) (d state.StoredDelivery, err error) {
	s.removal.RLock()
	defer s.removal.RUnlock()
	key := pair(source, id)
	e, early := s.undecided.byID(string(key))
	var row deliveryRow
	err = s.view(ctx, func(r *reader) error {
		raw := r.table(tableDeliveryIDs).Get(key)
		switch {
		case raw != nil:
			row, err = r.indexedDelivery(number(raw))
			return err
		case early:
			row = e.row()
			return nil
		}
		return fmt.Errorf("delivery %s:%s: %w", source, id, state.ErrNotFound)
	})
	if err != nil {
		return d, err
	}
	return s.complete([]deliveryRow{row}, true)[0], nil
}

// DeadLetters implements [state.DeadLetters].
func (s *Store) DeadLetters(ctx context.Context, after string, limit int) ([]state.DeadLetter, error) {
	return list[state.DeadLetter](ctx, s, tableLetters, after, limit)
}

// Session implements [state.Sessions].
func (s *Store) Session(ctx context.Context, id string) (row state.Session, err error) {
	err = s.view(ctx, func(r *reader) error { return r.find(tableSessions, "session", id, &row) })
	return row, err
}

// SessionByKey implements [state.Sessions].
func (s *Store) SessionByKey(ctx context.Context, key string) (row state.Session, err error) {
	err = s.view(ctx, func(r *reader) error {
		link, found, err := r.Link(key)
		if err != nil {
			return err
		}
		if !found {
			return fmt.Errorf("session of key %s: %w", key, state.ErrNotFound)
		}
		return r.find(tableSessions, "session", link.SessionID, &row)
	})
	return row, err
}

// SessionKeys implements [state.Sessions].
func (s *Store) SessionKeys(ctx context.Context, prefix, after string, limit int) ([]state.KeyLink, error) {
	if limit <= 0 {
		return nil, s.open()
	}
	var links []state.KeyLink
	err := s.view(ctx, func(r *reader) error {
		c := r.table(tableKeys).Cursor()
		for k, v := c.Seek([]byte(max(prefix, after))); k != nil && bytes.HasPrefix(k, []byte(prefix)) && len(links) < limit; k, v = c.Next() {
			if link := linkOf(string(k), v); !link.Alias && link.Key > after {
				links = append(links, link)
			}
		}
		return nil
	})
	return links, err
}

// ListSessions implements [state.Sessions].
func (s *Store) ListSessions(ctx context.Context, after string, limit int) ([]state.Session, error) {
	return list[state.Session](ctx, s, tableSessions, after, limit)
}

// Turn implements [state.Sessions].
func (s *Store) Turn(ctx context.Context, id string) (row state.Turn, err error) {
	err = s.view(ctx, func(r *reader) error { return r.find(tableTurns, "turn", id, &row) })
	return row, err
}

// Turns implements [state.Sessions].
func (s *Store) Turns(ctx context.Context, sessionID string) ([]state.Turn, error) {
	var out []state.Turn
	err := s.view(ctx, func(r *reader) error {
		return r.prefixed(tableSessionTurns, append([]byte(sessionID), 0), func(id, _ []byte) (bool, error) {
			var row state.Turn
			err := r.find(tableTurns, "turn", string(id), &row)
			out = append(out, row)
			return true, err
		})
	})
	return out, err
}

// OpenTurns implements [state.Sessions].
func (s *Store) OpenTurns(ctx context.Context) ([]state.Turn, error) {
	var out []state.Turn
	err := s.view(ctx, func(r *reader) error {
		return r.after(tableOpenTurns, nil, func(id, _ []byte) (bool, error) {
			var row state.Turn
			err := r.find(tableTurns, "turn", string(id), &row)
			out = append(out, row)
			return true, err
		})
	})
	return out, err
}

// find decodes one row into v.
func (r *reader) find(t table, what, id string, v any) error {
	found, err := r.row(t, []byte(id), v)
	if err == nil && !found {
		err = fmt.Errorf("%s %s: %w", what, id, state.ErrNotFound)
	}
	return err
}

// list decodes up to limit rows with key > after.
func list[T any](ctx context.Context, s *Store, t table, after string, limit int) ([]T, error) {
	if limit <= 0 {
		return nil, s.open()
	}
	var out []T
	err := s.view(ctx, func(r *reader) error {
		return r.after(t, []byte(after), func(k, v []byte) (bool, error) {
			var row T
			if err := decode(t, k, v, &row); err != nil {
				return false, err
			}
			out = append(out, row)
			return len(out) < limit, nil
		})
	})
	return out, err
}
