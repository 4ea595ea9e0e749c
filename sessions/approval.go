package sessions

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/state"
)

// ApprovalSurface is implemented by channels on which people see and decide about
// calls of tools.
type ApprovalSurface interface {
	// ApprovalCards says where on this channel an approval is shown: nowhere, in the
	// place that asked, or where its approvers look. Every surface is asked about
	// every approval. It is pure.
	ApprovalCards(v approvals.View) []ApprovalCard
	// ApprovalEffects says what people are told besides, by messages of their own. It
	// is pure.
	ApprovalEffects(v approvals.View, m ApprovalMoment) []Effect
}

// ApprovalCard is a place where an approval is shown. The engine owes an effect of
// [KindApprovalCard] for each, now and after each step of the approval.
type ApprovalCard struct {
	// Place names it, uniquely for the approval and the channel.
	Place string
	// Address is the channel's own description of it.
	Address json.RawMessage
}

// KindApprovalCard is the kind of the effect that draws an approval's card, or
// draws it anew. Its payload is the [CardItem], and [Item.Approval] is the record
// as it is when it is delivered. The answer is [Receipt.Card].
const KindApprovalCard = "approval.card"

// CardItem says which card is to be drawn.
type CardItem struct {
	ApprovalID string `json:"approvalId"`
	Place      string `json:"place"`
	// Version is the one for which it was owed; what is drawn is the newest.
	Version uint64 `json:"version"`
}

// ApprovalMoment is a point of an approval at which people may be told something
// beside its cards.
type ApprovalMoment int

// The moments of an approval.
const (
	// ApprovalReminded comes when half of the time is over, and with each further group.
	ApprovalReminded ApprovalMoment = iota + 1
	// ApprovalParked comes when the agent went on without an answer: the requester
	// is told who is waited for.
	ApprovalParked
	// ApprovalSettled comes when it was decided about after the agent went on, or
	// ended without a decision: the requester is told.
	ApprovalSettled
)

// DecisionWitness is implemented by channels that tell whoever decided what came of it.
type DecisionWitness interface {
	// DecisionEffects returns what is owed for a ballot with this request. It is pure.
	DecisionEffects(request json.RawMessage, v DecisionVerdict) []Effect
}

// DecisionVerdict is what came of a ballot.
type DecisionVerdict struct {
	// Ballot is the one that was cast.
	Ballot approvals.Ballot
	// Err says why it changed nothing: an error of [approvals.Record.Cast]. Nil means
	// that it counts.
	Err error
	// Approval is the record afterwards; nil where there is none.
	Approval *approvals.View
}

// Requesting is implemented by channels that know more of who asks than a principal.
type Requesting interface {
	// Requester says for whom a turn works, who besides has a hand in what it is about,
	// such as a pull request's author, and what that is. It is pure.
	Requester(t Turn) (requester approvals.Identity, authors []approvals.Identity, subject string)
}

// Resumer is implemented by channels whose turns can begin with what became of a
// call that somebody decided about.
type Resumer interface {
	// Resume returns the request of the turn in which the agent hears of it; request
	// is that of the turn that asked. It is pure.
	Resume(request json.RawMessage, v approvals.View) (json.RawMessage, error)
}

// ApprovalFilter says which approvals are wanted.
type ApprovalFilter struct {
	SessionID string
	// Open leaves out those about which nobody can decide any more.
	Open bool
	// Before continues a listing after this one.
	Before string
}

// Approvals returns up to limit approvals, newest first, as people may see them.
func (e *Engine) Approvals(ctx context.Context, f ApprovalFilter, limit int) ([]approvals.View, error) {
	var views []approvals.View
	stored := state.ApprovalFilter{SessionID: f.SessionID, Open: f.Open, Before: f.Before}
	for len(views) < limit {
		page, err := e.store.ListApprovals(ctx, stored, min(limit, approvalPage))
		if err != nil {
			return nil, fmt.Errorf("list approvals: %w", err)
		}
		for _, row := range page {
			h, err := readHeld(row)
			if err != nil {
				return nil, err
			}
			if len(views) < limit && (!f.Open || h.rec.State.Open()) {
				views = append(views, e.shown(h.rec))
			}
		}
		if len(page) < min(limit, approvalPage) {
			break
		}
		stored.Before = page[len(page)-1].ID
	}
	return views, nil
}

// Approval returns one approval as people may see it, or [approvals.ErrUnknown].
func (e *Engine) Approval(ctx context.Context, id string) (approvals.View, error) {
	h, err := e.storedApproval(ctx, id)
	if err != nil {
		return approvals.View{}, err
	}
	return e.shown(h.rec), nil
}
