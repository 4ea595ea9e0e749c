package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/state"
)

// held is an approval as it is stored, with its record read. Its row counts as
// ended once the agent that asked has heard of the end, or never will.
type held struct {
	row state.Approval
	rec approvals.Record
}

// approvalPage is how many approvals are read at once. Each may have an input of
// some megabytes.
const approvalPage = 50

func readHeld(row state.Approval) (*held, error) {
	h := &held{row: row}
	if err := json.Unmarshal(row.Record, &h.rec); err != nil {
		return nil, fmt.Errorf("read approval %s: %w", row.ID, err)
	}
	return h, nil
}

// encodeRecord keeps the input of a record byte for byte, which is settled: it is
// what runs, and what its hash is of.
func encodeRecord(r approvals.Record) (json.RawMessage, error) {
	raw, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("write approval %s: %w", r.ID, err)
	}
	return raw, nil
}

// storedApproval reads an approval, or returns [approvals.ErrUnknown].
func (e *Engine) storedApproval(ctx context.Context, id string) (*held, error) {
	if !approvals.ValidID(id) {
		return nil, approvals.ErrUnknown
	}
	row, err := read(ctx, e, func(ctx context.Context) (state.Approval, error) { return e.store.Approval(ctx, id) })
	if errors.Is(err, state.ErrNotFound) {
		return nil, approvals.ErrUnknown
	}
	if err != nil {
		return nil, fmt.Errorf("read approval %s: %w", id, err)
	}
	return readHeld(row)
}

// approval reads one of the session's approvals, or returns [approvals.ErrUnknown].
func (a *actor) approval(id string) (*held, error) {
	h, err := a.e.storedApproval(a.e.actors.ctx, id)
	if err == nil && h.row.SessionID != a.id {
		return nil, approvals.ErrUnknown
	}
	return h, err
}

// undone returns the session's approvals of which something is still to come,
// oldest first.
func (a *actor) undone() ([]*held, error) {
	return a.approvals(state.ApprovalFilter{SessionID: a.id, Open: true}, nil)
}

// approvals returns those of the session's approvals that the filter leaves and
// that come after the first, seen from the newest, for which stop reports true.
// They are in the order in which they were made.
func (a *actor) approvals(f state.ApprovalFilter, stop func(*held) bool) ([]*held, error) {
	var all []*held
	for {
		page, err := read(a.e.actors.ctx, a.e, func(ctx context.Context) ([]state.Approval, error) {
			return a.e.store.ListApprovals(ctx, f, approvalPage)
		})
		if err != nil {
			return nil, fmt.Errorf("read the approvals of session %s: %w", a.id, err)
		}
		for _, row := range page {
			h, err := readHeld(row)
			if err != nil {
				return nil, err
			}
			if stop != nil && stop(h) {
				slices.Reverse(all)
				return all, nil
			}
			all = append(all, h)
		}
		if len(page) < approvalPage {
			slices.Reverse(all)
			return all, nil
		}
		f.Before = page[len(page)-1].ID
	}
}

// hold drafts that an approval is stored as it is now.
func (d *draft) hold(h *held) {
	if !slices.Contains(d.held, h) {
		d.held = append(d.held, h)
	}
}

// holdings puts the approvals of the draft into its change.
func (d *draft) holdings() error {
	for _, h := range d.held {
		raw, err := encodeRecord(h.rec)
		if err != nil {
			return err
		}
		row := h.row
		row.ID, row.SessionID, row.CreatedAt, row.Record = h.rec.ID, d.a.id, h.rec.CreatedAt, raw
		d.change.Approvals = append(d.change.Approvals, row)
	}
	return nil
}

// shown is a record as people may see it.
func (e *Engine) shown(r approvals.Record) approvals.View { return r.Show(e.redact) }
