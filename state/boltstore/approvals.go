package boltstore

import (
	"context"
	"time"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/internal/rules"
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

// ApprovalHead implements [rules.View].
func (r *reader) ApprovalHead(string) (rules.ApprovalHead, bool, error) {
	return rules.ApprovalHead{}, false, nil
}

// DropAudit implements [state.Retainer].
func (s *Store) DropAudit(context.Context, time.Time, int) (int, bool, error) {
	return 0, false, nil
}
