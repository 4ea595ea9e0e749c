package state

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// RecordKind is a kind of record that a bridge keeps.
type RecordKind string

// The kinds of records. They are the protocol's words.
const (
	RecordAgent      RecordKind = "agents"
	RecordRun        RecordKind = "runs"
	RecordCheckpoint RecordKind = "checkpoints"
)

// Known reports whether k is a kind that can be stored.
func (k RecordKind) Known() bool {
	return k == RecordAgent || k == RecordRun || k == RecordCheckpoint
}

// AgentRecord is one thing that a bridge remembers. What is in it is the bridge's.
type AgentRecord struct {
	Kind RecordKind
	// ID is unique in its kind.
	ID string
	// AgentID is the agent that a run or a checkpoint belongs to; empty for agents.
	AgentID string
	// Data is at most [MaxRecord] bytes.
	Data []byte
}

// RunEvent is one entry of what a run said, as a bridge keeps it.
type RunEvent struct {
	// Seq counts a run's events from 1, without holes; the store gives it.
	Seq  int
	Type string
	At   time.Time
	// Payload is at most [MaxRecord] bytes.
	Payload json.RawMessage
}

// MaxRecord is the most bytes of one record's data or one run event's payload:
// the largest message that a bridge takes from its client is as large, and
// nothing that it keeps for itself is larger.
const MaxRecord = 16 << 20

// ErrExists means that there is such a row already.
var ErrExists = errors.New("exists already")

// AgentRecords keeps what a bridge remembers of its agents. A change that
// returned nil survives a crash. Besides those named below, the errors are
// [ErrInvalid] (an id, a kind or a payload that no store can hold, or one above
// [MaxRecord]) and [ErrUnavailable], also when what is left of a limited file is
// kept for decisions.
type AgentRecords interface {
	// AgentRecord returns a record, or [ErrNotFound].
	AgentRecord(ctx context.Context, kind RecordKind, id string) (AgentRecord, error)
	// CreateAgentRecord returns [ErrExists] for a record that is there. It does
	// not ask for a run's or a checkpoint's agent to be there.
	CreateAgentRecord(ctx context.Context, r AgentRecord) error
	// UpdateAgentRecord replaces a record, or returns [ErrNotFound].
	UpdateAgentRecord(ctx context.Context, r AgentRecord) error
	// DeleteAgentRecord removes a record; an agent's with its runs, their events
	// and its checkpoints, a run's with its events. What is not there is no error.
	DeleteAgentRecord(ctx context.Context, kind RecordKind, id string) error
	// AgentRecords returns up to limit records with ID > after, in order of ID,
	// of one agent when agentID is not empty.
	AgentRecords(ctx context.Context, kind RecordKind, agentID, after string, limit int) ([]AgentRecord, error)
	// AppendRunEvent adds to what a run said and returns the event's number, or
	// [ErrNotFound] when there is no record of the run.
	AppendRunEvent(ctx context.Context, runID string, e RunEvent) (int, error)
	// RunEvents returns up to limit events with Seq > after, in order.
	RunEvents(ctx context.Context, runID string, after, limit int) ([]RunEvent, error)
}
