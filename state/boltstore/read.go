package boltstore

import (
	"bytes"
	"context"
	"fmt"

	"github.com/liaison-bot/liaison/state"
)

// FactBy implements [state.Facts].
func (s *Store) FactBy(ctx context.Context, key string) (by string, claimed bool, err error) {
	err = s.view(ctx, func(r *reader) error {
		by, claimed, err = r.FactBy(key)
		return err
	})
	return by, claimed, err
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
