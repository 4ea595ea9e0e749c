package approvals

import "time"

// Step is what one step of the state machine means. Whoever takes it stores the
// record, the audit entry, and what follows from both in one transaction.
type Step struct {
	Record Record
	Audit  Entry
	// Run is set when the call shall be executed now.
	Run bool
}

// step makes a new version of a record.
func (r Record) step(action, by, place string, at time.Time) Step {
	r.Version++
	return Step{Record: r, Audit: entry(r, action, by, place, at)}
}

// Open makes a record of a call. The caller has set everything that describes the
// call, its requester and its policy; the id must not be foreseeable. The input is
// settled, so that what was stored and read again is what was shown.
func Open(r Record, at time.Time) Step {
	r.Input = Settle(r.Input)
	r.InputHash = HashInput(r.Input)
	r.State, r.CreatedAt, r.ExpiresAt = Pending, at, at.Add(r.Policy.ExpiresAfter)
	r.ReminderAt = at.Add(r.Policy.ExpiresAfter / 2)
	return r.step(ActionAsked, r.Requester.Principal, r.Channel, at)
}

// Cast counts what somebody says. Errors: [ErrUnknown], [ErrInvalid],
// [*NotAllowedError], and [*DecidedError] where it is too late or said before.
func (r Record) Cast(b Ballot, at time.Time) (Step, error) {
	switch {
	case b.ApprovalID != r.ID, b.SessionID != "" && b.SessionID != r.SessionID, !r.shownAt(b):
		return Step{}, ErrUnknown
	case b.Verdict != Approve && b.Verdict != Deny:
		return Step{}, ErrInvalid
	case !r.State.Open():
		return Step{}, r.decided(b)
	case !at.Before(r.ExpiresAt):
		return Step{}, &DecidedError{State: Expired, At: r.ExpiresAt}
	}
	// Who has approved is told so, whoever may still do.
	for _, v := range r.Votes {
		if b.Verdict == Approve && v.By.Is(b.By.Identity) {
			return Step{}, &DecidedError{State: r.State, By: v.By.Principal, Place: v.Place, At: v.At, Same: true}
		}
	}
	if err := r.may(b); err != nil {
		return Step{}, err
	}
	vote := Vote{Verdict: b.Verdict, By: b.By.Identity, Place: b.Place, Reason: b.Reason, At: at}
	if b.Verdict == Deny {
		r.State, r.Decision, r.DecidedAt, r.EndedAt = Denied, &vote, at, at
		return r.step(ActionDenied, b.By.Principal, b.Place, at), nil
	}
	r.Votes = append(r.Votes[:len(r.Votes):len(r.Votes)], vote)
	if len(r.Votes) < r.Policy.MinApprovals {
		r.State = Approving
		return r.step(ActionVoted, b.By.Principal, b.Place, at), nil
	}
	r.State, r.Decision, r.DecidedAt = Approved, &vote, at
	s := r.step(ActionApproved, b.By.Principal, b.Place, at)
	s.Run = true
	return s, nil
}

// shownAt reports whether the ballot's card is one of the record's. A card whose
// reference is not known yet may be it.
func (r Record) shownAt(b Ballot) bool {
	if b.Channel == "" || b.Ref == "" {
		return true
	}
	for _, c := range r.Cards {
		if c.Channel == b.Channel && (c.Ref == b.Ref || c.Ref == "" && !c.Gone) {
			return true
		}
	}
	return false
}

func (r Record) decided(b Ballot) error {
	e := &DecidedError{State: r.State, At: r.EndedAt}
	if r.Decision != nil {
		e.By, e.Place, e.At = r.Decision.By.Principal, r.Decision.Place, r.Decision.At
		e.Same = r.Decision.Verdict == b.Verdict
	}
	return e
}

// Expire ends a call that nobody decided about in time. False means that it is
// too early, or too late.
func (r Record) Expire(at time.Time) (Step, bool) {
	if !r.State.Open() || at.Before(r.ExpiresAt) {
		return Step{}, false
	}
	return r.end(Expired, "nobody decided within "+took(r.ExpiresAt.Sub(r.CreatedAt)), "", at), true
}

// Cancel ends a call that is not wanted any more, and Supersede one whose subject
// has moved on. False means that it is not open.
func (r Record) Cancel(why, by string, at time.Time) (Step, bool) {
	if !r.State.Open() {
		return Step{}, false
	}
	return r.end(Cancelled, why, by, at), true
}

// Supersede is [Record.Cancel] for a call about something that has changed since.
func (r Record) Supersede(why string, at time.Time) (Step, bool) {
	if !r.State.Open() {
		return Step{}, false
	}
	return r.end(Superseded, why, "", at), true
}

func (r Record) end(s State, why, by string, at time.Time) Step {
	r.State, r.Reason, r.EndedAt = s, why, at
	return r.step(string(s), by, "", at)
}

// Remind moves on to the next group of approvers after another half of what is
// left of the time. False means that it is too early, or too late.
func (r Record) Remind(at time.Time) (Step, bool) {
	if !r.State.Open() || r.ReminderAt.IsZero() || at.Before(r.ReminderAt) {
		return Step{}, false
	}
	r.ReminderAt = time.Time{}
	if r.Level < len(r.Policy.Escalation) {
		r.Level++
	}
	if left := r.ExpiresAt.Sub(at); r.Level < len(r.Policy.Escalation) && left > time.Minute {
		r.ReminderAt = at.Add(left / 2)
	}
	return r.step(ActionReminded, "", "", at), true
}

// Begin says that it is executed from now on, in this epoch of the store.
func (r Record) Begin(epoch uint64, at time.Time) (Step, bool) {
	if r.State != Approved {
		return Step{}, false
	}
	r.State, r.Epoch, r.StartedAt = Executing, epoch, at
	return r.step(ActionExecuting, "", "", at), true
}

// Finish says what the execution came to.
func (r Record) Finish(o Outcome, at time.Time) (Step, bool) {
	if r.State != Executing {
		return Step{}, false
	}
	r.State, r.Outcome, r.EndedAt = Done, &o, at
	if o.IsError {
		r.State = Failed
	}
	return r.step(string(r.State), "", "", at), true
}

// Refuse fails an approved call that must not run as it was agreed to, because
// the tool is another one now.
func (r Record) Refuse(why string, at time.Time) (Step, bool) {
	if r.State != Approved {
		return Step{}, false
	}
	r.State, r.Reason, r.EndedAt = Failed, why, at
	return r.step(string(Failed), "", "", at), true
}

// Lose says that nobody knows whether the execution happened.
func (r Record) Lose(why string, at time.Time) (Step, bool) {
	if r.State != Executing {
		return Step{}, false
	}
	r.State, r.Reason, r.EndedAt = Unknown, why, at
	return r.step(string(Unknown), "", "", at), true
}

// Park says that the agent went on without an answer. It changes no card.
func (r Record) Park() Record {
	r.Parked = true
	return r
}

// Adopt hands the record to the call of a later attempt of its turn, which waits
// for it then.
func (r Record) Adopt(attempt int, agentID, callID string) Record {
	r.Attempt, r.AgentID, r.CallID, r.Parked = attempt, agentID, callID, false
	return r
}
