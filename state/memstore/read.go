package memstore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/internal/rules"
)

// Pending implements [state.Queue].
func (s *Store) Pending(ctx context.Context, after uint64, limit int) ([]state.StoredDelivery, error) {
	return list(ctx, s, limit, func(d *data) []state.StoredDelivery {
		return sorted(d.deliveries, func(r state.StoredDelivery) bool {
			return r.Seq > after && r.Status == state.DeliveryPending
		}, func(a, b state.StoredDelivery) int { return cmp.Compare(a.Seq, b.Seq) })
	}, cloneDelivery)
}

// Due implements [state.Queue].
func (s *Store) Due(ctx context.Context, now time.Time, after uint64, limit int) (state.DuePage, error) {
	page := state.DuePage{Through: after}
	if limit <= 0 {
		return page, s.locked(ctx, func() error { return nil })
	}
	err := s.locked(ctx, func() error {
		rows := sorted(s.data.deliveries, func(r state.StoredDelivery) bool {
			return r.Seq > after && r.Status == state.DeliveryPending
		}, func(a, b state.StoredDelivery) int { return cmp.Compare(a.Seq, b.Seq) })
		for _, row := range rows {
			if len(page.Deliveries) == limit {
				break
			}
			page.Through = row.Seq
			switch {
			case !row.NotBefore.After(now):
				page.Deliveries = append(page.Deliveries, cloneDelivery(row))
			case page.Next.IsZero() || row.NotBefore.Before(page.Next):
				page.Next = row.NotBefore
			}
		}
		return nil
	})
	return page, err
}

// FactBy implements [state.Facts].
func (s *Store) FactBy(ctx context.Context, key string) (by string, claimed bool, err error) {
	err = s.locked(ctx, func() error {
		by, claimed = s.data.facts[key]
		return nil
	})
	return by, claimed, err
}

// Delivery implements [state.Queue].
func (s *Store) Delivery(ctx context.Context, source, id string) (state.StoredDelivery, error) {
	return get(ctx, s, "delivery "+source+":"+id, func(d *data) (state.StoredDelivery, bool) {
		row, ok := d.deliveries[d.deliveryIDs[[2]string{source, id}]]
		return row, ok
	}, cloneDelivery)
}

// maxLooked is how many deliveries one listing looks at; see [state.DeliveryIndex].
const maxLooked = 10_000

// Deliveries implements [state.DeliveryIndex].
func (s *Store) Deliveries(ctx context.Context, f state.DeliveryFilter, limit int) ([]state.StoredDelivery, uint64, error) {
	var found []state.StoredDelivery
	var next uint64
	err := s.locked(ctx, func() error {
		rows := sorted(s.data.deliveries, func(r state.StoredDelivery) bool { return f.Before == 0 || r.Seq < f.Before },
			func(a, b state.StoredDelivery) int { return cmp.Compare(b.Seq, a.Seq) })
		for i, row := range rows {
			if i >= maxLooked || len(found) >= limit {
				if i > 0 {
					next = rows[i-1].Seq
				}
				break
			}
			if rules.Wanted(f, row) {
				row.Body = nil
				found = append(found, cloneDelivery(row))
			}
		}
		return nil
	})
	return found, next, err
}

// DeadLetters implements [state.DeadLetters].
func (s *Store) DeadLetters(ctx context.Context, after string, limit int) ([]state.DeadLetter, error) {
	return list(ctx, s, limit, func(d *data) []state.DeadLetter {
		return sorted(d.letters, func(l state.DeadLetter) bool { return l.ID > after },
			func(a, b state.DeadLetter) int { return cmp.Compare(a.ID, b.ID) })
	}, same)
}

// Session implements [state.Sessions].
func (s *Store) Session(ctx context.Context, id string) (state.Session, error) {
	return get(ctx, s, "session "+id, func(d *data) (state.Session, bool) {
		row, ok := d.sessions[id]
		return row, ok
	}, cloneSession)
}

// SessionByKey implements [state.Sessions].
func (s *Store) SessionByKey(ctx context.Context, key string) (state.Session, error) {
	return get(ctx, s, "session of key "+key, func(d *data) (state.Session, bool) {
		row, ok := d.sessions[d.keys[key].SessionID]
		return row, ok
	}, cloneSession)
}

