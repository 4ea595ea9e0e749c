package state

import (
	"context"
	"encoding/json"
	"time"
)

// Session is one durable conversation.
type Session struct {
	// ID is "ses_" and a ULID.
	ID string
	// Version is 0 before the session is stored and grows by one with each
	// commit that contains it; a commit with another version than the stored
	// one fails with [ErrConflict]. The caller's value is not changed: after a
	// commit the stored version is the committed one plus one.
	Version uint64
	// Channel is the surface that owns the session, such as "github".
	Channel string
	// Key is the continuation key that found it first.
	Key       string
	Title     string
	Mode      Mode
	Principal string
	Status    SessionStatus
	// Revision is the newest state of the subject that the session has accepted,
	// for example the head of a pull request.
	Revision Revision
	// Paused says why the surface cannot be reached (a suspended installation);
	// empty when it can.
	Paused string
	// AgentID is the agent at the bridge, once one was intended.
	AgentID string
	// Surface is what the channel asked to remember, such as the id of its comment.
	Surface   map[string]string
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Mode says whether a session takes follow-ups.
type Mode string

// The modes of a session.
const (
	ModeChat Mode = "chat"
	ModeTask Mode = "task"
)

// SessionStatus says whether a session still takes part in anything.
type SessionStatus string

// The states of a session. An archived one becomes active again when its key is heard of.
const (
	SessionActive   SessionStatus = "active"
	SessionArchived SessionStatus = "archived"
)

// Revision identifies a state of a session's subject and orders it among others.
type Revision struct {
	// ID is what identifies it, such as a head SHA. Empty where a channel has none.
	ID string `json:"id,omitempty"`
	// Previous is the ID that it replaced, where the channel was told.
	Previous string `json:"previous,omitempty"`
	// At orders revisions: the subject's own time of change, at the sender.
	At time.Time `json:"at,omitzero"`
}

// Turn is one run of the agent in a session.
type Turn struct {
	// ID is "trn_" and a ULID; IDs of one session sort in the order of creation.
	ID        string
	SessionID string
	// Version works as Session.Version does.
	Version uint64
	Status  TurnStatus
	// Message is what the person or the event asked, in plain text.
	Message string
	// Request is the channel's own description of the work; no one else reads it.
	Request json.RawMessage
	// Revision is the state of the subject that the turn is about.
	Revision Revision
	// DeliveryID is the delivery that asked for it, "source:id".
	DeliveryID string
	// Attempts counts how often the turn was started; more than one after a crash.
	Attempts int
	// Lost counts the starts that ended with the death of the process.
	Lost int
	// Retries counts the starts that ended with the wish to try again later; a
	// wait for a paused surface is not one.
	Retries int
	// Epoch is the store's epoch in which the turn was last started. It stays
	// when the turn is queued again; a commit of a running turn, or of one that
	// was started since, under an earlier epoch fails with [ErrFenced].
	Epoch uint64
	// RunID is the run at the bridge, once known.
	RunID string
	// Reason says why the turn failed or was interrupted, for a person.
	Reason    string
	Usage     Usage
	QueuedAt  time.Time
	StartedAt time.Time
	EndedAt   time.Time
}

// Usage counts the tokens of a turn.
type Usage struct {
	InputTokens      int64 `json:"inputTokens"`
	OutputTokens     int64 `json:"outputTokens"`
	CacheReadTokens  int64 `json:"cacheReadTokens"`
	CacheWriteTokens int64 `json:"cacheWriteTokens"`
	TotalTokens      int64 `json:"totalTokens"`
}

// TurnStatus says how far a turn has come.
type TurnStatus string

// The states of a turn: queued → running → one of the other three. A running
// turn goes back to queued when the process that ran it went away.
const (
	TurnQueued      TurnStatus = "queued"
	TurnRunning     TurnStatus = "running"
	TurnCompleted   TurnStatus = "completed"
	TurnFailed      TurnStatus = "failed"
	TurnInterrupted TurnStatus = "interrupted"
)

// Ended reports whether the turn will never run again.
func (s TurnStatus) Ended() bool {
	return s == TurnCompleted || s == TurnFailed || s == TurnInterrupted
}

// KeyLink makes a continuation key, or an alias, name a session that is stored
// or in the same change. A key that is linked to another session fails the
// commit with [ErrConflict], also where the new link is an alias; an alias moves.
type KeyLink struct {
	Key       string
	SessionID string
	Alias     bool
}

// Sessions finds sessions and their turns.
type Sessions interface {
	// Session returns a session by id, or [ErrNotFound].
	Session(ctx context.Context, id string) (Session, error)
	// SessionByKey returns the session that a continuation key or an alias
	// names, or [ErrNotFound].
	SessionByKey(ctx context.Context, key string) (Session, error)
	// ListSessions returns up to limit sessions with ID > after, in order of ID.
	ListSessions(ctx context.Context, after string, limit int) ([]Session, error)
	// Turn returns a turn by id, or [ErrNotFound].
	Turn(ctx context.Context, id string) (Turn, error)
	// Turns returns all turns of a session in order of ID.
	Turns(ctx context.Context, sessionID string) ([]Turn, error)
	// OpenTurns returns every turn that is queued or running, in order of ID.
	// The engine calls it once at boot.
	OpenTurns(ctx context.Context) ([]Turn, error)
}
