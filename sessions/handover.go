package sessions

import (
	"encoding/json"
	"time"
)

// Caller is where the work of a turn was asked for, when that was on another
// channel than the one that does it.
type Caller struct {
	// Channel is the caller's channel, such as "slack".
	Channel string `json:"channel"`
	// Address is the caller's own description of the place; no one else reads it.
	Address json.RawMessage `json:"address"`
}

// KindOutcome is the kind of the effect by which a channel tells a [Caller] how
// its request goes. Its payload is an [Outcome], and its Channel the caller's.
const KindOutcome = "outcome"

// Outcome is what became of a request that came from another channel.
type Outcome struct {
	Address json.RawMessage `json:"address"`
	Stage   OutcomeStage    `json:"stage"`
	// Subject names what it is about, such as "octo/shop#12", and URL leads there.
	Subject string `json:"subject"`
	URL     string `json:"url,omitempty"`
	// Text is the result in Markdown, or why there is none, for a person.
	Text     string        `json:"text,omitempty"`
	Model    string        `json:"model,omitempty"`
	Duration time.Duration `json:"duration,omitempty"`
}

// OutcomeStage is how far a request from another channel has come.
type OutcomeStage string

// The stages of such a request. All but the first two end it.
const (
	OutcomeAccepted    OutcomeStage = "accepted"
	OutcomeWaiting     OutcomeStage = "waiting"
	OutcomeRefused     OutcomeStage = "refused"
	OutcomeCompleted   OutcomeStage = "completed"
	OutcomeFailed      OutcomeStage = "failed"
	OutcomeInterrupted OutcomeStage = "interrupted"
)
