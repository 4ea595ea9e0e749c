package sessions

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/liaison-bot/liaison/state"
)

// timerTurnRetry is the kind of timer that lets a waiting turn start again.
const timerTurnRetry = "turn.retry"

type retryPayload struct {
	TurnID string `json:"turnId"`
}

func retryTimerID(turnID string) string { return "turn:" + turnID }

// timerPage is how many due timers are handled in one commit.
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
		if len(due) > 0 {
			if err := e.fire(work, due); err != nil {
				e.abort(err)
				return
			}
			continue
		}
		if !e.awaitTimer(intake) {
			return
		}
	}
}

// fire cancels timers and then tells their sessions. If the process dies in
// between, the turn is queued without a timer, and the next start lets it go on.
func (e *Engine) fire(ctx context.Context, due []state.Timer) error {
	var c state.Change
	for _, t := range due {
		c.CancelTimers = append(c.CancelTimers, t.ID)
	}
	if _, err := e.commit(ctx, c); err != nil {
		return fmt.Errorf("cancel due timers: %w", err)
	}
	for _, t := range due {
		var p retryPayload
		if t.Kind != timerTurnRetry || json.Unmarshal(t.Payload, &p) != nil {
			e.logger.Error("timer of an unknown kind dropped", "timer", t.ID, "kind", t.Kind)
			continue
		}
		e.actors.post(t.SessionID, func(a *actor) { a.unpark(p.TurnID) })
	}
	return nil
}

// unpark lets a waiting turn stand in line.
func (a *actor) unpark(turnID string) {
	if err := a.ready(); err != nil {
		a.e.logger.Error("session not read", "session", a.id, "error", err)
		return
	}
	for _, q := range a.queued {
		if q.row.ID == turnID {
			q.parked = false
		}
	}
	a.schedule()
}

// nudgeTimers says that a timer was set, which may be due before the others.
func (e *Engine) nudgeTimers() {
	select {
	case e.timerSet <- struct{}{}:
	default:
	}
}

// awaitTimer waits until a timer may be due. It reports false when intake ends.
func (e *Engine) awaitTimer(intake context.Context) bool {
	wait := timerPoll
	next, ok, err := e.store.NextTimer(intake)
	if err == nil && ok {
		wait = min(wait, max(next.Sub(e.now()), time.Millisecond))
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
