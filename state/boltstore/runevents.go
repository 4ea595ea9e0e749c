package boltstore

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/internal/rules"
)

// runEventHead is what a stored event begins with. NUL and the payload, byte for
// byte, follow it; the number is in the key.
type runEventHead struct {
	Type string    `json:"type"`
	At   time.Time `json:"at,omitzero"`
}

func encodeRunEvent(e state.RunEvent) ([]byte, error) {
	head, err := json.Marshal(runEventHead{Type: e.Type, At: e.At})
	if err != nil {
		return nil, err
	}
	return encodeBody(nil, append(append(head, 0), e.Payload...)), nil
}

func decodeRunEvent(seq, value []byte) (state.RunEvent, error) {
	raw, err := decodeBody(value)
	if err != nil {
		return state.RunEvent{}, err
	}
	raw, payload, _ := bytes.Cut(raw, []byte{0})
	var head runEventHead
	err = decode(tableRunEvents, seq, raw, &head)
	return state.RunEvent{Seq: int(number(seq)), Type: head.Type, At: head.At, Payload: payload}, err
}

// ofRun begins the keys of tableRunEvents of one run.
func ofRun(runID string) []byte { return append([]byte(runID), 0) }

// appendOp adds one event. Events of many runs share a transaction.
type appendOp struct {
	runID string
	value []byte
	seq   uint64
}

// AppendRunEvent implements [state.AgentRecords].
func (s *Store) AppendRunEvent(ctx context.Context, runID string, e state.RunEvent) (int, error) {
	if err := rules.RunEvent(runID, e); err != nil {
		return 0, err
	}
	value, err := encodeRunEvent(e)
	if err != nil {
		return 0, fmt.Errorf("append to run %s: %w: %w", runID, err, state.ErrInvalid)
	}
	op := &appendOp{runID: runID, value: value}
	if err := s.submit(ctx, op, len(op.value)); err != nil {
		return 0, fmt.Errorf("append to run %s: %w", runID, err)
	}
	return int(op.seq), nil
}

func (o *appendOp) check(b *batch) (bool, error) {
	if b.table(tableRecords).Get(recordKey(state.RecordRun, o.runID)) == nil {
		return false, state.ErrNotFound
	}
	return true, b.store.roomFor(b, len(o.value))
}

func (o *appendOp) write(b *batch) error {
	o.seq = b.lastRunEvent(o.runID) + 1
	return b.table(tableRunEvents).Put(append(ofRun(o.runID), u64(o.seq)...), o.value)
}

func (*appendOp) done(*Store) {}

// lastRunEvent returns the number of a run's last event; 0 when it has none.
func (r *reader) lastRunEvent(runID string) uint64 {
	prefix := ofRun(runID)
	c := r.table(tableRunEvents).Cursor()
	// No key is as great as this one, and the run's last comes before it.
	k, _ := c.Seek(append(bytes.Clone(prefix), u64(1<<64-1)...))
	if k == nil {
		k, _ = c.Last()
	} else {
		k, _ = c.Prev()
	}
	if !bytes.HasPrefix(k, prefix) {
		return 0
	}
	return number(k[len(prefix):])
}

// RunEvents implements [state.AgentRecords].
func (s *Store) RunEvents(ctx context.Context, runID string, after, limit int) ([]state.RunEvent, error) {
	if limit <= 0 || !state.ValidID(runID) {
		return nil, s.open()
	}
	var out []state.RunEvent
	err := s.view(ctx, func(r *reader) error {
		return r.following(tableRunEvents, ofRun(runID), string(u64(uint64(max(after, 0)))), func(seq, value []byte) (bool, error) {
			e, err := decodeRunEvent(seq, value)
			out = append(out, e)
			return len(out) < limit, err
		})
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// forgetEvents removes all that a run said.
func (b *batch) forgetEvents(runID string) error {
	var keys [][]byte // a cursor does not survive a removal
	err := b.prefixed(tableRunEvents, ofRun(runID), func(seq, _ []byte) (bool, error) {
		keys = append(keys, append(ofRun(runID), seq...))
		return true, nil
	})
	if err != nil {
		return err
	}
	for _, key := range keys {
		if err := b.table(tableRunEvents).Delete(key); err != nil {
			return err
		}
	}
	return nil
}
