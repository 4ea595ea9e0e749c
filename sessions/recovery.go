package sessions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/liaison-bot/liaison/state"
)

// recovery is what is left to be done in the background after a start.
type recovery struct {
	e *Engine
	// lost are the sessions with a turn that was running when the process died.
	lost []string
}

// recoverState finds what an earlier process left undone, before anything new is
// taken: open turns are put in line as they were queued, without a look at their
// sessions, and torn records are noted. Deliveries that were not settled need
// nothing: they are pending, and a decision settles them in its own commit.
func (e *Engine) recoverState(ctx context.Context) (*recovery, error) {
	open, err := read(ctx, e, e.store.OpenTurns)
	if err != nil {
		return nil, fmt.Errorf("sessions: read open turns: %w", err)
	}
	pending, err := read(ctx, e, e.store.PendingLifecycle)
	if err != nil {
		return nil, fmt.Errorf("sessions: read what the records may lack: %w", err)
	}
	for _, ev := range pending {
		e.records.tear(ev.SessionID, []state.LifecycleEvent{ev})
	}
	r := &recovery{e: e}
	for _, t := range open {
		if t.Status == state.TurnRunning {
			r.lost = append(r.lost, t.SessionID)
		}
		if t.NotBefore.IsZero() {
			e.turns.add(t.SessionID)
		}
	}
	if len(open) > 0 {
		e.logger.Info("going on with open turns", "turns", len(open), "lost", len(r.lost))
	}
	return r, nil
}

// run takes back lost turns, goes on with approvals and repairs records, until ctx ends.
func (r *recovery) run(ctx context.Context) {
	for _, id := range r.lost {
		done := make(chan struct{})
		r.e.actors.post(id, func(a *actor) {
			defer close(done)
			a.resume()
		})
		select {
		case <-done:
		case <-ctx.Done():
			return
		}
	}
	r.e.lookBackAtApprovals(ctx)
	r.e.records.mendAll(ctx)
}

// resume picks up the session's open turns.
func (a *actor) resume() {
	if err := a.ready(); err != nil {
		a.e.logger.Error("session not recovered; it will be at the next start", "session", a.id, "error", err)
		return
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
