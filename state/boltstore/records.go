package boltstore

import (
	"bytes"
	"context"
	"fmt"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/internal/rules"
)

func recordKey(kind state.RecordKind, id string) []byte { return pair(string(kind), id) }

// ofAgent begins the keys of tableAgentRecords of one agent.
func ofAgent(kind state.RecordKind, agentID string) []byte {
	return append(pair(string(kind), agentID), 0)
}

// encodeRecord makes the value of tableRecords.
func encodeRecord(r state.AgentRecord) []byte {
	return encodeBody(append([]byte(r.AgentID), 0), r.Data)
}

// agentOf returns the agent of a stored record, and the rest of it.
func agentOf(key, value []byte) (agentID string, data []byte, err error) {
	agent, data, found := bytes.Cut(value, []byte{0})
	if !found {
		return "", nil, fmt.Errorf("record %q: %w", key, state.ErrCorrupt)
	}
	return string(agent), data, nil
}

// record decodes what is stored under a key.
func (r *reader) record(kind state.RecordKind, id string) (state.AgentRecord, bool, error) {
	key := recordKey(kind, id)
	value := r.table(tableRecords).Get(key)
	if value == nil {
		return state.AgentRecord{}, false, nil
	}
	rec, err := decodeRecord(kind, id, key, value)
	return rec, true, err
}

func decodeRecord(kind state.RecordKind, id string, key, value []byte) (state.AgentRecord, error) {
	rec := state.AgentRecord{Kind: kind, ID: id}
	agent, data, err := agentOf(key, value)
	if err != nil {
		return rec, err
	}
	rec.AgentID = agent
	if rec.Data, err = decodeBody(data); len(rec.Data) == 0 {
		rec.Data = nil
	}
	return rec, err
}

// AgentRecord implements [state.AgentRecords].
func (s *Store) AgentRecord(ctx context.Context, kind state.RecordKind, id string) (rec state.AgentRecord, err error) {
	if err := rules.RecordID(kind, id); err != nil {
		return rec, err
	}
	err = s.view(ctx, func(r *reader) error {
		var found bool
		rec, found, err = r.record(kind, id)
		if err == nil && !found {
			err = fmt.Errorf("record %s of %s: %w", id, kind, state.ErrNotFound)
		}
		return err
	})
	return rec, err
}

