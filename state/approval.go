package state

import (
	"context"
	"encoding/json"
	"time"
)

// Approval is a call of a tool that waits, or waited, for a person.
type Approval struct {
	// ID is made by whoever asks, and cannot be guessed.
	ID string `json:"id,omitempty"`
	// Version works as Session.Version does.
	Version   uint64 `json:"version,omitempty"`
	SessionID string `json:"sessionId,omitempty"`
	// Ended is set once nothing more will happen to it; it stays so. Until then
	// its session counts as one that has something open.
	Ended bool `json:"ended,omitempty"`
	// CreatedAt orders approvals for people; it never changes, nor does SessionID.
	CreatedAt time.Time `json:"createdAt,omitzero"`
	// Record is the call itself; no store reads it. At most [MaxApproval] bytes.
	Record json.RawMessage `json:"record,omitempty"`
}

// MaxApproval bounds the record of an approval, in bytes: an input of 4 MiB and
// what is said about it.
const MaxApproval = 5 << 20

// ApprovalFilter says which approvals are wanted. The zero value means all.
type ApprovalFilter struct {
	// SessionID restricts to one session.
	SessionID string
	// Open leaves out those that have ended.
	Open bool
	// Before continues a listing: only those that are listed after the one with
	// this id, which must be known.
	Before string
}

// Approvals finds approvals.
type Approvals interface {
	// Approval returns an approval by id, or [ErrNotFound].
	Approval(ctx context.Context, id string) (Approval, error)
	// ListApprovals returns up to limit approvals, newest first, and those of one
	// time by descending id. Its cost does not grow with those that the filter
	// leaves out. An unknown Before is [ErrNotFound].
	ListApprovals(ctx context.Context, f ApprovalFilter, limit int) ([]Approval, error)
}

// AuditEntry is one line of the audit log, which is only ever added to.
type AuditEntry struct {
	// Seq orders the entries; the store gives it, and never twice.
	Seq uint64    `json:"seq,omitempty"`
	At  time.Time `json:"at,omitzero"`
	// Entry is the line; no store reads it. At most [MaxAuditEntry] bytes.
	Entry json.RawMessage `json:"entry,omitempty"`
}

// MaxAuditEntry bounds a line of the audit log, in bytes: what it tells of an
// input is cut by whoever writes it.
const MaxAuditEntry = 1 << 20

// Audit reads the audit log. It outlives the sessions that it speaks of.
type Audit interface {
	// AuditEntries returns up to limit entries with Seq > after and At ≥ since, in
	// order of Seq. A zero since means all.
	AuditEntries(ctx context.Context, since time.Time, after uint64, limit int) ([]AuditEntry, error)
}
