package tools

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/liaison-bot/liaison/approvals"
)

// Tool is a typed action that an agent may call on the host.
type Tool struct {
	// Name is what the agent calls it by: letters, digits, '_' and '-', at most 64.
	Name        string
	Description string
	// InputSchema is the JSON Schema of the input, an object's. Input that does
	// not match never reaches Run. OutputSchema describes what a result's Output
	// is, for who reads that; nothing is held to it.
	InputSchema  json.RawMessage
	OutputSchema json.RawMessage
	// Offered reports whether a turn gets the tool. Nil means every turn.
	Offered func(t Turn) bool
	// Direct reports whether people may call it without an agent. Nil means no.
	Direct func() bool
	// Effect says what a call with this input does. Nil means [Write].
	Effect func(input json.RawMessage) Effect
	// EffectNote is what people are told of Effect where that depends on the input:
	// the condition under which a call only reads.
	EffectNote string
	// DryRun is what a call answers that writes where nothing may be written; nil
	// stands for "Operation acknowledged.".
	DryRun json.RawMessage
	// Gate says which calls wait for a person. Nil means none.
	Gate *Gate
	// Timeout bounds a call; zero leaves that to who calls.
	Timeout time.Duration
	// Fingerprint identifies what would run. It changes when that does; a call that
	// somebody agreed to is not made by another one. Empty for what never changes
	// while the process lives.
	Fingerprint string
	// Run does it. It is called concurrently, and its context ends with the turn.
	// A returned error is told to the agent, masked, as a failed call.
	Run func(ctx context.Context, c Call) (Result, error)
	// Look finds out, after the process was lost while the tool ran, whether this
	// call did what it shall. The error [ErrOutcomeUnknown] says that nobody can tell.
	// Nil means that nobody can.
	Look func(ctx context.Context, c Call) (Result, error)
}

// Effect is what a call does to the world outside the host.
type Effect string

// The effects. A turn in which something wrote is never run again by itself.
const (
	Read  Effect = "read"
	Write Effect = "write"
)

// Reads is the [Tool.Effect] of a tool that never writes.
func Reads(json.RawMessage) Effect { return Read }

// Gate says which calls of a tool wait for a person, and for whom.
type Gate struct {
	// Needs reports whether a call waits. An error means that it does.
	Needs func(c Call) (bool, error)
	// Note is what people are told of Needs: the condition. Empty means always.
	Note string
	// Policy says who may decide about a call.
	Policy func(c Call) approvals.Policy
	Risk   approvals.Risk
}

// ErrOutcomeUnknown says that it cannot be told whether a call was made.
var ErrOutcomeUnknown = errors.New("it cannot be told whether it was done")

// Turn is the turn for which an agent runs, or that a direct call stands for.
type Turn struct {
	SessionID string
	TurnID    string
	// Attempt is which start of the turn it is; zero for a direct call.
	Attempt int
	// Key is the session's continuation key, such as "github:repo:7:pull:12"; empty
	// where it is a credential. Subject names what the turn is about, such as
	// "octo/shop#12"; empty where that is unknown.
	Key     string
	Subject string
	// Channel is the surface that asked, and Request its own description of the work.
	Channel string
	Request json.RawMessage
	// Principal is for whom the agent works, or who calls.
	Principal string
	// Mode is the session's: "chat" or "task".
	Mode string
	// Surface is what the channel asked to remember of the session.
	Surface map[string]string
	// Dir is the agent's working directory, absolute.
	Dir string
	// DryRun is set when nothing shall be written to the world.
	DryRun bool
}

// Call is one call of a tool.
type Call struct {
	Turn
	// AgentID and CallID name the call; a call is made once for each pair. CallID is
	// empty when the bridge gave none. AgentID is empty for a direct call.
	AgentID, CallID string
	// ApprovalID is the record of the decision by which the call is made, and empty
	// where it needed none. A write that has it is marked with it, so that Look finds it.
	ApprovalID string
	Input      json.RawMessage
}

// Result is what a tool answers.
type Result struct {
	// Text is what the agent reads.
	Text string
	// Images are shown to the agent beside the text.
	Images []Image
	// IsError says that the call failed in a way that the agent shall know of.
	IsError bool
	// Structured is the result as one JSON object, for agents that read such. Nil has none.
	Structured json.RawMessage
	// Output is kept with the turn under the tool's name, in the place of an
	// earlier one, before the agent gets its answer; at most 256 KiB of JSON. Its
	// channel finds it in the turn. Nil keeps nothing.
	Output json.RawMessage
	// Stubbed is set when nothing was run because nothing may be written.
	Stubbed bool
	// Final asks for the end of the turn after this answer.
	Final bool
}

// Image is a picture in a result.
type Image struct {
	Data     []byte
	MIMEType string
}
