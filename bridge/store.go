package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// The errors that a [Store] returns for the caller to tell apart.
var (
	ErrNoRecord     = errors.New("bridge: no such record")
	ErrRecordExists = errors.New("bridge: the record exists")
)

// RecordKind is a kind of record that a bridge keeps; the values are the protocol's.
type RecordKind string

// The kinds of records.
const (
	RecordAgent      RecordKind = "agents"
	RecordRun        RecordKind = "runs"
	RecordCheckpoint RecordKind = "checkpoints"
)

// Record is one thing that a bridge remembers. What is in it is the bridge's.
type Record struct {
	Kind RecordKind
	// ID is unique in its kind. A checkpoint's is its agent's id, "/" and its own.
	ID string
	// AgentID is the agent that a run or a checkpoint belongs to; empty for agents.
	AgentID string
	// Data is the record's JSON; of a checkpoint, its bytes.
	Data []byte
}

// RunEvent is one entry of what a run said, as a bridge keeps it.
type RunEvent struct {
	// Seq counts the run's events from 1, without holes. [Store.Append] gives it.
	Seq     int
	Type    string
	At      time.Time
	Payload json.RawMessage
}

// Store keeps what a bridge remembers of local agents, so that the program that
// drives the bridge has it all in one place. It is called concurrently. A change
// that returned nil must survive a crash; another error than those above makes
// the bridge fail the call.
type Store interface {
	// Get returns ErrNoRecord for what is not there.
	Get(ctx context.Context, kind RecordKind, id string) (Record, error)
	// Create returns ErrRecordExists.
	Create(ctx context.Context, r Record) error
	// Update returns ErrNoRecord for what is not there.
	Update(ctx context.Context, r Record) error
	// Delete removes a record; an agent's with its runs, their events and its
	// checkpoints, a run's with its events. What is not there is no error.
	Delete(ctx context.Context, kind RecordKind, id string) error
	// List returns at most limit records whose ids follow after, in their order; of
	// one agent when agentID is not empty.
	List(ctx context.Context, kind RecordKind, agentID, after string, limit int) ([]Record, error)
	// Append adds to what a run said and returns the entry's number. It returns
	// ErrNoRecord when the run is not there.
	Append(ctx context.Context, runID string, e RunEvent) (int, error)
	// Events returns at most limit entries that follow number after.
	Events(ctx context.Context, runID string, after, limit int) ([]RunEvent, error)
}
