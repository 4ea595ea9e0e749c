package memstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/liaison-bot/liaison/state"
)

func cloneApproval(a state.Approval) state.Approval {
	a.Record = slices.Clone(a.Record)
	return a
}

func cloneAuditEntry(e state.AuditEntry) state.AuditEntry {
	e.Entry = slices.Clone(e.Entry)
	return e
}

// Approval implements [state.Approvals].
func (s *Store) Approval(ctx context.Context, id string) (state.Approval, error) {
	return get(ctx, s, "approval "+id, func(d *data) (state.Approval, bool) {
		row, ok := d.approvals[id]
		return row, ok
	}, cloneApproval)
}

// ListApprovals implements [state.Approvals].
func (s *Store) ListApprovals(ctx context.Context, f state.ApprovalFilter, limit int) ([]state.Approval, error) {
	var found []state.Approval
	err := s.locked(ctx, func() error {
		last, known := s.data.approvals[f.Before]
		if f.Before != "" && !known {
			return fmt.Errorf("list approvals before %s: %w", f.Before, state.ErrNotFound)
		}
		rows := sorted(s.data.approvals, func(a state.Approval) bool {
			return (f.SessionID == "" || a.SessionID == f.SessionID) && (!f.Open || !a.Ended) &&
				(!known || newestFirst(last, a) < 0)
		}, newestFirst)
		for _, row := range rows[:min(len(rows), max(limit, 0))] {
			found = append(found, cloneApproval(row))
		}
		return nil
	})
	return found, err
}

func newestFirst(a, b state.Approval) int {
	return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID))
}

// write adds lines to the audit log.
func (d *data) write(entries []state.AuditEntry) {
	for _, e := range entries {
		d.auditSeq++
		e = cloneAuditEntry(e)
		e.Seq = d.auditSeq
		d.audit = append(d.audit, e)
	}
}

// AuditEntries implements [state.Audit].
func (s *Store) AuditEntries(ctx context.Context, since time.Time, after uint64, limit int) ([]state.AuditEntry, error) {
	return list(ctx, s, max(limit, 0), func(d *data) []state.AuditEntry {
		var found []state.AuditEntry
		for _, e := range d.audit {
			if e.Seq > after && !e.At.Before(since) {
				found = append(found, e)
			}
		}
		return found
	}, cloneAuditEntry)
}

// DropAudit implements [state.Retainer].
func (s *Store) DropAudit(ctx context.Context, before time.Time, limit int) (n int, more bool, err error) {
	err = s.write(ctx, func() error {
		for n < min(limit, len(s.data.audit)) && s.data.audit[n].At.Before(before) {
			n++
		}
		s.data.audit = slices.Clone(s.data.audit[n:])
		more = limit > 0 && n == limit
		return nil
	})
	return n, more, err
}
