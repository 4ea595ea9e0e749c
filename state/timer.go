package state

import (
	"context"
	"encoding/json"
	"time"
)

// Timer asks for a wake at a time.
type Timer struct {
	ID        string          `json:"id,omitempty"`
	SessionID string          `json:"sessionId,omitempty"`
	Due       time.Time       `json:"due,omitzero"`
	Kind      string          `json:"kind,omitempty"`
	Payload   json.RawMessage `json:"payload,omitempty"`
}

// Wake asks the dispatcher to look at a session again, written by a decision in
// its own transaction so that neither can be lost without the other.
type Wake struct {
	ID        string          `json:"id,omitempty"`
	SessionID string          `json:"sessionId,omitempty"`
	Kind      string          `json:"kind,omitempty"`
	Payload   json.RawMessage `json:"payload,omitempty"`
	At        time.Time       `json:"at,omitzero"`
}

// Timers finds timers that are due.
type Timers interface {
	// DueTimers returns up to limit timers with Due ≤ now, earliest first. A
	// timer stays until a commit cancels it, so it fires at least once.
	DueTimers(ctx context.Context, now time.Time, limit int) ([]Timer, error)
	// NextTimer returns when the earliest timer is due, and false when there is none.
	NextTimer(ctx context.Context) (time.Time, bool, error)
}

// Wakes finds wakes that were not handled yet.
type Wakes interface {
	// PendingWakes returns up to limit wakes with ID > after, in order of ID.
	PendingWakes(ctx context.Context, after string, limit int) ([]Wake, error)
}
