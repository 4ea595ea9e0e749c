package approvals

import "time"

// The actions of the audit log, beside the states in which a call can end.
const (
	ActionAsked     = "asked"
	ActionVoted     = "voted"
	ActionApproved  = "approved"
	ActionDenied    = "denied"
	ActionReminded  = "reminded"
	ActionExecuting = "executing"
	// ActionRefused is a ballot of somebody who may not decide.
	ActionRefused = "refused"
	// ActionCalled is a tool that writes and asked nobody.
	ActionCalled = "called"
)

// Entry is one line of the audit log: who did what, where, to which call. It has
// no secret in it once its Input is redacted.
type Entry struct {
	At     time.Time `json:"at"`
	Action string    `json:"action"`
	// By is the principal; empty where time or the host did it.
	By    string `json:"by,omitempty"`
	Place string `json:"place,omitempty"`

	ApprovalID  string `json:"approvalId,omitempty"`
	SessionID   string `json:"sessionId,omitempty"`
	TurnID      string `json:"turnId,omitempty"`
	CallID      string `json:"callId,omitempty"`
	Tool        string `json:"tool,omitempty"`
	Subject     string `json:"subject,omitempty"`
	RequestedBy string `json:"requestedBy,omitempty"`
	InputHash   string `json:"inputHash,omitempty"`
	// Input is redacted and cut by whoever stores the entry.
	Input  string `json:"input,omitempty"`
	Reason string `json:"reason,omitempty"`
	// DurationMS is how long an execution took, in milliseconds.
	DurationMS int64 `json:"durationMs,omitempty"`
}

// Refused is the line about a ballot of somebody who may not decide.
func (r Record) Refused(b Ballot, at time.Time) Entry {
	return entry(r, ActionRefused, b.By.Principal, b.Place, at)
}

func entry(r Record, action, by, place string, at time.Time) Entry {
	e := Entry{
		At: at, Action: action, By: by, Place: place,
		ApprovalID: r.ID, SessionID: r.SessionID, TurnID: r.TurnID, CallID: r.CallID, Tool: r.Tool,
		Subject: r.Subject, RequestedBy: r.Requester.Principal, InputHash: r.InputHash, Reason: r.Reason,
	}
	if r.Decision != nil && e.Reason == "" {
		e.Reason = r.Decision.Reason
	}
	if r.Outcome != nil {
		e.DurationMS = r.Outcome.DurationMS
	}
	return e
}
