package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/liaison-bot/liaison/state"
)

// timerTurnRetry is the kind of timer that lets a parked turn stand in line
// again. A turn is parked as long as its NotBefore is set, and has a timer then.
const timerTurnRetry = "turn.retry"

type retryPayload struct {
	TurnID string `json:"turnId"`
}

func retryTimerID(turnID string) string { return "turn:" + turnID }

// timerPage is how many due timers are handled at once.
const timerPage = 100

// runTimers wakes sessions whose timers are due, until intake ends.
func (e *Engine) runTimers(intake, work context.Context) {
	for intake.Err() == nil {
		due, err := read(work, e, func(ctx context.Context) ([]state.Timer, error) {
			return e.store.DueTimers(ctx, e.now(), timerPage)
		})
		if err != nil {
			e.abort(fmt.Errorf("read due timers: %w", err))
			return
		}
		wait := time.Duration(0)
		if began := e.now(); len(due) == 0 {
			wait = e.untilTimer(intake)
		} else if !e.fire(work, due) {
			wait = storeRetryMax
		} else {
			e.pace.rest(intake, e.now().Sub(began))
		}
		if !e.awaitTimer(intake, wait) {
			return
		}
	}
}

// fire has the sessions of timers take their turns up again, each in a decision
// that cancels the timer. It waits for all, and reports whether all are done: a
// timer that is not is due still.
func (e *Engine) fire(ctx context.Context, due []state.Timer) bool {
	results := make(chan error, len(due))
	for _, t := range due {
		e.actors.post(t.SessionID, func(a *actor) {
			err := errors.New("the session's actor panicked")
			defer func() { results <- err }()
			err = a.unpark(t)
		})
	}
	all := true
	for range due {
		select {
		case err := <-results:
			if err != nil {
				all = false
				e.logger.Error("timer not handled; that is tried again", "error", err)
			}
		case <-ctx.Done():
			return false
		}
	}
	return all
}

// unpark lets a waiting turn stand in line, or an approval go on.
func (a *actor) unpark(t state.Timer) error {
	if t.Kind == timerApprovalExpires || t.Kind == timerApprovalReminder {
		return a.pass(t)
	}
	var p retryPayload
	if t.Kind != timerTurnRetry || json.Unmarshal(t.Payload, &p) != nil {
		a.e.logger.Error("timer of an unknown kind dropped", "timer", t.ID, "kind", t.Kind)
	}
	err := a.decide(func(d *draft) error {
		d.change.CancelTimers = []string{t.ID}
		for _, q := range a.queued {
			if q.row.ID == p.TurnID && q.parked() {
				d.turn(q.row).NotBefore = time.Time{}
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("wake session %s by timer %s: %w", t.SessionID, t.ID, err)
	}
	a.schedule()
	return nil
}

// nudgeTimers says that a timer was set, which may be due before the others.
func (e *Engine) nudgeTimers() {
	select {
	case e.timerSet <- struct{}{}:
	default:
	}
}

// untilTimer returns how long it is until a timer may be due.
func (e *Engine) untilTimer(ctx context.Context) time.Duration {
	next, ok, err := e.store.NextTimer(ctx)
	if err != nil || !ok {
		return timerPoll
	}
	return min(timerPoll, max(next.Sub(e.now()), time.Millisecond))
}

// awaitTimer waits, or until a timer is set. It reports false when intake ends.
func (e *Engine) awaitTimer(intake context.Context, wait time.Duration) bool {
	if wait <= 0 {
		return intake.Err() == nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-intake.Done():
		return false
	case <-e.timerSet:
	case <-timer.C:
	}
	return true
}

// timerPoll is the longest time between two looks, so that a clock that was set
// forward is noticed.
const timerPoll = time.Minute
