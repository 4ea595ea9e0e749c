package state

import (
	"context"
	"encoding/json"
	"time"
)

// OutboxItem is one write to the world that must happen once.
type OutboxItem struct {
	// ID is deterministic, so that deciding twice owes once: the turn's id and
	// the name of the effect. An item whose ID is stored already is left as it is.
	ID string `json:"id,omitempty"`
	// Seq orders the items; the store gives it.
	Seq uint64 `json:"seq,omitempty"`
	// SessionID is empty where the item belongs to no session.
	SessionID string `json:"sessionId,omitempty"`
	// Line names the items that are performed strictly one after another. Where it is
	// empty, that is those of the session; without a session the item then stands in
	// line with no other.
	Line   string `json:"line,omitempty"`
	TurnID string `json:"turnId,omitempty"`
	// Channel is the surface that performs it.
	Channel string `json:"channel,omitempty"`
	// Kind and Payload are the channel's own; no one else reads the payload.
	Kind    string          `json:"kind,omitempty"`
	Payload json.RawMessage `json:"payload,omitempty"`
	// Attempts counts the claims so far, this one included. Above one, or with
	// an earlier epoch's claim, the effect may have happened: look before repeating.
	Attempts  int       `json:"attempts,omitempty"`
	NotBefore time.Time `json:"notBefore,omitzero"`
	CreatedAt time.Time `json:"createdAt,omitzero"`
}

// OutboxResult says how an attempt at an outbox item ended.
type OutboxResult string

// The results of an attempt.
const (
	// OutboxDone means that the effect is in the world, or is no longer wanted; Note says which.
	OutboxDone OutboxResult = "done"
	// OutboxRetry means that it shall be tried again at RetryAt.
	OutboxRetry OutboxResult = "retry"
	// OutboxDead means that it was given up; it becomes a dead letter.
	OutboxDead OutboxResult = "dead"
)

// OutboxSettlement ends a claim.
type OutboxSettlement struct {
	ID      string
	Result  OutboxResult
	RetryAt time.Time
	// Note is one line for a person: what happened, or why it was given up.
	Note string
}

// Outbox hands owed writes to the workers that perform them.
type Outbox interface {
	// ClaimOutbox durably counts an attempt at the first item of each line that is
	// due at now and not claimed, for up to limit items, and returns them in order
	// of Seq. A claim lasts until it is settled or the store is opened anew.
	ClaimOutbox(ctx context.Context, now time.Time, limit int) ([]OutboxItem, error)
	// NextOutbox returns the time at which the next unclaimed first item is due,
	// and false when there is none.
	NextOutbox(ctx context.Context) (time.Time, bool, error)
	// OutboxAdded works as Queue.Accepted does, for items and settlements.
	OutboxAdded() <-chan struct{}
	// OutboxItems returns the unsettled items of a session, or of none where the
	// id is empty, in order of Seq.
	OutboxItems(ctx context.Context, sessionID string) ([]OutboxItem, error)
}
