package boltstore

import (
	"context"
	"encoding/json"
	"time"

	"github.com/liaison-bot/liaison/state"
)

// encodeAudit makes the value of tableAudit: when it was, in the order of times,
// and the whole as JSON.
func encodeAudit(e state.AuditEntry) ([]byte, error) {
	e.Seq = 0 // it is the key
	row, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	return append(u64(dueKey(e.At)), row...), nil
}

func (o *commitOp) writeAudit(b *batch) error {
	for _, row := range o.audit {
		seq, err := b.table(tableAudit).NextSequence()
		if err != nil {
			return err
		}
		if err := b.table(tableAudit).Put(u64(seq), row); err != nil {
			return err
		}
	}
	return nil
}

// AuditEntries implements [state.Audit].
func (s *Store) AuditEntries(ctx context.Context, since time.Time, after uint64, limit int) ([]state.AuditEntry, error) {
	if limit <= 0 {
		return nil, s.open()
	}
	var out []state.AuditEntry
	err := s.view(ctx, func(r *reader) error {
		out = nil
		return r.after(tableAudit, u64(after), func(k, v []byte) (bool, error) {
			if number(v) < dueKey(since) {
				return true, nil
			}
			var e state.AuditEntry
			if err := decode(tableAudit, k, v[min(8, len(v)):], &e); err != nil {
				return false, err
			}
			e.Seq = number(k)
			out = append(out, e)
			return len(out) < limit, nil
		})
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// DropAudit implements [state.Retainer].
func (s *Store) DropAudit(ctx context.Context, before time.Time, limit int) (int, bool, error) {
	return s.drop(ctx, "old lines of the audit log", &dropOp{
		limit: limit,
		find: func(b *batch) (keys [][]byte, err error) {
			err = b.after(tableAudit, nil, func(k, v []byte) (bool, error) {
				if len(keys) >= limit || number(v) >= dueKey(before) {
					return false, nil
				}
				keys = append(keys, u64(number(k)))
				return true, nil
			})
			return keys, err
		},
		drop: func(b *batch, key []byte) (bool, error) { return true, b.table(tableAudit).Delete(key) },
	})
}
