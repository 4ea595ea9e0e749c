package boltstore

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/internal/rules"
)

// The first byte of a key of tableApprovalLists says which list it is in. Those
// of all and of the open ones have no name.
const (
	listedAll           = 'a'
	listedOpen          = 'o'
	listedBySession     = 's'
	listedOpenBySession = 't'
)

// approvalOrder goes on the keys of all lists: approvals come in the order of
// their times.
func approvalOrder(a state.Approval) []byte { return aged(a.CreatedAt, a.ID) }

// encodeApproval makes the value of tableApprovals: everything but the record as
// JSON, and the record, which may be large.
func encodeApproval(a state.Approval) ([]byte, error) {
	record := a.Record
	a.Record = nil
	head, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	return encodeBody(append(head, 0), record), nil
}

func cutApproval(id, value []byte) (head state.Approval, record []byte, err error) {
	raw, record, found := bytes.Cut(value, []byte{0})
	if !found {
		return head, nil, fmt.Errorf("approval %q: %w", id, state.ErrCorrupt)
	}
	return head, record, decode(tableApprovals, id, raw, &head)
}

// ApprovalHead implements [rules.View].
func (r *reader) ApprovalHead(id string) (rules.ApprovalHead, bool, error) {
	value := r.table(tableApprovals).Get([]byte(id))
	if value == nil {
		return rules.ApprovalHead{}, false, nil
	}
	head, _, err := cutApproval([]byte(id), value)
	return rules.ApprovalHead{SessionID: head.SessionID, Version: head.Version, Ended: head.Ended, CreatedAt: head.CreatedAt}, true, err
}

func (r *reader) approval(id []byte) (state.Approval, error) {
	value := r.table(tableApprovals).Get(id)
	if value == nil {
		return state.Approval{}, fmt.Errorf("approval %s: %w", id, state.ErrNotFound)
	}
	a, record, err := cutApproval(id, value)
	if err == nil {
		a.Record, err = decodeBody(record)
	}
	if len(a.Record) == 0 {
		a.Record = nil
	}
	return a, err
}

func (o *commitOp) writeApprovals(b *batch) error {
	for i, a := range o.change.Approvals {
		if err := b.listApproval(a); err != nil {
			return err
		}
		if err := b.table(tableApprovals).Put([]byte(a.ID), o.approvals[i]); err != nil {
			return err
		}
	}
	return nil
}

// listApproval brings the lists up to an approval of which only its end can change.
func (b *batch) listApproval(a state.Approval) error {
	lists, order := b.table(tableApprovalLists), approvalOrder(a)
	if a.Version == 0 {
		for _, list := range [][]byte{listOf(listedAll, ""), listOf(listedBySession, a.SessionID)} {
			if err := lists.Put(append(list, order...), nil); err != nil {
				return err
			}
		}
	}
	hold := holdKey(a.SessionID, holdApproval, a.ID)
	open := [][]byte{listOf(listedOpen, ""), listOf(listedOpenBySession, a.SessionID)}
	if a.Ended {
		for _, list := range open {
			if err := lists.Delete(append(list, order...)); err != nil {
				return err
			}
		}
		return b.table(tableHolds).Delete(hold)
	}
	for _, list := range open {
		if err := lists.Put(append(list, order...), nil); err != nil {
			return err
		}
	}
	return b.table(tableHolds).Put(hold, nil)
}

// dropApprovals removes those of a session, which have all ended.
func (b *batch) dropApprovals(s state.Session) error {
	orders, _, err := b.beginning(tableApprovalLists, listOf(listedBySession, s.ID))
	if err != nil {
		return err
	}
	for _, order := range orders {
		for _, list := range [][]byte{listOf(listedAll, ""), listOf(listedBySession, s.ID)} {
			if err := b.table(tableApprovalLists).Delete(append(list, order...)); err != nil {
				return err
			}
		}
		if err := b.table(tableApprovals).Delete(order[min(8, len(order)):]); err != nil {
			return err
		}
	}
	return nil
}

// Approval implements [state.Approvals].
func (s *Store) Approval(ctx context.Context, id string) (a state.Approval, err error) {
	if id == "" {
		return a, fmt.Errorf("approval without an id: %w", state.ErrNotFound)
	}
	err = s.view(ctx, func(r *reader) error {
		a, err = r.approval([]byte(id))
		return err
	})
	return a, err
}

// ListApprovals implements [state.Approvals].
func (s *Store) ListApprovals(ctx context.Context, f state.ApprovalFilter, limit int) ([]state.Approval, error) {
	list := listOf(listedAll, "")
	switch {
	case f.Open && f.SessionID != "":
		list = listOf(listedOpenBySession, f.SessionID)
	case f.Open:
		list = listOf(listedOpen, "")
	case f.SessionID != "":
		list = listOf(listedBySession, f.SessionID)
	}
	var out []state.Approval
	err := s.view(ctx, func(r *reader) error {
		out = nil
		var before string
		if f.Before != "" {
			head, found, err := r.ApprovalHead(f.Before)
			if err == nil && !found {
				err = fmt.Errorf("list approvals before %s: %w", f.Before, state.ErrNotFound)
			}
			if err != nil {
				return err
			}
			before = string(aged(head.CreatedAt, f.Before))
		}
		if limit <= 0 {
			return nil
		}
		return r.preceding(tableApprovalLists, list, before, func(order, _ []byte) (bool, error) {
			a, err := r.approval(order[min(8, len(order)):])
			if errors.Is(err, state.ErrNotFound) {
				err = fmt.Errorf("%w is in an index only: %w", err, state.ErrCorrupt)
			}
			out = append(out, a)
			return len(out) < limit, err
		})
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
