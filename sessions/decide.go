package sessions

import (
	"context"
	"errors"
	"fmt"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/state"
)

// maxRefusals is how many ballots of people who may not decide are on record for
// one approval: whoever clicks for fun must not fill the audit log.
const maxRefusals = 50

// Decide counts what somebody says about a call. When it returns without an error
// that is durable, and what follows happens by itself. Errors are those of
// [approvals.Record.Cast], after which the view shows what is, and
// [state.ErrUnavailable].
func (e *Engine) Decide(ctx context.Context, b approvals.Ballot) (approvals.View, error) {
	h, err := e.storedApproval(ctx, b.ApprovalID)
	if err != nil {
		return approvals.View{}, fmt.Errorf("decide about %.80q: %w", b.ApprovalID, err)
	}
	v, err := ask(ctx, e, h.row.SessionID, func(a *actor) (view approvals.View, err error) {
		var refused error
		err = a.decideAtOnce(func(d *draft) error {
			view, refused, err = a.cast(d, b)
			return err
		})
		a.schedule()
		if isNothing(err) {
			err = nil
		}
		return view, errors.Join(err, refused)
	})
	if err != nil {
		return v, fmt.Errorf("decide about approval %s: %w", b.ApprovalID, err)
	}
	return v, nil
}

// cast drafts what a ballot changes, and returns what the approval is then; refused
// says why it changes nothing. Who may not decide is on record all the same.
func (a *actor) cast(d *draft, b approvals.Ballot) (v approvals.View, refused, err error) {
	h, err := a.approval(b.ApprovalID)
	if errors.Is(err, approvals.ErrUnknown) {
		return v, err, errNothingNew
	}
	if err != nil {
		return v, nil, err
	}
	b.Reason = clip(b.Reason, maxReasonText)
	step, refused := h.rec.Cast(b, a.e.now())
	switch {
	case refused == nil:
		d.step(h, step)
		return a.e.shown(h.rec), nil, nil
	case errors.Is(refused, approvals.ErrUnknown):
		return v, refused, errNothingNew // it shows nothing of an approval that is another session's
	case errors.Is(refused, approvals.ErrNotAllowed):
		err = a.noteRefusal(d, h.rec, b, refused)
	default:
		err = errNothingNew
	}
	return a.e.shown(h.rec), refused, err
}

// noteRefusal drafts a line of the audit log, as long as there are few.
func (a *actor) noteRefusal(d *draft, r approvals.Record, b approvals.Ballot, refused error) error {
	key := "approval:" + r.ID + ":refused"
	n, err := a.e.store.Counted(a.e.actors.ctx, key)
	if err != nil || n >= maxRefusals {
		return errNothingNew
	}
	d.change.Counts = append(d.change.Counts, state.Count{Key: key, Limit: maxRefusals, Expires: r.ExpiresAt})
	entry := r.Refused(b, a.e.now())
	entry.Reason = refused.Error()
	d.audit(entry, r.Input)
	return nil
}

// cast routes a ballot that came with a delivery to the session of its approval.
func (d *dispatcher) cast(w *inHand) {
	h, err := d.e.storedApproval(d.work, w.in.Ballot.ApprovalID)
	switch {
	case errors.Is(err, approvals.ErrUnknown):
		defer w.settled()
		w.in.Effects = append(w.in.Effects, d.e.witnessed(w.del, w.in, DecisionVerdict{Ballot: *w.in.Ballot, Err: approvals.ErrUnknown})...)
		d.e.settleApart(w.del, w.in, state.DeliveryIgnored, "no such approval: "+w.in.Reason)
	case err != nil:
		defer w.settled()
		d.e.logger.Error("delivery not routed; it will be at the next start", "delivery", ref(w.del), "error", err)
	default:
		d.e.actors.post(h.row.SessionID, func(a *actor) { d.admit(a, w.del, w.in, w.settled) })
	}
}

// settleBallot commits what a ballot changes together with the decision about its
// delivery, and what whoever cast it is told.
func (a *actor) settleBallot(del state.StoredDelivery, in Intent) {
	a.settleBy(del, in, func(d *draft) error {
		v, refused, err := a.cast(d, *in.Ballot)
		if err != nil && !isNothing(err) {
			return err
		}
		verdict := DecisionVerdict{Ballot: *in.Ballot, Err: refused}
		if v.ID != "" {
			verdict.Approval = &v
		}
		d.oweTo(owedFor(del, in), del.Source, a.e.witnessed(del, in, verdict))
		switch {
		case refused != nil:
			d.settle(del, state.DeliveryIgnored, fmt.Sprintf("%s: %v: %s", in.Ballot.ApprovalID, refused, in.Reason), v.TurnID)
		default:
			d.settle(del, state.DeliveryDone, fmt.Sprintf("%s of %s is %s: %s", v.ID, v.Tool, v.State, in.Reason), v.TurnID)
		}
		return nil
	})
}

// witnessed is what whoever cast a ballot is told.
func (e *Engine) witnessed(del state.StoredDelivery, in Intent, v DecisionVerdict) (told []Effect) {
	w, ok := e.channels[del.Source].(DecisionWitness)
	if !ok {
		return nil
	}
	err := guard("DecisionEffects of channel "+del.Source, e.redact, func() error {
		told = w.DecisionEffects(in.Request, v)
		return owable(told)
	})
	if err != nil {
		e.logPanic("delivery", ref(del), err)
		e.logger.Error("nobody is told what came of a ballot", "delivery", ref(del), "error", err)
		return nil
	}
	return told
}
