package rules

import (
	"encoding/json"
	"fmt"

	"github.com/liaison-bot/liaison/state"
)

// Record checks what no store can hold of an agent's record.
func Record(r state.AgentRecord) error {
	if err := RecordID(r.Kind, r.ID); err != nil {
		return err
	}
	switch {
	case r.Kind == state.RecordAgent && r.AgentID != "":
		return fmt.Errorf("the record of agent %q belongs to agent %q: %w", r.ID, r.AgentID, state.ErrInvalid)
	case r.Kind != state.RecordAgent && !state.ValidID(r.AgentID):
		return fmt.Errorf("agent %.100q of record %.100q of %s: %w", r.AgentID, r.ID, r.Kind, state.ErrInvalid)
	case len(r.Data) > state.MaxRecord:
		return fmt.Errorf("record %q of %s has %d bytes, and %d are the most: %w",
			r.ID, r.Kind, len(r.Data), state.MaxRecord, state.ErrInvalid)
	}
	return nil
}

// RecordID checks what names a record.
func RecordID(kind state.RecordKind, id string) error {
	if !kind.Known() {
		return fmt.Errorf("record kind %.100q: %w", kind, state.ErrInvalid)
	}
	if !state.ValidID(id) {
		return fmt.Errorf("record id %.100q of %s: %w", id, kind, state.ErrInvalid)
	}
	return nil
}

// RunEvent checks what no store can hold of an event.
func RunEvent(runID string, e state.RunEvent) error {
	switch {
	case !state.ValidID(runID):
		return fmt.Errorf("run id %.100q: %w", runID, state.ErrInvalid)
	case len(e.Type) > state.MaxID:
		return fmt.Errorf("an event's type of %d bytes: %w", len(e.Type), state.ErrInvalid)
	case len(e.Payload) > state.MaxRecord:
		return fmt.Errorf("an event of run %s has %d bytes, and %d are the most: %w",
			runID, len(e.Payload), state.MaxRecord, state.ErrInvalid)
	case len(e.Payload) > 0 && !json.Valid(e.Payload):
		return fmt.Errorf("an event of run %s carries broken JSON: %w", runID, state.ErrInvalid)
	}
	return nil
}
