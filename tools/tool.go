package tools

import (
	"context"
	"encoding/json"
)

// Tool is a typed action that an agent may call on the host.
type Tool struct {
	// Name is what the agent calls it by: letters, digits, '_' and '-', at most 64.
	Name        string
	Description string
	// InputSchema is the JSON Schema of the input, an object's. Input that does
	// not match never reaches Run.
	InputSchema json.RawMessage
	// Offered reports whether a turn gets the tool. Nil means every turn.
	Offered func(t Turn) bool
	// Writes is set when the tool does something to the world outside the host. Such a
	// turn is never run again by itself.
	Writes bool
	// Run does it. It is called concurrently, and its context ends with the turn.
	// A returned error is told to the agent, masked, as a failed call.
	Run func(ctx context.Context, c Call) (Result, error)
}

// Turn is the turn for which an agent runs.
type Turn struct {
	SessionID string
	TurnID    string
	// Channel is the surface that asked, and Request its own description of the work.
	Channel string
	Request json.RawMessage
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
	// empty when the bridge gave none.
	AgentID, CallID string
	Input           json.RawMessage
}

// Result is what a tool answers.
type Result struct {
	// Text is what the agent reads.
	Text string
	// IsError says that the call failed in a way that the agent shall know of.
	IsError bool
	// Output is kept with the turn under the tool's name, in the place of an
	// earlier one, before the agent gets its answer; at most 256 KiB of JSON. Its
	// channel finds it in the turn. Nil keeps nothing.
	Output json.RawMessage
}
