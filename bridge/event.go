package bridge

import (
	"encoding/json"
	"time"
)

// Event is one message of a run's stream.
type Event struct {
	AgentID string
	RunID   string
	// Offset is the opaque resume token of the stream that the event came from;
	// empty when none was given. Those of a Send and of an Observe are numbered
	// differently; [Run.Offset] gives one that is good for Observe.
	Offset string
	// Payload is one of the types below; [Unknown] for anything this version does not know.
	Payload Payload

	// raw is the message as it came.
	raw object
	// replayed is set when the event came from ObserveRun, whose offsets alone resume a stream.
	replayed bool
}

// Raw returns the whole message as JSON, with its keys sorted. It is made anew by
// each call, and is nil for a [Gap].
func (e Event) Raw() json.RawMessage { return e.raw.raw() }

// Payload is what an event says.
type Payload interface{ isPayload() }

// System opens a run.
type System struct {
	Subtype string
	Model   string
	Tools   []string
}

// User repeats a message of the user.
type User struct{ Text string }

// Assistant is a fragment of the agent's answer. The final text is [Result.Text].
type Assistant struct {
	Text     string
	ToolUses []ToolUse
}

// ToolUse is a tool that an assistant message asks for.
type ToolUse struct {
	ID    string
	Name  string
	Input json.RawMessage
}

// Thinking is a fragment of the agent's reasoning; the last one is empty and has the duration.
type Thinking struct {
	Text     string
	Duration time.Duration
}

// ToolCall reports a tool's start or end. A running one may be reported more than once.
type ToolCall struct {
	CallID          string
	Name            string
	Status          ToolCallStatus
	Args            json.RawMessage
	Result          json.RawMessage
	ArgsTruncated   bool
	ResultTruncated bool
}

// ToolCallStatus is the state of a tool call.
type ToolCallStatus string

// The states of a tool call.
const (
	ToolRunning   ToolCallStatus = "running"
	ToolCompleted ToolCallStatus = "completed"
	ToolError     ToolCallStatus = "error"
)

// Status reports the run's state; the message of the last one is the readable
// reason of a run that failed.
type Status struct {
	Status  RunStatus
	Message string
}

// Request names the provider's request; it is in the durable record only.
type Request struct{ RequestID string }

// Task reports work of a subagent.
type Task struct {
	Status string
	Text   string
}

// Tokens reports what the run has used so far.
type Tokens struct{ Usage Usage }

// Usage counts tokens.
type Usage struct {
	InputTokens      int64
	OutputTokens     int64
	CacheReadTokens  int64
	CacheWriteTokens int64
	TotalTokens      int64
	ReasoningTokens  int64
}

// Gap stands for events that are missing: thrown away because nobody read them in
// time, since a run is never held up by its reader, or lost with a stream that
// broke. Events is how many, as far as that is known; 0 means some or none.
type Gap struct{ Events int }

// Delta is a fragment of what the agent is doing, finer than the other events;
// see [SendOptions.Deltas]. Its JSON depends on the type.
type Delta struct {
	Type string
	Data json.RawMessage
}

// Step is one finished step of the conversation; see [SendOptions.Steps].
type Step struct {
	Type string
	Data json.RawMessage
}

// Unknown is a message of a type that this version does not know.
type Unknown struct{ Type string }

func (System) isPayload()    {}
func (User) isPayload()      {}
func (Assistant) isPayload() {}
func (Thinking) isPayload()  {}
func (ToolCall) isPayload()  {}
func (Status) isPayload()    {}
func (Request) isPayload()   {}
func (Task) isPayload()      {}
func (Tokens) isPayload()    {}
func (Gap) isPayload()       {}
func (Delta) isPayload()     {}
func (Step) isPayload()      {}
func (Unknown) isPayload()   {}

// RunStatus is the state of a run.
type RunStatus string

// The states of a run; the last four end it. RunUnknown stands for a state
// that this version does not know.
const (
	RunUnknown   RunStatus = ""
	RunCreating  RunStatus = "creating"
	RunRunning   RunStatus = "running"
	RunFinished  RunStatus = "finished"
	RunError     RunStatus = "error"
	RunCancelled RunStatus = "cancelled"
	RunExpired   RunStatus = "expired"
)

// Ended reports whether the run will not change any more.
func (s RunStatus) Ended() bool {
	return s == RunFinished || s == RunError || s == RunCancelled || s == RunExpired
}

// Result is how a run ended.
type Result struct {
	RunID   string
	AgentID string
	Status  RunStatus
	// Text is the final answer.
	Text string
	// ErrorCode may be empty even for a failed run.
	ErrorCode string
	// Reason is the last readable status message; for a failed run, why.
	Reason   string
	Model    string
	Duration time.Duration
	Usage    Usage
}
