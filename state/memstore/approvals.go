package memstore

import (
	"context"
	"time"

	"github.com/liaison-bot/liaison/state"
)

// Approval implements [state.Approvals].
func (s *Store) Approval(context.Context, string) (state.Approval, error) {
	return state.Approval{}, state.ErrNotFound
}

// ListApprovals implements [state.Approvals].
func (s *Store) ListApprovals(context.Context, state.ApprovalFilter, int) ([]state.Approval, error) {
	return nil, nil
}

// AuditEntries implements [state.Audit].
func (s *Store) AuditEntries(context.Context, time.Time, uint64, int) ([]state.AuditEntry, error) {
	return nil, nil
}
