package sessions

import (
	"encoding/json"
	"time"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/state"
)

// The data of events about approvals.
type (
	approvalRequested struct {
		ApprovalID string `json:"approvalId"`
		CallID     string `json:"callId"`
		Name       string `json:"name"`
		// Args are masked; InputHash is of what will run.
		Args        json.RawMessage `json:"args,omitempty"`
		Truncated   bool            `json:"truncated,omitempty"`
		InputHash   string          `json:"inputHash"`
		Risk        approvals.Risk  `json:"risk,omitempty"`
		Subject     string          `json:"subject,omitempty"`
		RequestedBy string          `json:"requestedBy,omitempty"`
		// MinApprovals is how many people must approve.
		MinApprovals int       `json:"minApprovals"`
		ExpiresAt    time.Time `json:"expiresAt"`
	}
	approvalResolved struct {
		ApprovalID string `json:"approvalId"`
		CallID     string `json:"callId"`
		Name       string `json:"name"`
		// State is approved, denied, expired, cancelled or superseded.
		State approvals.State `json:"state"`
		// By and Place are who decided and where; empty where nobody did.
		By     string `json:"by,omitempty"`
		Place  string `json:"place,omitempty"`
		Reason string `json:"reason,omitempty"`
	}
)

// step drafts one step of an approval with all that follows from it: what people
// see, what is on record, when it goes on by itself, and whether the agent is told.
func (d *draft) step(h *held, s approvals.Step) {
	was := h.rec.State
	h.rec = s.Record
	d.hold(h)
	d.points = append(d.points, "approval."+s.Audit.Action)
	v := d.a.e.shown(h.rec)
	d.audit(s.Audit, h.rec.Input)
	d.oweCards(h.rec)
	d.setTimes(h.rec, was)
	settled := was.Open() && !h.rec.State.Open()
	if was == "" {
		d.event(EventApprovalRequested, h.rec.TurnID, approvalRequested{
			ApprovalID: h.rec.ID, CallID: h.rec.CallID, Name: h.rec.Tool,
			Args: recordable(h.rec.Input, d.a.e.redact), Truncated: len(h.rec.Input) > maxActionData,
			InputHash: h.rec.InputHash, Risk: h.rec.Risk, Subject: v.Subject, RequestedBy: h.rec.Requester.Principal,
			MinApprovals: h.rec.Policy.MinApprovals, ExpiresAt: h.rec.ExpiresAt,
		})
	}
	if settled {
		d.event(EventApprovalResolved, h.rec.TurnID, resolvedData(v))
	}
	switch {
	case s.Audit.Action == approvals.ActionReminded:
		d.tellPeople(v, ApprovalReminded)
	case settled && (h.rec.Parked || h.rec.State.Ended() && h.rec.State != approvals.Denied):
		d.tellPeople(v, ApprovalSettled)
	}
	if !was.Open() && was != "" && h.rec.State.Ended() {
		d.noteResult(h.rec)
	}
	if s.Run {
		d.after = append(d.after, func() { d.a.e.execute(d.a.id, h.rec.ID) })
	}
	d.tellAgent(h)
}

func resolvedData(v approvals.View) approvalResolved {
	r := approvalResolved{
		ApprovalID: v.ID, CallID: v.CallID, Name: v.Tool, State: v.State, Reason: clip(v.Reason, maxReasonText),
	}
	if v.Decision != nil {
		r.By, r.Place, r.Reason = v.Decision.By.Principal, v.Decision.Place, clip(v.Decision.Reason, maxReasonText)
	}
	return r
}

// audit drafts a line of the audit log about a call with this input.
func (d *draft) audit(e approvals.Entry, input json.RawMessage) {
	e.Input, e.Subject = string(input), clip(d.a.e.redact(e.Subject), maxReasonText)
	d.change.Audit = append(d.change.Audit, d.a.e.auditEntry(e))
}

// park drafts that the agent goes on without an answer.
func (d *draft) park(h *held) {
	h.rec = h.rec.Park()
	d.hold(h)
	d.points = append(d.points, "approval.parked")
	if h.rec.State.Open() {
		d.tellPeople(d.a.e.shown(h.rec), ApprovalParked)
	}
	d.tellAgent(h)
}

// tellAgent drafts how the agent hears of the end of an approval: by the call that
// waits for it, by the call that its turn will make again, or by a turn of its own.
func (d *draft) tellAgent(h *held) {
	if !h.rec.State.Ended() || h.row.Ended {
		return
	}
	a, id := d.a, h.rec.ID
	v := a.e.shown(h.rec)
	told := heard{view: v, result: d.result, final: a.deniedEnough(h.rec)}
	d.after = append(d.after, func() { a.e.waiters.tell(id, told) })
	never := h.rec.State == approvals.Cancelled || h.rec.State == approvals.Superseded || h.rec.AgentID == ""
	switch {
	case never && !h.rec.Parked:
		h.row.Ended = true
	case !h.rec.Parked && a.e.waiters.has(id):
		return
	case !h.rec.Parked:
		h.rec = h.rec.Park() // whoever waited died with an earlier process
		d.hold(h)
	}
	switch {
	case h.row.Ended:
	case never, a.sess.Mode != state.ModeTask && a.sess.Status == state.SessionArchived:
		h.row.Ended = true
	case a.asksAgain(h.rec):
		return
	default:
		d.resume(h.rec, v)
		h.row.Ended = true
	}
	d.after = append(d.after, a.endTask)
}

// asksAgain reports whether the turn that asked has another attempt before it or
// under way, in which it may make the call again and so hears of the outcome.
func (a *actor) asksAgain(r approvals.Record) bool {
	for _, t := range a.open() {
		if t.ID == r.TurnID && (t.Status == state.TurnQueued || t.Attempts > r.Attempt) {
			return true
		}
	}
	return false
}

// tellAll has the agent hear of what ended while one of its turns might still have
// asked for it, once that turn is over.
func (a *actor) tellAll() {
	all, err := a.undone()
	if err != nil || len(all) == 0 {
		return // the next start looks again
	}
	err = a.decide(func(d *draft) error {
		all, err := a.undone()
		if err != nil {
			return err
		}
		for _, h := range all {
			if h.rec.Parked && !a.asksAgain(h.rec) {
				d.tellAgent(h)
				if h.row.Ended {
					d.hold(h)
				}
			}
		}
		if len(d.held) == 0 {
			return errNothingNew
		}
		return nil
	})
	a.afterwards("an agent is not told what became of its calls", err)
}

// afterwards logs why a decision that nobody waits for was not taken, unless there
// was nothing to decide, and lets a turn that it queued stand in line.
func (a *actor) afterwards(what string, err error) {
	if err != nil && !isNothing(err) {
		a.e.logger.Error(what+"; the next start looks again", "session", a.id, "error", err)
		return
	}
	a.schedule()
}
