package sessions

import (
	"slices"
	"time"

	"github.com/liaison-bot/liaison/state"
)

// amend drafts another text for a message whose turn has not begun, or takes it
// back where there is none. What an agent has read cannot be unread.
func (a *actor) amend(d *draft, del state.StoredDelivery, in Intent) error {
	t, at := a.waiting(in.MessageID)
	if t == nil {
		d.settle(del, state.DeliveryIgnored, "no message of that name waits for its turn: "+in.Reason, "")
		return nil
	}
	text := a.e.redact(in.Message)
	d.event(EventMessageAmended, t.ID, messageAmended{
		Text: text, Withdrawn: in.Message == "", Principal: in.Principal, DeliveryID: ref(del),
	})
	switch {
	case in.Message != "":
		d.reword(*t, at, text, in)
		d.settle(del, state.DeliveryDone, "changed the message of turn "+t.ID+": "+in.Reason, t.ID)
	case at < 0 && len(t.Gathered) == 0:
		d.interruptAs(*t, Report{Reason: "taken back: " + in.Reason, Withdrawn: true})
		d.settle(del, state.DeliveryDone, "dropped turn "+t.ID+": "+in.Reason, t.ID)
	default:
		d.withdraw(*t, at)
		d.settle(del, state.DeliveryDone, "took a message out of turn "+t.ID+": "+in.Reason, t.ID)
	}
	return nil
}

// waiting finds the turn with a message that was not started, and the message's
// place among those gathered, or -1 where it is the turn's own.
func (a *actor) waiting(messageID string) (*state.Turn, int) {
	for _, q := range a.queued {
		if q.row.Attempts > 0 {
			continue
		}
		if q.row.MessageID == messageID {
			return &q.row, -1
		}
		at := slices.IndexFunc(q.row.Gathered, func(g state.Gathered) bool { return g.MessageID == messageID })
		if at >= 0 {
			return &q.row, at
		}
	}
	return nil, 0
}

// reword gives a message another text.
func (d *draft) reword(t state.Turn, at int, text string, in Intent) {
	row := d.turn(t)
	if at < 0 {
		row.Message, row.Request = text, in.Request
		return
	}
	row.Gathered = slices.Clone(t.Gathered)
	row.Gathered[at].Message, row.Gathered[at].Request = text, in.Request
}

// withdraw takes one of several messages out of a turn.
func (d *draft) withdraw(t state.Turn, at int) {
	row := d.turn(t)
	if at < 0 {
		first := t.Gathered[0]
		row.Message, row.MessageID, row.Principal = first.Message, first.MessageID, first.Principal
		row.DeliveryID, row.Request = first.DeliveryID, first.Request
		at = 0
	}
	row.Gathered = slices.Delete(slices.Clone(t.Gathered), at, at+1)
}

// hush drafts that a turn waits until nobody has said more for a while, or that it
// does not any longer.
func (d *draft) hush(t *state.Turn, quiet time.Duration) {
	a, was := d.a, !t.NotBefore.IsZero()
	if quiet <= 0 {
		if was {
			t.NotBefore = time.Time{}
			d.change.CancelTimers = append(d.change.CancelTimers, retryTimerID(t.ID))
		}
		return
	}
	if !was && a.waits(t.ID) {
		return // somebody wanted it answered at once
	}
	due, latest := a.e.now().Add(quiet), t.QueuedAt.Add(MaxQuiet)
	if due.After(latest) {
		due = latest
	}
	t.NotBefore = due
	d.change.Timers = append(d.change.Timers, state.Timer{
		ID: retryTimerID(t.ID), SessionID: a.id, Due: due, Kind: timerTurnRetry,
		Payload: encoded(retryPayload{TurnID: t.ID}),
	})
}

// waits reports whether a turn is queued.
func (a *actor) waits(turnID string) bool {
	return slices.ContainsFunc(a.queued, func(q *queuedTurn) bool { return q.row.ID == turnID })
}
