package sessions

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/state"
)

// outcomeMessage begins the name of a message that tells an agent what became of a
// call. No channel names a message so.
const outcomeMessage = "approval:"

// resume drafts the turn in which the agent hears what became of a call, or adds
// to one that waits.
func (d *draft) resume(r approvals.Record, v approvals.View) {
	a := d.a
	told := state.Gathered{
		Message: v.ForAgent(), MessageID: outcomeMessage + r.ID, Principal: r.Requester.Principal,
		Request: a.resumed(r, v), At: a.e.now(),
	}
	reason := "what became of " + r.ID + ": " + string(r.State)
	received := messageReceived{Text: told.Message, Principal: told.Principal, Channel: r.Channel, Reason: reason}
	d.reopen()
	if t := d.waitingOutcome(r.Channel, told); t != nil {
		t.Gathered = append(slices.Clone(t.Gathered), told)
		received.Gathered = true
		d.event(EventMessageReceived, t.ID, received)
		return
	}
	t := d.turn(state.Turn{
		ID: turnPrefix + a.e.newID(), SessionID: a.id, Status: state.TurnQueued,
		Channel: r.Channel, Principal: told.Principal, Message: told.Message, MessageID: told.MessageID,
		Request: told.Request, QueuedAt: a.e.now(),
	})
	d.event(EventMessageReceived, t.ID, received)
	d.event(EventTurnQueued, t.ID, turnQueued{Position: a.position(d, *t), Reason: reason})
}

// waitingOutcome returns the turn, to be changed, in which an agent hears of other
// outcomes and that has not begun, if it has room for another one.
func (d *draft) waitingOutcome(channel string, told state.Gathered) *state.Turn {
	fits := func(t state.Turn) bool {
		size := len(t.Message) + len(told.Message)
		for _, g := range t.Gathered {
			size += len(g.Message)
		}
		return tellsOutcome(t) && t.Status == state.TurnQueued && t.Attempts == 0 &&
			cmp.Or(t.Channel, d.a.sess.Channel) == channel && t.Principal == told.Principal &&
			len(t.Gathered) < maxGathered && size <= maxGatheredBytes
	}
	for _, t := range d.turns {
		if fits(*t) {
			return t
		}
	}
	for _, q := range d.a.queued {
		if fits(q.row) && !slices.ContainsFunc(d.turns, func(t *state.Turn) bool { return t.ID == q.row.ID }) {
			return d.turn(q.row)
		}
	}
	return nil
}

// tellsOutcome reports whether a turn was begun by what became of a call.
func tellsOutcome(t state.Turn) bool { return strings.HasPrefix(t.MessageID, outcomeMessage) }

// resumed is the request of that turn.
func (a *actor) resumed(r approvals.Record, v approvals.View) json.RawMessage {
	c, ok := a.e.channels[r.Channel].(Resumer)
	if !ok {
		return r.Request
	}
	request := r.Request
	err := guard("Resume of channel "+r.Channel, a.e.redact, func() error {
		made, err := c.Resume(r.Request, v)
		if err == nil && json.Valid(made) {
			request = made
		}
		return err
	})
	if err != nil {
		a.logPanic(err)
		a.e.logger.Warn("a turn that hears of an outcome has the request of the one that asked",
			"session", a.id, "approval", r.ID, "error", err)
	}
	return request
}

// heardOf returns the outcomes that a turn was begun for, to be told by another one.
func heardOf(t state.Turn) []state.Gathered {
	var kept []state.Gathered
	own := state.Gathered{Message: t.Message, MessageID: t.MessageID, Principal: t.Principal, Request: t.Request, At: t.QueuedAt}
	for _, g := range append([]state.Gathered{own}, t.Gathered...) {
		if strings.HasPrefix(g.MessageID, outcomeMessage) {
			kept = append(kept, g)
		}
	}
	return kept
}

// awaits reports whether something is still to come of a call of the session, as
// it will be by this draft.
func (a *actor) awaits(d *draft) bool {
	all, err := a.undone()
	if err != nil {
		return false
	}
	return slices.ContainsFunc(all, func(h *held) bool {
		i := slices.IndexFunc(d.held, func(other *held) bool { return other.rec.ID == h.rec.ID })
		return i < 0 || !d.held[i].row.Ended
	})
}

// endTask ends a task that waited for nothing but an approval.
func (a *actor) endTask() {
	if a.sess.Mode != state.ModeTask || a.sess.Status == state.SessionArchived || len(a.open()) > 0 {
		return
	}
	err := a.decide(func(d *draft) error {
		if a.sess.Status == state.SessionArchived || len(a.open()) > 0 || a.awaits(d) {
			return errNothingNew
		}
		a.rest(d, EventSessionCompleted, "")
		return nil
	})
	a.afterwards("a task does not end", err)
}
