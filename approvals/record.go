package approvals

import (
	"encoding/json"
	"time"
)

// Record is a call of a tool that waits, or waited, for a person. It is the truth
// about the call: cards are drawn from it, and what runs is its Input.
type Record struct {
	// ID is "apr_" and 32 hexadecimal digits, of which nobody can guess one.
	ID string `json:"id"`
	// Version grows by one with each step; cards are drawn again when it does.
	Version uint64 `json:"version"`

	SessionID string `json:"sessionId"`
	// TurnID and Attempt are the turn that asked, and which of its starts. A direct
	// call has a turn's id of its own and no attempt.
	TurnID  string `json:"turnId"`
	Attempt int    `json:"attempt,omitempty"`
	// AgentID and CallID name the call at the bridge; AgentID is empty for a direct one.
	AgentID string `json:"agentId,omitempty"`
	CallID  string `json:"callId"`

	// Tool is what was called, Summary what that does in one line, and Risk what
	// the tool's author said of it.
	Tool    string `json:"tool"`
	Summary string `json:"summary,omitempty"`
	Risk    Risk   `json:"risk,omitempty"`
	// Input is what was handed in, as it will run, secrets and all. InputHash is
	// [HashInput] of it.
	Input     json.RawMessage `json:"input"`
	InputHash string          `json:"inputHash"`
	// Fingerprint identifies what would run. A tool that has another one by then is
	// not what somebody agreed to.
	Fingerprint string `json:"fingerprint,omitempty"`

	// Channel is the surface that asked, and Request its own description of the
	// work, for its cards and for the turn that hears of the outcome.
	Channel string          `json:"channel"`
	Request json.RawMessage `json:"request,omitempty"`
	// Subject names what it is about, such as "octo/shop#12"; empty where unknown.
	Subject string `json:"subject,omitempty"`
	// Requester is for whom the agent works. Authors are others who may not approve
	// it as if it were somebody else's, such as the pull request's author.
	Requester Identity   `json:"requester"`
	Authors   []Identity `json:"authors,omitempty"`
	// Policy is the one that held when it was asked for.
	Policy Policy `json:"policy"`

	State State `json:"state"`
	// Level is how many groups of Policy.Escalation may decide beside the first.
	Level int `json:"level,omitempty"`
	// Votes are the approvals so far, each by another person.
	Votes []Vote `json:"votes,omitempty"`
	// Decision is what settled it; nil while it is open.
	Decision *Vote `json:"decision,omitempty"`
	// Reason says why it ended without a person: expired, cancelled, superseded.
	Reason string `json:"reason,omitempty"`
	// Parked is set once the agent was told to go on without an answer: the outcome
	// then comes to it in a turn of its own.
	Parked bool `json:"parked,omitempty"`
	// Epoch is the store's epoch in which it was executed.
	Epoch uint64 `json:"epoch,omitempty"`
	// Outcome is what the tool answered; nil before.
	Outcome *Outcome `json:"outcome,omitempty"`

	CreatedAt  time.Time `json:"createdAt"`
	ExpiresAt  time.Time `json:"expiresAt"`
	ReminderAt time.Time `json:"reminderAt,omitzero"`
	DecidedAt  time.Time `json:"decidedAt,omitzero"`
	StartedAt  time.Time `json:"startedAt,omitzero"`
	EndedAt    time.Time `json:"endedAt,omitzero"`

	// Cards are where people see it.
	Cards []Card `json:"cards,omitempty"`
}

// Vote is what one person said.
type Vote struct {
	Verdict Verdict  `json:"verdict"`
	By      Identity `json:"by"`
	// Place is where they said it: "slack", "github", "http".
	Place  string    `json:"place"`
	Reason string    `json:"reason,omitempty"`
	At     time.Time `json:"at"`
}

// Outcome is what became of an execution.
type Outcome struct {
	// Text is what the agent reads of it, masked and cut.
	Text    string `json:"text,omitempty"`
	IsError bool   `json:"isError,omitempty"`
	// DurationMS is how long it ran, in milliseconds.
	DurationMS int64 `json:"durationMs,omitempty"`
}

// Card is one place where people see a record.
type Card struct {
	// Channel draws it, and Place is its own name for where, unique there.
	Channel string `json:"channel"`
	Place   string `json:"place"`
	// Address is the channel's description of the place; no one else reads it.
	Address json.RawMessage `json:"address,omitempty"`
	// Ref finds the card again, in the channel's words. It is empty before it was
	// posted, and kept until the card shows how it ended.
	Ref string `json:"ref,omitempty"`
	// Drawn is the version that it shows; zero before it was posted.
	Drawn uint64 `json:"drawn,omitempty"`
	// Gone is set when it cannot be drawn any more: it was deleted, or given up.
	Gone bool `json:"gone,omitempty"`
}

// Risk is what a tool's author says that a wrong call would do.
type Risk string

// The risks. Empty counts as medium.
const (
	RiskLow    Risk = "low"
	RiskMedium Risk = "medium"
	RiskHigh   Risk = "high"
)

// Verdict is what somebody says about a call.
type Verdict string

// The verdicts.
const (
	Approve Verdict = "approve"
	Deny    Verdict = "deny"
)
