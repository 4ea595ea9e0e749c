package sessions

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/tools"
)

// maxDenials is how often a turn may be told no before it is asked to end.
const maxDenials = 2

// asked looks whether this turn has asked for the same before. A result is the
// answer at once: the old reason where people said no, or what came of the call of
// an earlier attempt. Otherwise w.id is the approval that is taken up again, if
// there is one.
func (a *actor) asked(d *draft, c tools.Call, rec approvals.Record, w *waiter) (*tools.Result, error) {
	if a.running == nil || a.running.row.ID != c.TurnID || a.running.row.Status != state.TurnRunning {
		return nil, ErrTurnNotRunning
	}
	all, err := a.ofTurn(a.running.row)
	if err != nil {
		return nil, err
	}
	for _, h := range all {
		if h.rec.Tool != rec.Tool || h.rec.InputHash != rec.InputHash {
			continue
		}
		switch {
		case h.rec.State == approvals.Denied && h.row.Ended:
			r := a.deniedBefore(h.rec)
			return &r, errNothingNew
		case h.rec.State == approvals.Cancelled, h.rec.State == approvals.Superseded:
		case h.rec.Attempt < c.Attempt, h.rec.AgentID == c.AgentID && c.CallID != "" && h.rec.CallID == c.CallID:
			return a.takeUp(d, h, c, w)
		}
	}
	return nil, nil
}

// takeUp drafts that a call waits for an approval that was asked for by an earlier
// attempt of its turn, or by itself.
func (a *actor) takeUp(d *draft, h *held, c tools.Call, w *waiter) (*tools.Result, error) {
	h.rec = h.rec.Adopt(c.Attempt, c.AgentID, cmp.Or(c.CallID, h.rec.CallID))
	d.hold(h)
	if h.rec.State.Ended() {
		h.row.Ended = true
		r := outcomeOf(a.e.shown(h.rec))
		return &r, nil
	}
	w.id = h.rec.ID
	return nil, nil
}

// deniedBefore answers the repetition of a call that people have refused.
func (a *actor) deniedBefore(r approvals.Record) tools.Result {
	text := a.e.shown(r).ForAgent()
	return tools.Result{
		Text:    fmt.Sprintf("This call was refused before in this turn, and is not asked for again. %s", text),
		IsError: true, Final: true,
	}
}

// deniedEnough reports whether people have said no to as many calls of the running
// turn as it may be told, with this one.
func (a *actor) deniedEnough(r approvals.Record) bool {
	if r.State != approvals.Denied || a.running == nil || a.running.row.ID != r.TurnID {
		return false
	}
	all, err := a.ofTurn(a.running.row)
	n := 1
	for _, h := range all {
		if h.rec.ID != r.ID && h.rec.State == approvals.Denied {
			n++
		}
	}
	return err == nil && n >= maxDenials
}

// ofTurn returns the approvals that a turn has asked for.
func (a *actor) ofTurn(t state.Turn) ([]*held, error) {
	all, err := a.approvals(state.ApprovalFilter{SessionID: a.id}, func(h *held) bool {
		return h.row.Ended && h.rec.CreatedAt.Before(t.QueuedAt)
	})
	return slices.DeleteFunc(all, func(h *held) bool { return h.rec.TurnID != t.ID }), err
}
