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
func (e *Engine) recoverState(ctx context.Context) error {
	open, err := read(ctx, e, e.store.OpenTurns)
	if err != nil {
		return fmt.Errorf("sessions: read open turns: %w", err)
	}
	waiting, err := e.waitingTurns(ctx)
	if err != nil {
		return fmt.Errorf("sessions: read timers: %w", err)
	}
	going := make(map[string]bool)
	for _, t := range open {
		going[t.SessionID] = true
	}
	unsynced, err := e.repairRecord(ctx, going)
	if err != nil {
		return fmt.Errorf("sessions: repair the record: %w", err)
	}
	if len(open) > 0 {
		e.logger.Info("going on with open turns", "turns", len(open), "sessions", len(going))
	}
	for _, t := range open { // in the order in which they were queued
		if id := t.SessionID; going[id] {
			delete(going, id)
			e.actors.post(id, func(a *actor) { a.resume(waiting, unsynced[id]) })
		}
	}
	return nil
}

// repairRecord appends decided events that a crash kept out of the log, so that
// the record and the decisions agree. Of sessions that go on it returns the
// commits whose events are there but perhaps not on disk; the others' are made
// sure of and confirmed here.
func (e *Engine) repairRecord(ctx context.Context, going map[string]bool) (map[string][]uint64, error) {
	pending, err := read(ctx, e, e.store.PendingLifecycle)
	if err != nil || len(pending) == 0 {
		return nil, err
	}
	bySession := make(map[string][]state.LifecycleEvent)
	for _, ev := range pending {
		bySession[ev.SessionID] = append(bySession[ev.SessionID], ev)
	}
	unsynced := make(map[string][]uint64)
	var confirm []uint64
	for id, decided := range bySession {
		commits, err := e.repairSession(ctx, id, decided, !going[id])
		if err != nil {
			return nil, err
		}
		if going[id] {
			unsynced[id] = commits
		} else {
			confirm = append(confirm, commits...)
		}
	}
	if len(confirm) == 0 {
		return unsynced, nil
	}
	_, err = e.commit(ctx, state.Change{Confirm: confirm})
	return unsynced, err
}

// repairSession appends what the record of one session lacks, and returns the
// commits that it then has.
func (e *Engine) repairSession(ctx context.Context, id string, decided []state.LifecycleEvent, sync bool) ([]uint64, error) {
	slices.SortStableFunc(decided, func(a, b state.LifecycleEvent) int {
		return cmp.Or(cmp.Compare(a.Commit, b.Commit), cmp.Compare(a.Ordinal, b.Ordinal))
	})
	recorded, err := e.recorded(ctx, id, decided)
	if err != nil {
		return nil, err
	}
	var missing []state.Event
	var commits []uint64
	for _, ev := range decided {
		commits = append(commits, ev.Commit)
		if !recorded[keyOf(ev.Event)] {
			missing = append(missing, ev.Event)
		}
	}
	if len(missing) > 0 {
		e.logger.Info("record repaired after a crash", "session", id, "events", len(missing))
	}
	if len(missing) > 0 || sync {
		if err := e.append(ctx, id, sync, missing...); err != nil {
			return nil, err
		}
	}
	return slices.Compact(commits), nil
}

// eventKey tells decided events apart.
type eventKey struct {
	commit      uint64
	typ, turnID string
}

func keyOf(ev state.Event) eventKey { return eventKey{ev.Commit, ev.Type, ev.TurnID} }

// recorded returns which of the events are in the log. Asking for each costs
// what was appended since; the whole record is read only where a commit has
// several events of one type, of which a torn write may have left some.
func (e *Engine) recorded(ctx context.Context, id string, decided []state.LifecycleEvent) (map[eventKey]bool, error) {
	found := make(map[eventKey]bool)
	kinds := make(map[eventKey]bool)
	for _, ev := range decided {
		kind := eventKey{commit: ev.Commit, typ: ev.Type}
		if kinds[kind] {
			return e.readKeys(ctx, id)
		}
		kinds[kind] = true
		there, err := e.log.HasCommit(ctx, id, ev.Commit, ev.Type)
		if err != nil {
			return nil, err
		}
		found[keyOf(ev.Event)] = there
	}
	return found, nil
}

func (e *Engine) readKeys(ctx context.Context, id string) (map[eventKey]bool, error) {
	found := make(map[eventKey]bool)
	for ev, err := range e.log.Read(ctx, id, 0) {
		if err != nil {
			return nil, err
		}
		found[keyOf(ev)] = true
	}
	return found, nil
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

// resume picks up the session's open turns. Those with a timer wait for it.
func (a *actor) resume(waiting map[string]bool, unsynced []uint64) {
	a.unsynced = append(a.unsynced, unsynced...)
	if err := a.ready(); err != nil {
		a.e.logger.Error("session not recovered; it will be at the next start", "session", a.id, "error", err)
		return
	}
	for _, q := range a.queued {
		q.parked = q.parked || waiting[retryTimerID(q.row.ID)]
	}
	a.schedule()
}

// reclaim takes back turns that are running in the ledger while nobody here
// runs them: their process died. Such a turn runs again once, because what the
// host told the world is owed once however often the turn starts. One that acted
// by a tool goes on only if its run can be found, and one that took the process
// with it twice is given up.
func (a *actor) reclaim() error {
	d := a.draft()
	for _, q := range a.queued {
		if q.row.Status != state.TurnRunning {
			continue
		}
		t := q.row
		t.Lost++
		const why = "the process was lost while it ran this turn"
		switch {
		case t.Lost >= maxLost:
			a.fail(d, t, fmt.Sprintf("the process was lost %d times while it ran this turn", t.Lost), "")
		case t.Acted != "" && t.Sending == nil:
			a.fail(d, t, notRepeated(t, why), "")
		default:
			d.requeue(t, why, time.Time{}, "")
		}
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
