package bridge

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"sync"
)

// memoryStore is a [Store] without a disk.
type memoryStore struct {
	mu      sync.Mutex
	records map[RecordKind]map[string]Record
	events  map[string][]RunEvent // by run
}

// NewMemoryStore returns a [Store] that keeps everything in memory and loses it
// with the program: for tests, and for agents that need not be resumed.
func NewMemoryStore() Store {
	return &memoryStore{
		records: map[RecordKind]map[string]Record{RecordAgent: {}, RecordRun: {}, RecordCheckpoint: {}},
		events:  map[string][]RunEvent{},
	}
}

func (s *memoryStore) Get(_ context.Context, kind RecordKind, id string) (Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, found := s.records[kind][id]
	if !found {
		return Record{}, ErrNoRecord
	}
	return copied(r), nil
}

func (s *memoryStore) Create(_ context.Context, r Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, found := s.records[r.Kind][r.ID]; found {
		return ErrRecordExists
	}
	s.records[r.Kind][r.ID] = copied(r)
	return nil
}

func (s *memoryStore) Update(_ context.Context, r Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, found := s.records[r.Kind][r.ID]; !found {
		return ErrNoRecord
	}
	s.records[r.Kind][r.ID] = copied(r)
	return nil
}

func (s *memoryStore) Delete(_ context.Context, kind RecordKind, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.records[kind], id)
	switch kind {
	case RecordRun:
		delete(s.events, id)
	case RecordAgent:
		for runID, r := range s.records[RecordRun] {
			if r.AgentID == id {
				delete(s.events, runID)
			}
		}
		for _, of := range []RecordKind{RecordRun, RecordCheckpoint} {
			maps.DeleteFunc(s.records[of], func(_ string, r Record) bool { return r.AgentID == id })
		}
	}
	return nil
}

func (s *memoryStore) List(_ context.Context, kind RecordKind, agentID, after string, limit int) ([]Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []Record
	for _, id := range slices.Sorted(maps.Keys(s.records[kind])) {
		if r := s.records[kind][id]; id > after && (agentID == "" || r.AgentID == agentID) && len(found) < limit {
			found = append(found, copied(r))
		}
	}
	return found, nil
}

func (s *memoryStore) Append(_ context.Context, runID string, e RunEvent) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, found := s.records[RecordRun][runID]; !found {
		return 0, ErrNoRecord
	}
	e.Seq = len(s.events[runID]) + 1
	e.Payload = bytes.Clone(e.Payload)
	s.events[runID] = append(s.events[runID], e)
	return e.Seq, nil
}

func (s *memoryStore) Events(_ context.Context, runID string, after, limit int) ([]RunEvent, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.events[runID]
	from := min(max(after, 0), len(all))
	found := slices.Clone(all[from : from+min(max(limit, 0), len(all)-from)])
	for i := range found {
		found[i].Payload = bytes.Clone(found[i].Payload)
	}
	return found, nil
}

func copied(r Record) Record {
	r.Data = bytes.Clone(r.Data)
	return r
}
