package boltstore

import (
	"context"
	"time"

	"github.com/liaison-bot/liaison/state"
)

func timerDueKey(due time.Time, id string) []byte {
	return append(u64(dueKey(due)), id...)
}

func (o *commitOp) writeTimers(b *batch) error {
	for _, id := range o.change.CancelTimers {
		if err := b.cancelTimer(id); err != nil {
			return err
		}
	}
	for i, t := range o.change.Timers {
		if err := b.cancelTimer(t.ID); err != nil {
			return err
		}
		if err := b.table(tableTimers).Put([]byte(t.ID), o.timers[i]); err != nil {
			return err
		}
		if err := b.table(tableTimersDue).Put(timerDueKey(t.Due, t.ID), nil); err != nil {
			return err
		}
		if err := b.table(tableHolds).Put(holdKey(t.SessionID, holdTimer, t.ID), nil); err != nil {
			return err
		}
	}
	return nil
}

func (b *batch) cancelTimer(id string) error {
	var t state.Timer
	found, err := b.row(tableTimers, []byte(id), &t)
	if err != nil || !found {
		return err
	}
	if err := b.table(tableTimersDue).Delete(timerDueKey(t.Due, id)); err != nil {
		return err
	}
	if err := b.table(tableHolds).Delete(holdKey(t.SessionID, holdTimer, id)); err != nil {
		return err
	}
	return b.table(tableTimers).Delete([]byte(id))
}

// DueTimers implements [state.Timers].
func (s *Store) DueTimers(ctx context.Context, now time.Time, limit int) ([]state.Timer, error) {
	var due []state.Timer
	err := s.eachTimer(ctx, func(t state.Timer) bool {
		if t.Due.After(now) || len(due) >= limit {
			return false
		}
		due = append(due, t)
		return true
	})
	return due, err
}

// NextTimer implements [state.Timers].
func (s *Store) NextTimer(ctx context.Context) (time.Time, bool, error) {
	var next time.Time
	var found bool
	err := s.eachTimer(ctx, func(t state.Timer) bool {
		next, found = t.Due, true
		return false
	})
	return next, found, err
}

// eachTimer calls fn for timers, earliest first, while it says so.
func (s *Store) eachTimer(ctx context.Context, fn func(state.Timer) bool) error {
	return s.view(ctx, func(r *reader) error {
		return r.after(tableTimersDue, nil, func(k, _ []byte) (bool, error) {
			var t state.Timer
			if _, err := r.row(tableTimers, k[8:], &t); err != nil {
				return false, err
			}
			return fn(t), nil
		})
	})
}

func (o *commitOp) writeWakes(b *batch) error {
	for _, id := range o.change.DoneWakes {
		if err := b.dropWake(id); err != nil {
			return err
		}
	}
	for i, w := range o.change.Wakes {
		if err := b.dropWake(w.ID); err != nil { // it may have been another session's
			return err
		}
		if err := b.table(tableHolds).Put(holdKey(w.SessionID, holdWake, w.ID), nil); err != nil {
			return err
		}
		if err := b.table(tableWakes).Put([]byte(w.ID), o.wakes[i]); err != nil {
			return err
		}
	}
	return nil
}

func (b *batch) dropWake(id string) error {
	var w state.Wake
	found, err := b.row(tableWakes, []byte(id), &w)
	if err != nil || !found {
		return err
	}
	if err := b.table(tableHolds).Delete(holdKey(w.SessionID, holdWake, id)); err != nil {
		return err
	}
	return b.table(tableWakes).Delete([]byte(id))
}

// PendingWakes implements [state.Wakes].
func (s *Store) PendingWakes(ctx context.Context, after string, limit int) ([]state.Wake, error) {
	return list[state.Wake](ctx, s, tableWakes, after, limit)
}
