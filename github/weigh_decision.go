package github

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/sessions"
)

// decide weighs a decision: which approval it is about, and who decides. An approval
// of another place is not known here, whatever its id.
func (w *weighing) decide(ctx context.Context) (sessions.Intent, error) {
	d := w.Decision
	if d.Check > 0 && d.Approval == "" {
		id, err := w.approvalOf(ctx, d.Check)
		if err != nil {
			return sessions.Intent{}, err
		}
		d.Approval = id
	}
	v, err := w.approvalHere(ctx, d.Approval)
	switch {
	case errors.Is(err, approvals.ErrUnknown):
		out := w.ignore("no approval %s is known there", quote(d.Approval))
		out.Ballot = nil
		out.Effects = append(slices.Clip(out.Effects), w.DecisionEffects(out.Request, sessions.DecisionVerdict{
			Ballot: approvals.Ballot{ApprovalID: d.Approval, Verdict: d.Verdict}, Err: err,
		})...)
		return out, nil
	case err != nil:
		return sessions.Intent{}, &sessions.RetryError{Uncounted: true, Err: fmt.Errorf("look up approval %s: %w", d.Approval, err)}
	}
	out := w.in
	out.Ballot = &approvals.Ballot{
		ApprovalID: v.ID, SessionID: v.SessionID, Verdict: d.Verdict, Reason: d.Reason, By: w.person(ctx, v), Place: Name,
	}
	if d.Check > 0 {
		out.Ballot.Channel, out.Ballot.Ref = Name, strconv.FormatInt(d.Check, 10)
	}
	w.identify(&out)
	return out, nil
}

// approvalHere returns an approval of the pull request or issue that the decision
// was made on, and has the request say which that is.
func (w *weighing) approvalHere(ctx context.Context, id string) (approvals.View, error) {
	if w.approval == nil || !approvals.ValidID(id) {
		return approvals.View{}, approvals.ErrUnknown
	}
	v, err := w.approval(ctx, id)
	if err != nil {
		return v, err
	}
	about, ours := approvalRequest(v)
	pressed := w.Decision.Check > 0
	if !ours || about.Repository != w.Repository || about.Number != w.Number && (!pressed || w.Number != 0) || about.Issue != w.Issue && !pressed {
		return approvals.View{}, approvals.ErrUnknown
	}
	w.Number, w.Issue, w.Head = about.Number, about.Issue, about.Head
	return v, nil
}

// approvalOf reads which approval a check run of ours is the card of; "" where it
// is none.
func (w *weighing) approvalOf(ctx context.Context, check int64) (string, error) {
	var run struct {
		ExternalID string `json:"external_id"`
		App        struct {
			ID int64 `json:"id"`
		} `json:"app"`
	}
	err := get(ctx, w.repo.client, w.path("check-runs/%d", check), &run)
	switch {
	case notFound(err):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("read check run %d: %w", check, err)
	case run.App.ID != w.app.id:
		return "", nil
	}
	return run.ExternalID, nil
}
