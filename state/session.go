package state

import (
	"context"
	"encoding/json"
	"time"
)

// Session is one durable conversation.
type Session struct {
	// ID is "ses_" and a ULID.
	ID string `json:"id,omitempty"`
	// Version is 0 before the session is stored and grows by one with each
	// commit that contains it; a commit with another version than the stored
	// one fails with [ErrConflict]. The caller's value is not changed: after a
	// commit the stored version is the committed one plus one.
	Version uint64 `json:"version,omitempty"`
	// Channel is the surface that owns the session, such as "github".
	Channel string `json:"channel,omitempty"`
	// Key is the continuation key by which it is continued now. That of the http
	// channel changes with each follow-up; others stay.
	Key       string        `json:"key,omitempty"`
	Title     string        `json:"title,omitempty"`
	Mode      Mode          `json:"mode,omitempty"`
	Principal string        `json:"principal,omitempty"`
	Status    SessionStatus `json:"status,omitempty"`
	// Revision is the newest state of the subject that the session has accepted,
	// for example the head of a pull request.
	Revision Revision `json:"revision,omitzero"`
	// Paused says why the surface cannot be reached (a suspended installation);
	// empty when it can.
	Paused string `json:"paused,omitempty"`
	// AgentID is the agent at the bridge, once one was intended.
	AgentID string `json:"agentId,omitempty"`
	// Surface is what the channel asked to remember, such as the id of its comment.
	Surface map[string]string `json:"surface,omitempty"`
	// DryRun is set when tools that write are only acknowledged, never run.
	DryRun    bool      `json:"dryRun,omitempty"`
	CreatedAt time.Time `json:"createdAt,omitzero"`
	UpdatedAt time.Time `json:"updatedAt,omitzero"`
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
	ID        string `json:"id,omitempty"`
	SessionID string `json:"sessionId,omitempty"`
	// Version works as Session.Version does.
	Version uint64     `json:"version,omitempty"`
	Status  TurnStatus `json:"status,omitempty"`
	// Channel is the surface that asked, and that is told; empty means the
	// session's own.
	Channel string `json:"channel,omitempty"`
	// Principal is who asked.
	Principal string `json:"principal,omitempty"`
	// Message is what the person or the event asked, in plain text.
	Message string `json:"message,omitempty"`
	// MessageID is the channel's name for Message, unique in the session; empty
	// where it can be changed by nobody.
	MessageID string `json:"messageId,omitempty"`
	// Preempts is set when the turn was asked to run before those that wait.
	Preempts bool `json:"preempts,omitempty"`
	// Gathered are messages that came while the turn was queued and are answered
	// together with Message, in the order in which they came.
	Gathered []Gathered `json:"gathered,omitempty"`
	// Request is the channel's own description of the work; no one else reads it.
	Request json.RawMessage `json:"request,omitempty"`
	// Revision is the state of the subject that the turn is about.
	Revision Revision `json:"revision,omitzero"`
	// DeliveryID is the delivery that asked for it, "source:id".
	DeliveryID string `json:"deliveryId,omitempty"`
	// Attempts counts how often the turn was started; more than one after a crash.
	Attempts int `json:"attempts,omitempty"`
	// Lost counts the starts that ended with the death of the process.
	Lost int `json:"lost,omitempty"`
	// Retries counts the starts that ended with the wish to try again later; a
	// wait for a paused surface is not one.
	Retries int `json:"retries,omitempty"`
	// Epoch is the store's epoch in which the turn was last started. It stays
	// when the turn is queued again; a commit of a running turn, or of one that
	// was started since, under an earlier epoch fails with [ErrFenced].
	Epoch uint64 `json:"epoch,omitempty"`
	// NotBefore is when a turn that waits may start; zero means at once.
	NotBefore time.Time `json:"notBefore,omitzero"`
	// Acted names the first thing that the turn did to the world by a tool, set
	// before that was done. A turn that acted is never run again by itself. The
	// host's own checks, statuses and comments do not count.
	Acted string `json:"acted,omitempty"`
	// WaitsFor is what people were told that the turn waits for, until it goes on.
	WaitsFor string `json:"waitsFor,omitempty"`
	// RunID is the run at the bridge, once known.
	RunID string `json:"runId,omitempty"`
	// Sending is set before a run is sent and removed when the end of that run is
	// known: with it, whoever goes on looks for the run before it sends another.
	Sending *Sending `json:"sending,omitempty"`
	// Reason says why the turn failed or was interrupted, for a person.
	Reason string `json:"reason,omitempty"`
	Usage  Usage  `json:"usage,omitzero"`
	// Outputs is what tools laid down for the turn's channel, by their names.
	Outputs map[string]json.RawMessage `json:"outputs,omitempty"`
	// Writes are the calls of tools that did something to the world, oldest first, so
	// that none is made again when it is repeated.
	Writes []Write `json:"writes,omitempty"`
	// ToolCalls counts the tools that the agent called.
	ToolCalls int `json:"toolCalls,omitempty"`
	// Model is the model that answered, where known.
	Model string `json:"model,omitempty"`
	// CostUSD is the estimated cost in US dollars; zero where no price is known.
	CostUSD   float64   `json:"costUsd,omitempty"`
	QueuedAt  time.Time `json:"queuedAt,omitzero"`
	StartedAt time.Time `json:"startedAt,omitzero"`
	EndedAt   time.Time `json:"endedAt,omitzero"`
}

