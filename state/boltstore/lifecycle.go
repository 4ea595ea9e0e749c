package boltstore

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"time"

	"github.com/liaison-bot/liaison/state"
)

// lifecycleRow is a lifecycle event as it is stored: commit and ordinal are its key.
type lifecycleRow struct {
	Type      string          `json:"type"`
	SessionID string          `json:"sessionId"`
	TurnID    string          `json:"turnId,omitempty"`
	At        time.Time       `json:"at,omitzero"`
	Data      json.RawMessage `json:"data,omitempty"`
}

func (o *commitOp) writeLifecycle(b *batch) error {
	for _, commit := range o.change.Confirm {
		if err := dropLifecycle(b, commit); err != nil {
			return err
		}
	}
	for i, row := range o.lifecycle {
		key := binary.BigEndian.AppendUint32(u64(o.id), uint32(i))
		if err := b.table(tableLifecycle).Put(key, row); err != nil {
			return err
		}
	}
	return nil
}

// dropLifecycle removes the events of one commit.
func dropLifecycle(b *batch, commit uint64) error {
	var keys [][]byte
	err := b.prefixed(tableLifecycle, u64(commit), func(ordinal, _ []byte) (bool, error) {
		keys = append(keys, append(u64(commit), ordinal...))
		return true, nil
	})
	// Deleting under a cursor skips entries, so it comes afterwards.
	for _, key := range keys {
		if err == nil {
			err = b.table(tableLifecycle).Delete(key)
		}
	}
	return err
}

// PendingLifecycle implements [state.Lifecycle].
func (s *Store) PendingLifecycle(ctx context.Context) ([]state.LifecycleEvent, error) {
	var events []state.LifecycleEvent
	err := s.view(ctx, func(r *reader) error {
		return r.after(tableLifecycle, nil, func(k, v []byte) (bool, error) {
			commit := number(k)
			if s.confirmed(commit) {
				return true, nil
			}
			var row lifecycleRow
			if err := decode(tableLifecycle, k, v, &row); err != nil {
				return false, err
			}
			events = append(events, state.LifecycleEvent{
				Event: state.Event{
					Type: row.Type, SessionID: row.SessionID, TurnID: row.TurnID,
					At: row.At, Data: row.Data, Commit: commit,
				},
				Ordinal: int(binary.BigEndian.Uint32(k[8:])),
			})
			return true, nil
		})
	})
	return events, err
}

// confirmed reports whether the events of a commit wait only to be dropped.
func (s *Store) confirmed(commit uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lazy[commit]
}