// SessionKeys implements [state.Sessions].
func (s *Store) SessionKeys(ctx context.Context, prefix, after string, limit int) ([]state.KeyLink, error) {
	return list(ctx, s, max(limit, 0), func(d *data) []state.KeyLink {
		return sorted(d.keys, func(k state.KeyLink) bool {
			return !k.Alias && k.Key > after && strings.HasPrefix(k.Key, prefix)
		}, func(a, b state.KeyLink) int { return cmp.Compare(a.Key, b.Key) })
	}, same)
}

// Counted implements [state.Counts].
func (s *Store) Counted(ctx context.Context, key string) (n int, err error) {
	err = s.locked(ctx, func() error {
		n = s.data.counts[key].n
		return nil
	})
	return n, err
}

// ListSessions implements [state.Sessions].
func (s *Store) ListSessions(ctx context.Context, after string, limit int) ([]state.Session, error) {
	return list(ctx, s, limit, func(d *data) []state.Session {
		return sorted(d.sessions, func(r state.Session) bool { return r.ID > after },
			func(a, b state.Session) int { return cmp.Compare(a.ID, b.ID) })
	}, cloneSession)
}

// RecentSessions implements [state.SessionIndex].
func (s *Store) RecentSessions(ctx context.Context, f state.SessionFilter, limit int) ([]state.Session, error) {
	return list(ctx, s, max(limit, 0), func(d *data) []state.Session {
		return sorted(d.sessions, func(r state.Session) bool {
			return (f.Before == "" || r.ID < f.Before) && (f.Principal == "" || r.Principal == f.Principal) &&
				(f.Channel == "" || r.Channel == f.Channel)
		}, func(a, b state.Session) int { return cmp.Compare(b.ID, a.ID) })
	}, cloneSession)
}

// Turn implements [state.Sessions].
func (s *Store) Turn(ctx context.Context, id string) (state.Turn, error) {
	return get(ctx, s, "turn "+id, func(d *data) (state.Turn, bool) {
		row, ok := d.turns[id]
		return row, ok
	}, cloneTurn)
}

// Turns implements [state.Sessions].
func (s *Store) Turns(ctx context.Context, sessionID string) ([]state.Turn, error) {
	return s.turns(ctx, func(t state.Turn) bool { return t.SessionID == sessionID })
}

// OpenTurns implements [state.Sessions].
func (s *Store) OpenTurns(ctx context.Context) ([]state.Turn, error) {
	return s.turns(ctx, func(t state.Turn) bool { return !t.Status.Ended() })
}

func (s *Store) turns(ctx context.Context, keep func(state.Turn) bool) ([]state.Turn, error) {
	return list(ctx, s, -1, func(d *data) []state.Turn {
		return sorted(d.turns, keep, func(a, b state.Turn) int { return cmp.Compare(a.ID, b.ID) })
	}, cloneTurn)
}

// ClaimOutbox implements [state.Outbox].
func (s *Store) ClaimOutbox(ctx context.Context, now time.Time, limit int) ([]state.OutboxItem, error) {
	var claimed []state.OutboxItem
	err := s.write(ctx, func() error {
		for _, row := range s.heads() {
			if len(claimed) >= limit || row.NotBefore.After(now) {
				break
			}
			row.Attempts++
			s.data.outbox[row.ID] = item{OutboxItem: row}
			s.claims[rules.Lane(row)] = row.ID
			claimed = append(claimed, cloneItem(row))
		}
		return nil
	})
	slices.SortFunc(claimed, func(a, b state.OutboxItem) int { return cmp.Compare(a.Seq, b.Seq) })
	return claimed, err
}

// NextOutbox implements [state.Outbox].
func (s *Store) NextOutbox(ctx context.Context) (time.Time, bool, error) {
	var due time.Time
	var found bool
	err := s.locked(ctx, func() error {
		if heads := s.heads(); len(heads) > 0 {
			due, found = heads[0].NotBefore, true
		}
		return nil
	})
	return due, found, err
}

