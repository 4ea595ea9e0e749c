package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/liaison-bot/liaison/state"
)

// recoverState makes good what an earlier process left undone, before anything
// new is taken. Deliveries that were not settled need nothing: they are pending,
// and a decision settles them in its own commit.
func (e *Engine) recoverState(ctx, work context.Context) error {
	if err := e.repairLifecycle(ctx); err != nil {
		return fmt.Errorf("sessions: repair the record: %w", err)
	}
	if err := e.wakeOpenTurns(ctx); err != nil {
		return fmt.Errorf("sessions: recover turns: %w", err)
	}
	return nil
}

// repairLifecycle appends decided events that a crash kept out of the log, so
// that the record and the decisions agree.
func (e *Engine) repairLifecycle(ctx context.Context) error {
	pending, err := read(ctx, e, e.store.PendingLifecycle)
	if err != nil || len(pending) == 0 {
		return err
	}
	slices.SortStableFunc(pending, func(a, b state.LifecycleEvent) int {
		return cmp.Or(cmp.Compare(a.Commit, b.Commit), a.Ordinal-b.Ordinal)
	})
	var confirm []uint64
	for len(pending) > 0 {
		n := 1
		for n < len(pending) && pending[n].Commit == pending[0].Commit {
			n++
		}
		if err := e.repairCommit(ctx, pending[:n]); err != nil {
			return err
		}
		confirm = append(confirm, pending[0].Commit)
		pending = pending[n:]
	}
	_, err = e.commit(ctx, state.Change{Confirm: confirm})
	return err
}

// repairCommit appends what the log lacks of one commit's events.
func (e *Engine) repairCommit(ctx context.Context, decided []state.LifecycleEvent) error {
	id, commit := decided[0].SessionID, decided[0].Commit
	recorded, err := e.recorded(ctx, id, commit, decided)
	if err != nil {
		return err
	}
	var missing []state.Event
	for _, ev := range decided {
		if recorded[eventKey{ev.Type, ev.TurnID}] {
			continue
		}
		ev.Event.Commit = commit
		missing = append(missing, ev.Event)
	}
	if len(missing) == 0 {
		return nil
	}
	e.logger.Info("record repaired after a crash", "session", id, "commit", commit, "events", len(missing))
	return e.log.Append(ctx, id, true, missing...)
}

type eventKey struct{ typ, turnID string }

// recorded returns which events of a commit are in the log. It asks for the
// first one before it reads the file, because mostly none or all are there, but
// a torn write may have left only some.
func (e *Engine) recorded(ctx context.Context, id string, commit uint64, decided []state.LifecycleEvent) (map[eventKey]bool, error) {
	found := make(map[eventKey]bool)
	any, err := e.log.HasCommit(ctx, id, commit, decided[0].Type)
	if err != nil || !any {
		return found, err
	}
	for ev, err := range e.log.Read(ctx, id, 0) {
		if err != nil {
			return nil, err
		}
		if ev.Commit == commit {
			found[eventKey{ev.Type, ev.TurnID}] = true
		}
	}
	return found, nil
}

// wakeOpenTurns starts the actors of sessions that have something to go on with.
func (e *Engine) wakeOpenTurns(ctx context.Context) error {
	open, err := read(ctx, e, e.store.OpenTurns)
	if err != nil {
		return err
	}
	waiting, err := e.waitingTurns(ctx)
	if err != nil {
		return err
	}
	var sessions []string
	seen := make(map[string]bool)
	for _, t := range open {
		if !seen[t.SessionID] {
			seen[t.SessionID] = true
			sessions = append(sessions, t.SessionID)
		}
	}
	if len(sessions) > 0 {
		e.logger.Info("going on with open turns", "turns", len(open), "sessions", len(sessions))
	}
	for _, id := range sessions {
		e.actors.post(id, func(a *actor) { a.resume(waiting) })
	}
	return nil
}

// farFuture is later than any timer.
var farFuture = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// waitingTurns returns the turns that have a timer and must not start before it.
func (e *Engine) waitingTurns(ctx context.Context) (map[string]bool, error) {
	const all = 1 << 30
	timers, err := read(ctx, e, func(ctx context.Context) ([]state.Timer, error) {
		return e.store.DueTimers(ctx, farFuture, all)
	})
	waiting := make(map[string]bool)
	for _, t := range timers {
		waiting[t.ID] = true
	}
	return waiting, err
}

// resume picks up the session's open turns.
func (a *actor) resume(waiting map[string]bool) {
	if err := a.ready(); err != nil {
		a.e.logger.Error("session not recovered; it will be at the next start", "session", a.id, "error", err)
		return
	}
	for _, q := range a.queued {
		q.parked = waiting[retryTimerID(q.row.ID)]
	}
	a.schedule()
}

// reclaim takes back turns that are running in the ledger while nobody here
// runs them: their process died. Such a turn runs again, because nothing that
// the agent can do has an effect outside its workspace, and what the host told
// the world is owed once however often the turn starts. A turn that takes the
// process with it again and again is given up.
func (a *actor) reclaim() error {
	d := a.draft()
	for _, q := range a.queued {
		if q.row.Status != state.TurnRunning {
			continue
		}
		t := q.row
		t.Lost++
		if t.Lost < maxLost {
			d.requeue(t, "the process was lost while it ran this turn", time.Time{})
			continue
		}
		a.fail(d, t, fmt.Sprintf("the process was lost %d times while it ran this turn", t.Lost))
	}
	if len(d.turns) == 0 {
		return nil
	}
	err := d.commit()
	if errors.Is(err, state.ErrFenced) {
		return fmt.Errorf("%w: is another process running?", err)
	}
	return err
}