// Write is a call of a tool that did something to the world.
type Write struct {
	// Key tells it from others of the turn.
	Key string `json:"key"`
	// Answer is what the agent was told, or some of it; nil before, and where it was
	// too much to keep. No store reads it.
	Answer json.RawMessage `json:"answer,omitempty"`
}

// Gathered is a message that is answered with another one.
type Gathered struct {
	Message    string          `json:"message,omitempty"`
	MessageID  string          `json:"messageId,omitempty"`
	Principal  string          `json:"principal,omitempty"`
	DeliveryID string          `json:"deliveryId,omitempty"`
	Request    json.RawMessage `json:"request,omitempty"`
	At         time.Time       `json:"at,omitzero"`
}

// Sending is the intention to send a run.
type Sending struct {
	// After is the newest run that the agent had before; empty when it had none.
	After string `json:"after,omitempty"`
	// RunID is the run that was sent, once it had a name.
	RunID string `json:"runId,omitempty"`
	// Epoch is the store's epoch in which that was intended: a bridge that ends
	// with its host can have the run live in the same one only.
	Epoch uint64 `json:"epoch,omitempty"`
}

// Usage counts the tokens of a turn.
type Usage struct {
	InputTokens      int64 `json:"inputTokens"`
	OutputTokens     int64 `json:"outputTokens"`
	CacheReadTokens  int64 `json:"cacheReadTokens"`
	CacheWriteTokens int64 `json:"cacheWriteTokens"`
	TotalTokens      int64 `json:"totalTokens"`
}

// Plus returns the sum of two counts.
func (u Usage) Plus(v Usage) Usage {
	return Usage{
		InputTokens:      u.InputTokens + v.InputTokens,
		OutputTokens:     u.OutputTokens + v.OutputTokens,
		CacheReadTokens:  u.CacheReadTokens + v.CacheReadTokens,
		CacheWriteTokens: u.CacheWriteTokens + v.CacheWriteTokens,
		TotalTokens:      u.TotalTokens + v.TotalTokens,
	}
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
	// SessionKeys returns up to limit continuation keys that begin with prefix and
	// come after the given one, in order, with their sessions. Aliases are left out.
	SessionKeys(ctx context.Context, prefix, after string, limit int) ([]KeyLink, error)
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

// SessionFilter says which sessions are wanted. The zero value means all.
type SessionFilter struct {
	// Principal and Channel restrict to one owner and one surface.
	Principal string
	Channel   string
	// Before continues a listing: only sessions with a smaller ID.
	Before string
}

// SessionIndex lists sessions for people. Its cost does not grow with the
// number of sessions that the filter leaves out, except by Channel among those
// of one Principal.
type SessionIndex interface {
	// RecentSessions returns up to limit sessions, newest first.
	RecentSessions(ctx context.Context, f SessionFilter, limit int) ([]Session, error)
}