// heads returns the first open item of each lane without a claim, those that
// are due first in front.
func (s *Store) heads() []state.OutboxItem {
	first := map[string]state.OutboxItem{}
	for _, row := range s.data.outbox {
		lane := rules.Lane(row.OutboxItem)
		if row.at != rules.OutboxOpen || s.claims[lane] != "" {
			continue
		}
		if head, ok := first[lane]; !ok || row.Seq < head.Seq {
			first[lane] = row.OutboxItem
		}
	}
	return slices.SortedFunc(maps.Values(first), func(a, b state.OutboxItem) int {
		return cmp.Or(a.NotBefore.Compare(b.NotBefore), cmp.Compare(a.Seq, b.Seq))
	})
}

// OutboxItems implements [state.Outbox].
func (s *Store) OutboxItems(ctx context.Context, sessionID string) ([]state.OutboxItem, error) {
	var items []state.OutboxItem
	err := s.locked(ctx, func() error {
		for _, row := range s.data.outbox {
			if row.SessionID == sessionID && row.at == rules.OutboxOpen {
				items = append(items, cloneItem(row.OutboxItem))
			}
		}
		return nil
	})
	slices.SortFunc(items, func(a, b state.OutboxItem) int { return cmp.Compare(a.Seq, b.Seq) })
	return items, err
}

// DueTimers implements [state.Timers].
func (s *Store) DueTimers(ctx context.Context, now time.Time, limit int) ([]state.Timer, error) {
	return list(ctx, s, limit, func(d *data) []state.Timer {
		return sorted(d.timers, func(t state.Timer) bool { return !t.Due.After(now) }, byDue)
	}, cloneTimer)
}

// NextTimer implements [state.Timers].
func (s *Store) NextTimer(ctx context.Context) (time.Time, bool, error) {
	timers, err := list(ctx, s, 1, func(d *data) []state.Timer {
		return sorted(d.timers, func(state.Timer) bool { return true }, byDue)
	}, same)
	if err != nil || len(timers) == 0 {
		return time.Time{}, false, err
	}
	return timers[0].Due, true, nil
}

func byDue(a, b state.Timer) int {
	return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.ID, b.ID))
}

// PendingWakes implements [state.Wakes].
func (s *Store) PendingWakes(ctx context.Context, after string, limit int) ([]state.Wake, error) {
	return list(ctx, s, limit, func(d *data) []state.Wake {
		return sorted(d.wakes, func(w state.Wake) bool { return w.ID > after },
			func(a, b state.Wake) int { return cmp.Compare(a.ID, b.ID) })
	}, cloneWake)
}

// PendingLifecycle implements [state.Lifecycle].
func (s *Store) PendingLifecycle(ctx context.Context) ([]state.LifecycleEvent, error) {
	return list(ctx, s, -1, func(d *data) []state.LifecycleEvent {
		var events []state.LifecycleEvent
		for _, commit := range slices.Sorted(maps.Keys(d.lifecycle)) {
			events = append(events, d.lifecycle[commit]...)
		}
		return events
	}, cloneLifecycle)
}

// list reads rows in order, up to limit unless it is negative, and copies them.
func list[T any](ctx context.Context, s *Store, limit int, rows func(*data) []T, clone func(T) T) ([]T, error) {
	var out []T
	err := s.locked(ctx, func() error {
		for _, row := range rows(s.data) {
			if limit >= 0 && len(out) >= limit {
				break
			}
			out = append(out, clone(row))
		}
		return nil
	})
	return out, err
}

func get[T any](ctx context.Context, s *Store, what string, find func(*data) (T, bool), clone func(T) T) (T, error) {
	var out T
	err := s.locked(ctx, func() error {
		row, ok := find(s.data)
		if !ok {
			return fmt.Errorf("%s: %w", what, state.ErrNotFound)
		}
		out = clone(row)
		return nil
	})
	return out, err
}

func sorted[K comparable, T any](rows map[K]T, keep func(T) bool, order func(a, b T) int) []T {
	var kept []T
	for _, row := range rows {
		if keep(row) {
			kept = append(kept, row)
		}
	}
	slices.SortFunc(kept, order)
	return kept
}
