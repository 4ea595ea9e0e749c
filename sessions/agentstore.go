package sessions

import (
	"context"
	"errors"
	"fmt"

	"github.com/liaison-bot/liaison/bridge"
	"github.com/liaison-bot/liaison/state"
)

// NewAgentStore returns what a bridge keeps its agents in: the same store, and
// so the same file, that holds the decisions about them. Errors are those of
// bridge.Store and, beneath them, those of state.AgentRecords.
func NewAgentStore(records state.AgentRecords) bridge.Store {
	return agentStore{records}
}

type agentStore struct{ records state.AgentRecords }

// storeError adds what a bridge branches on.
func storeError(err error) error {
	switch {
	case errors.Is(err, state.ErrNotFound):
		return fmt.Errorf("%w: %w", bridge.ErrNoRecord, err)
	case errors.Is(err, state.ErrExists):
		return fmt.Errorf("%w: %w", bridge.ErrRecordExists, err)
	}
	return err
}

func stateRecord(r bridge.Record) state.AgentRecord {
	return state.AgentRecord{Kind: state.RecordKind(r.Kind), ID: r.ID, AgentID: r.AgentID, Data: r.Data}
}

func bridgeRecord(r state.AgentRecord) bridge.Record {
	return bridge.Record{Kind: bridge.RecordKind(r.Kind), ID: r.ID, AgentID: r.AgentID, Data: r.Data}
}

// Get implements [bridge.Store].
func (s agentStore) Get(ctx context.Context, kind bridge.RecordKind, id string) (bridge.Record, error) {
	r, err := s.records.AgentRecord(ctx, state.RecordKind(kind), id)
	return bridgeRecord(r), storeError(err)
}

// Create implements [bridge.Store].
func (s agentStore) Create(ctx context.Context, r bridge.Record) error {
	return storeError(s.records.CreateAgentRecord(ctx, stateRecord(r)))
}

// Update implements [bridge.Store].
func (s agentStore) Update(ctx context.Context, r bridge.Record) error {
	return storeError(s.records.UpdateAgentRecord(ctx, stateRecord(r)))
}

// Delete implements [bridge.Store].
func (s agentStore) Delete(ctx context.Context, kind bridge.RecordKind, id string) error {
	return storeError(s.records.DeleteAgentRecord(ctx, state.RecordKind(kind), id))
}

// List implements [bridge.Store].
func (s agentStore) List(ctx context.Context, kind bridge.RecordKind, agentID, after string, limit int) ([]bridge.Record, error) {
	rows, err := s.records.AgentRecords(ctx, state.RecordKind(kind), agentID, after, limit)
	if err != nil {
		return nil, storeError(err)
	}
	out := make([]bridge.Record, len(rows))
	for i, r := range rows {
		out[i] = bridgeRecord(r)
	}
	return out, nil
}

// Append implements [bridge.Store].
func (s agentStore) Append(ctx context.Context, runID string, e bridge.RunEvent) (int, error) {
	n, err := s.records.AppendRunEvent(ctx, runID, state.RunEvent{Type: e.Type, At: e.At, Payload: e.Payload})
	return n, storeError(err)
}

// Events implements [bridge.Store].
func (s agentStore) Events(ctx context.Context, runID string, after, limit int) ([]bridge.RunEvent, error) {
	rows, err := s.records.RunEvents(ctx, runID, after, limit)
	if err != nil {
		return nil, storeError(err)
	}
	out := make([]bridge.RunEvent, len(rows))
	for i, e := range rows {
		out[i] = bridge.RunEvent(e)
	}
	return out, nil
}
