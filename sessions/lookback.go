package sessions

import (
	"context"
	"errors"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/tools"
)

// lookBackAtApprovals goes on with what an earlier process left of approvals, page
// by page, until ctx ends.
func (e *Engine) lookBackAtApprovals(ctx context.Context) {
	f := state.ApprovalFilter{Open: true}
	for {
		page, err := read(ctx, e, func(ctx context.Context) ([]state.Approval, error) {
			return e.store.ListApprovals(ctx, f, approvalPage)
		})
		if err != nil {
			if ctx.Err() == nil {
				e.logger.Error("approvals of an earlier process are not looked at; the next start does", "error", err)
			}
			return
		}
		for _, row := range page {
			err := inActor(e, row.SessionID, func(a *actor) error { return a.lookBackAt(row.ID) })
			if err != nil && !isNothing(err) {
				e.logger.Error("an approval of an earlier process is not looked at; the next start does", "approval", row.ID, "error", err)
			}
			if ctx.Err() != nil {
				return
			}
		}
		if len(page) < approvalPage {
			return
		}
		f.Before = page[len(page)-1].ID
	}
}

// lookBackAt goes on with one approval: nobody waits for it any more unless its
// turn has asked again, and what was agreed to is made.
func (a *actor) lookBackAt(id string) error {
	var now approvals.Record
	err := a.decide(func(d *draft) error {
		h, err := a.approval(id)
		if err != nil {
			return err
		}
		now = h.rec
		switch {
		case h.row.Ended || a.e.waiters.has(id):
			return errNothingNew
		case h.rec.Parked && !h.rec.State.Ended():
			return errNothingNew
		case h.rec.Parked:
			d.tellAgent(h)
		case a.asksAgain(h.rec):
			h.rec = h.rec.Park() // its requester need not be told: the turn goes on
			d.tellAgent(h)
		default:
			d.park(h)
		}
		d.hold(h)
		now = h.rec
		return nil
	})
	if err != nil && !isNothing(err) {
		return err
	}
	a.schedule()
	switch {
	case now.State == approvals.Approved:
		a.e.execute(a.id, id)
	case now.State == approvals.Executing && now.Epoch != a.e.store.Epoch():
		a.e.lookFor(a.callOf(now), now)
	}
	return nil
}

// lookFor finds out whether a call was made that the process died over.
func (e *Engine) lookFor(c tools.Call, r approvals.Record) {
	if !e.executions.enter(r.ID) {
		return
	}
	e.actors.run(func() {
		defer e.executions.leave(r.ID)
		result, err := e.found(c, r)
		err = e.storeOutcome(c.SessionID, r.ID, result, err, 0)
		if err != nil && !isNothing(err) {
			e.logger.Error("what came of a call is not stored; the next start looks again", "approval", r.ID, "error", err)
		}
	})
}

// errLost says why nobody knows what came of a call.
var errLost = errors.New("the service was lost while it ran")

func (e *Engine) found(c tools.Call, r approvals.Record) (result tools.Result, err error) {
	ctx, cancel := context.WithTimeout(e.executions.ctx, executeTimeout)
	defer cancel()
	registry := e.registry()
	if registry == nil {
		return result, errLost
	}
	err = guard("Look of tool "+r.Tool, e.redact, func() (err error) {
		result, err = registry.Look(ctx, c, r.Tool)
		return err
	})
	switch {
	case err == nil:
		return result, nil
	case errors.Is(context.Cause(ctx), errStopped):
		return result, errStopped
	case errors.Is(err, tools.ErrOutcomeUnknown):
		return result, errLost
	default:
		e.logger.Warn("a tool could not look for what it did", "tool", r.Tool, "approval", r.ID, "error", err)
		return result, errLost
	}
}