// AgentRecords implements [state.AgentRecords].
func (s *Store) AgentRecords(ctx context.Context, kind state.RecordKind, agentID, after string, limit int) ([]state.AgentRecord, error) {
	if !kind.Known() {
		return nil, fmt.Errorf("record kind %.100q: %w", kind, state.ErrInvalid)
	}
	if limit <= 0 {
		return nil, s.open()
	}
	var out []state.AgentRecord
	add := func(rec state.AgentRecord, err error) (bool, error) {
		out = append(out, rec)
		return len(out) < limit, err
	}
	err := s.view(ctx, func(r *reader) error {
		out = nil
		if agentID == "" {
			return r.following(tableRecords, append([]byte(kind), 0), after, func(id, value []byte) (bool, error) {
				return add(decodeRecord(kind, string(id), id, value))
			})
		}
		return r.following(tableAgentRecords, ofAgent(kind, agentID), after, func(id, _ []byte) (bool, error) {
			rec, found, err := r.record(kind, string(id))
			if err == nil && !found {
				err = fmt.Errorf("record %q of %s is in an index only: %w", id, kind, state.ErrCorrupt)
			}
			return add(rec, err)
		})
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// following calls fn for the entries whose key begins with prefix and goes on
// with more than after, in order, with the rest of the key, while it says so.
func (r *reader) following(t table, prefix []byte, after string, fn func(rest, v []byte) (bool, error)) error {
	start := append(bytes.Clone(prefix), after...)
	c := r.table(t).Cursor()
	k, v := c.Seek(start)
	if after != "" && bytes.Equal(k, start) {
		k, v = c.Next()
	}
	for ; k != nil && bytes.HasPrefix(k, prefix); k, v = c.Next() {
		if more, err := fn(k[len(prefix):], v); err != nil || !more {
			return err
		}
	}
	return nil
}

// recordOp puts one record.
type recordOp struct {
	rec    state.AgentRecord
	value  []byte
	create bool
}

// CreateAgentRecord implements [state.AgentRecords].
func (s *Store) CreateAgentRecord(ctx context.Context, r state.AgentRecord) error {
	return s.putRecord(ctx, "create", &recordOp{rec: r, create: true})
}

// UpdateAgentRecord implements [state.AgentRecords].
func (s *Store) UpdateAgentRecord(ctx context.Context, r state.AgentRecord) error {
	return s.putRecord(ctx, "update", &recordOp{rec: r})
}

func (s *Store) putRecord(ctx context.Context, verb string, op *recordOp) error {
	err := rules.Record(op.rec)
	if err == nil {
		op.value = encodeRecord(op.rec)
		err = s.submit(ctx, op, len(op.value))
	}
	if err != nil {
		return fmt.Errorf("%s record %.100s of %.100s: %w", verb, op.rec.ID, op.rec.Kind, err)
	}
	return nil
}

func (o *recordOp) check(b *batch) (bool, error) {
	there := b.table(tableRecords).Get(recordKey(o.rec.Kind, o.rec.ID)) != nil
	switch {
	case there && o.create:
		return false, state.ErrExists
	case !there && !o.create:
		return false, state.ErrNotFound
	}
	return true, b.store.roomFor(b, len(o.value))
}

func (o *recordOp) write(b *batch) error {
	key := recordKey(o.rec.Kind, o.rec.ID)
	if old := b.table(tableRecords).Get(key); old != nil {
		agent, _, err := agentOf(key, old)
		if err != nil {
			return err
		}
		if agent != o.rec.AgentID {
			if err := b.table(tableAgentRecords).Delete(append(ofAgent(o.rec.Kind, agent), o.rec.ID...)); err != nil {
				return err
			}
		}
	}
	if o.rec.AgentID != "" {
		if err := b.table(tableAgentRecords).Put(append(ofAgent(o.rec.Kind, o.rec.AgentID), o.rec.ID...), nil); err != nil {
			return err
		}
	}
	return b.table(tableRecords).Put(key, o.value)
}

func (*recordOp) done(*Store) {}

// forgetOp removes one record and what belongs to it.
type forgetOp struct {
	kind state.RecordKind
	id   string
}

// DeleteAgentRecord implements [state.AgentRecords].
func (s *Store) DeleteAgentRecord(ctx context.Context, kind state.RecordKind, id string) error {
	err := rules.RecordID(kind, id)
	if err == nil {
		err = s.submit(ctx, &forgetOp{kind: kind, id: id}, 0)
	}
	if err != nil {
		return fmt.Errorf("delete record %.100s of %.100s: %w", id, kind, err)
	}
	return nil
}

// check lets the removal of an agent through whose own record is gone: runs of
// it may be left.
func (o *forgetOp) check(b *batch) (bool, error) {
	return o.kind == state.RecordAgent || b.table(tableRecords).Get(recordKey(o.kind, o.id)) != nil, nil
}

func (o *forgetOp) write(b *batch) error {
	if o.kind != state.RecordAgent {
		return b.forget(o.kind, o.id)
	}
	for _, kind := range []state.RecordKind{state.RecordRun, state.RecordCheckpoint} {
		var ids []string // a cursor does not survive what happens below
		err := b.prefixed(tableAgentRecords, ofAgent(kind, o.id), func(id, _ []byte) (bool, error) {
			ids = append(ids, string(id))
			return true, nil
		})
		if err != nil {
			return err
		}
		for _, id := range ids {
			if err := b.forget(kind, id); err != nil {
				return err
			}
		}
	}
	return b.table(tableRecords).Delete(recordKey(o.kind, o.id))
}

// forget removes a run's or a checkpoint's record, which is there.
func (b *batch) forget(kind state.RecordKind, id string) error {
	key := recordKey(kind, id)
	agent, _, err := agentOf(key, b.table(tableRecords).Get(key))
	if err != nil {
		return err
	}
	if err := b.table(tableAgentRecords).Delete(append(ofAgent(kind, agent), id...)); err != nil {
		return err
	}
	if kind == state.RecordRun {
		if err := b.forgetEvents(id); err != nil {
			return err
		}
	}
	return b.table(tableRecords).Delete(key)
}

func (*forgetOp) done(*Store) {}
