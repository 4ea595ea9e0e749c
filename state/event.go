package state

import (
	"context"
	"encoding/json"
	"iter"
	"time"
)

// Event is one line of a session's record. The vocabulary of types is sessions' own.
type Event struct {
	Type string `json:"type"`
	// Index is dense from 0 within one session; the log gives it.
	Index     int64           `json:"index"`
	SessionID string          `json:"sessionId"`
	TurnID    string          `json:"turnId,omitempty"`
	At        time.Time       `json:"at"`
	Data      json.RawMessage `json:"data"`
	// Commit is the id of the commit that decided a lifecycle event; zero for
	// events that no decision depends on. With it the log can be made whole
	// after a crash between the commit and the append.
	Commit uint64 `json:"commit,omitempty"`
}

// EventLog is the append-only record of each session.
type EventLog interface {
	// Append gives the events their indexes and appends them in one write. All
	// must be of the one session. With sync it returns after the file is synced;
	// with sync and no events, what is there already is.
	Append(ctx context.Context, sessionID string, sync bool, events ...Event) error
	// Read yields the events with Index ≥ from, as far as they exist now. An
	// unknown session yields nothing. An error, such as one wrapping
	// [ErrCorrupt], comes last. Going on from where a reading ended is cheap.
	Read(ctx context.Context, sessionID string, from int64) iter.Seq2[Event, error]
	// Len returns how many events a session has, which is the index of the next
	// one. An unknown session has none. It costs the same for a long record.
	Len(ctx context.Context, sessionID string) (int64, error)
	// HasCommit reports whether an event of type typ with this commit id is recorded.
	HasCommit(ctx context.Context, sessionID string, commit uint64, typ string) (bool, error)
	// Close releases the files. Appending afterwards is an error.
	Close() error
}

// LifecycleEvent is an event that a commit decided. The store keeps it until it
// is confirmed to be in the log.
type LifecycleEvent struct {
	// Event carries everything but Index and Commit.
	Event
	// Ordinal tells apart several events of one commit; the store gives it, and
	// the commit's id, when it returns them from Commit and PendingLifecycle.
	Ordinal int `json:"ordinal,omitempty"`
}

// Lifecycle finds events that were decided but perhaps not recorded.
type Lifecycle interface {
	// PendingLifecycle returns every unconfirmed event in order of commit.
	PendingLifecycle(ctx context.Context) ([]LifecycleEvent, error)
}
