package trajectory

import (
	"encoding/json"
	"time"

	"github.com/liaison-bot/liaison/state"
)

// Trajectory is what a session did. Its JSON is what "liaison trajectory --json"
// prints.
type Trajectory struct {
	SessionID string `json:"sessionId,omitempty"`
	Channel   string `json:"channel,omitempty"`
	Title     string `json:"title,omitempty"`
	// Events is how many lines the record has, those of unknown types included.
	Events int `json:"events"`
	// Reply is what the agent said last.
	Reply string `json:"reply"`
	// Usage is the sum over the turns, as CostUSD is, in US dollars; that is left
	// out where no turn has a known price.
	Usage   state.Usage `json:"usage"`
	CostUSD float64     `json:"costUsd,omitempty"`
	Turns   []*Turn     `json:"turns"`
	// Torn is set when the last line was cut short. It is not counted.
	Torn bool `json:"torn,omitempty"`
}

// Turn is one run of the agent.
type Turn struct {
	TurnID string `json:"turnId,omitempty"`
	// Status is queued, running, completed, failed or interrupted.
	Status string `json:"status"`
	// Message is what was asked; several messages are separated by a blank line.
	Message   string      `json:"message,omitempty"`
	Steps     []*Step     `json:"steps,omitempty"`
	ToolCalls []*ToolCall `json:"toolCalls"`
	Reply     string      `json:"reply"`
	Model     string      `json:"model,omitempty"`
	Usage     state.Usage `json:"usage"`
	CostUSD   float64     `json:"costUsd,omitempty"`
	// Error says why the turn failed or was interrupted.
	Error     string    `json:"error,omitempty"`
	StartedAt time.Time `json:"startedAt,omitzero"`
	EndedAt   time.Time `json:"endedAt,omitzero"`

	// written is the reply as far as it was streamed.
	written []byte
}

// Step is one step of the host, such as the preparation of the evidence.
type Step struct {
	Name       string `json:"name"`
	Note       string `json:"note,omitempty"`
	DurationMS int64  `json:"durationMs"`
}

// ToolCall is one action of the agent and its end. One without an end has no DurationMS.
type ToolCall struct {
	CallID     string          `json:"callId"`
	Name       string          `json:"name"`
	Args       json.RawMessage `json:"args,omitempty"`
	Result     json.RawMessage `json:"result,omitempty"`
	IsError    bool            `json:"isError,omitempty"`
	Error      string          `json:"error,omitempty"`
	Truncated  bool            `json:"truncated,omitempty"`
	Done       bool            `json:"done"`
	DurationMS int64           `json:"durationMs,omitempty"`

	requestedAt time.Time
}

// event is one line of the record, with as much of its data as is of use here.
type event struct {
	Type      string    `json:"type"`
	SessionID string    `json:"sessionId"`
	TurnID    string    `json:"turnId"`
	At        time.Time `json:"at"`
	Data      data      `json:"data"`
}

// data is the union of the data of all events. Fields of one name mean the same
// wherever they appear.
type data struct {
	Channel     string          `json:"channel"`
	Title       string          `json:"title"`
	Text        string          `json:"text"`
	Step        string          `json:"step"`
	Note        string          `json:"note"`
	Result      json.RawMessage `json:"result"`
	Usage       state.Usage     `json:"usage"`
	Model       string          `json:"model"`
	CostUSD     float64         `json:"costUsd"`
	DurationMS  int64           `json:"durationMs"`
	Error       string          `json:"error"`
	Reason      string          `json:"reason"`
	Interrupted bool            `json:"interrupted"`
	Actions     []requested     `json:"actions"`
	CallID      string          `json:"callId"`
	Name        string          `json:"name"`
	IsError     bool            `json:"isError"`
	Truncated   bool            `json:"truncated"`
}

type requested struct {
	CallID    string          `json:"callId"`
	Name      string          `json:"name"`
	Args      json.RawMessage `json:"args"`
	Truncated bool            `json:"truncated"`
}
