package memstore

import (
	"cmp"
	"context"
	"fmt"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/internal/rules"
)

// recordKey names a record among all kinds.
type recordKey struct {
	kind state.RecordKind
	id   string
}

func keyOf(r state.AgentRecord) recordKey { return recordKey{r.Kind, r.ID} }

func cloneRecord(r state.AgentRecord) state.AgentRecord {
	r.Data = append([]byte(nil), r.Data...) // nil when empty, as from a file
	return r
}

func cloneRunEvent(e state.RunEvent) state.RunEvent {
	e.Payload = append([]byte(nil), e.Payload...)
	return e
}

// AgentRecord implements [state.AgentRecords].
func (s *Store) AgentRecord(ctx context.Context, kind state.RecordKind, id string) (state.AgentRecord, error) {
	if err := rules.RecordID(kind, id); err != nil {
		return state.AgentRecord{}, err
	}
	return get(ctx, s, fmt.Sprintf("record %s of %s", id, kind), func(d *data) (state.AgentRecord, bool) {
		row, ok := d.records[recordKey{kind, id}]
		return row, ok
	}, cloneRecord)
}

// AgentRecords implements [state.AgentRecords].
func (s *Store) AgentRecords(ctx context.Context, kind state.RecordKind, agentID, after string, limit int) ([]state.AgentRecord, error) {
	if !kind.Known() {
		return nil, fmt.Errorf("record kind %.100q: %w", kind, state.ErrInvalid)
	}
	return list(ctx, s, max(limit, 0), func(d *data) []state.AgentRecord {
		return sorted(d.records, func(r state.AgentRecord) bool {
			return r.Kind == kind && r.ID > after && (agentID == "" || r.AgentID == agentID)
		}, func(a, b state.AgentRecord) int { return cmp.Compare(a.ID, b.ID) })
	}, cloneRecord)
}

// CreateAgentRecord implements [state.AgentRecords].
func (s *Store) CreateAgentRecord(ctx context.Context, r state.AgentRecord) error {
	return s.putRecord(ctx, "create", r, func(there bool) error {
		if there {
			return state.ErrExists
		}
		return nil
	})
}

// UpdateAgentRecord implements [state.AgentRecords].
func (s *Store) UpdateAgentRecord(ctx context.Context, r state.AgentRecord) error {
	return s.putRecord(ctx, "update", r, func(there bool) error {
		if !there {
			return state.ErrNotFound
		}
		return nil
	})
}

func (s *Store) putRecord(ctx context.Context, verb string, r state.AgentRecord, check func(there bool) error) error {
	err := rules.Record(r)
	if err == nil {
		err = s.write(ctx, func() error {
			_, there := s.data.records[keyOf(r)]
			if err := check(there); err != nil {
				return err
			}
			s.data.records[keyOf(r)] = cloneRecord(r)
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("%s record %.100s of %.100s: %w", verb, r.ID, r.Kind, err)
	}
	return nil
}

// DeleteAgentRecord implements [state.AgentRecords].
func (s *Store) DeleteAgentRecord(ctx context.Context, kind state.RecordKind, id string) error {
	if err := rules.RecordID(kind, id); err != nil {
		return fmt.Errorf("delete record %.100s of %.100s: %w", id, kind, err)
	}
	return s.write(ctx, func() error {
		s.data.forget(kind, id)
		return nil
	})
}

func (d *data) forget(kind state.RecordKind, id string) {
	delete(d.records, recordKey{kind, id})
	switch kind {
	case state.RecordRun:
		delete(d.runEvents, id)
	case state.RecordAgent:
		for key, r := range d.records {
			if r.AgentID == id {
				d.forget(key.kind, key.id)
			}
		}
	}
}

// AppendRunEvent implements [state.AgentRecords].
func (s *Store) AppendRunEvent(ctx context.Context, runID string, e state.RunEvent) (int, error) {
	if err := rules.RunEvent(runID, e); err != nil {
		return 0, err
	}
	err := s.write(ctx, func() error {
		if _, there := s.data.records[recordKey{state.RecordRun, runID}]; !there {
			return fmt.Errorf("append to run %s: %w", runID, state.ErrNotFound)
		}
		e = cloneRunEvent(e)
		e.Seq = len(s.data.runEvents[runID]) + 1
		s.data.runEvents[runID] = append(s.data.runEvents[runID], e)
		return nil
	})
	if err != nil {
		return 0, err
	}
	return e.Seq, nil
}

// RunEvents implements [state.AgentRecords].
func (s *Store) RunEvents(ctx context.Context, runID string, after, limit int) ([]state.RunEvent, error) {
	return list(ctx, s, max(limit, 0), func(d *data) []state.RunEvent {
		events := d.runEvents[runID]
		return events[min(max(after, 0), len(events)):]
	}, cloneRunEvent)
}
