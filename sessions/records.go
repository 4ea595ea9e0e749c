package sessions

import (
	"context"

	"github.com/liaison-bot/liaison/state"
)

// append adds events to a session's record and wakes those who follow it. All
// that the engine appends goes through here.
func (e *Engine) append(ctx context.Context, sessionID string, sync bool, events ...state.Event) error {
	if err := e.log.Append(ctx, sessionID, sync, events...); err != nil {
		return err
	}
	if len(events) > 0 {
		e.metrics.EventsAppended(len(events))
		e.feed.wake(sessionID)
	}
	return nil
}
