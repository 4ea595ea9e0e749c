package sessions

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/state"
)

// The kinds of timers that let an approval go on by itself.
const (
	timerApprovalExpires  = "approval.expires"
	timerApprovalReminder = "approval.reminder"
)

type approvalPayload struct {
	ApprovalID string `json:"approvalId"`
}

// setTimes drafts when an approval goes on by itself; was is its state before.
func (d *draft) setTimes(r approvals.Record, was approvals.State) {
	expires := state.Timer{
		ID: "approval:" + r.ID + ":expires", SessionID: d.a.id, Due: r.ExpiresAt, Kind: timerApprovalExpires,
		Payload: encoded(approvalPayload{r.ID}),
	}
	reminder := expires
	reminder.ID, reminder.Due, reminder.Kind = "approval:"+r.ID+":reminder", r.ReminderAt, timerApprovalReminder
	switch {
	case r.State.Open() && r.ReminderAt.IsZero():
		d.change.Timers = append(d.change.Timers, expires)
		d.change.CancelTimers = append(d.change.CancelTimers, reminder.ID)
	case r.State.Open():
		d.change.Timers = append(d.change.Timers, expires, reminder)
	case was.Open():
		d.change.CancelTimers = append(d.change.CancelTimers, expires.ID, reminder.ID)
	}
}

// pass lets an approval go on because of the time. A timer that comes too early,
// because the clock was set back meanwhile, comes again.
func (a *actor) pass(t state.Timer) error {
	var p approvalPayload
	if err := json.Unmarshal(t.Payload, &p); err != nil {
		a.e.logger.Error("timer of an approval cannot be read", "timer", t.ID, "error", err)
	}
	err := a.decide(func(d *draft) error {
		d.change.CancelTimers = []string{t.ID}
		h, err := a.approval(p.ApprovalID)
		if errors.Is(err, approvals.ErrUnknown) {
			return nil
		}
		if err != nil {
			return err
		}
		now := a.e.now()
		step, due := h.rec.Expire(now)
		if !due && t.Kind == timerApprovalReminder {
			step, due = h.rec.Remind(now)
		}
		switch {
		case due:
			d.step(h, step)
		case h.rec.State.Open():
			d.setTimes(h.rec, h.rec.State)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("let approval %s go on by timer %s: %w", p.ApprovalID, t.ID, err)
	}
	a.schedule()
	return nil
}
