package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/tools"
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

// Bounds of direct calls.
const (
	// MaxToolCall is the longest that one takes, what surrounds the tool included.
	MaxToolCall = tools.MaxTimeout + time.Minute
	// maxDirectCalls is how many are under way at once: they take processes of the
	// host, beside those of the turns.
	maxDirectCalls = 8
)

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
	ErrAgentTool = tools.ErrAgentTool
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

// DirectTool is a tool that people may call, described for them.
type DirectTool struct {
	Name        string
	Description string
	// Effect is "read", "write", or the condition under which a call only reads, and
	// Approval "never", "always", or the condition under which a call waits.
	Effect   string
	Approval string
	// Risk is empty where no call waits.
	Risk                      approvals.Risk
	InputSchema, OutputSchema json.RawMessage
}

// DirectTools returns the tools that people may call in a session, or outside of
// one where its id is empty, by name. A session that does not exist is
// [state.ErrNotFound].
func (e *Engine) DirectTools(ctx context.Context, sessionID string) ([]DirectTool, error) {
	turn := e.scratchTurn(ToolCall{})
	if sessionID != "" {
		sess, err := e.store.Session(ctx, sessionID)
		if err == nil {
			_, turn, err = e.sessionTurn(ctx, sess, ToolCall{})
		}
		if err != nil {
			return nil, fmt.Errorf("list the tools of session %.80q: %w", sessionID, err)
		}
	}
	var all []DirectTool
	registry := e.agent().Tools
	if registry == nil {
		return nil, nil
	}
	for _, t := range registry.Direct(turn) {
		d := DirectTool{
			Name: t.Name, Description: t.Description, Effect: t.DescribeEffect(), Approval: t.DescribeGate(),
			InputSchema: t.InputSchema, OutputSchema: t.OutputSchema,
		}
		if t.Gate != nil {
			d.Risk = t.Gate.Risk
			if d.Risk == "" {
				d.Risk = approvals.RiskMedium
			}
		}
		all = append(all, d)
	}
	return all, nil
}

// CallTool calls a tool without an agent, as an agent's call would be made: the
// same checks, the same gates, the same answers. A call in a session has the
// session for itself: while a turn runs or waits it is refused, and turns that
// come meanwhile wait for it. A gated call does not wait for its decision; its
// answer is the open approval.
//
// Errors: [*UnknownToolError], [ErrAgentTool], [ErrToolInput], [ErrSessionBusy],
// [ErrTask], and those of [Engine.Send]. What a tool itself fails with is an
// answer. When ctx ends first its error is returned, and the call goes on.
func (e *Engine) CallTool(ctx context.Context, c ToolCall) (ToolAnswer, error) {
	var answer ToolAnswer
	answered, err := e.beginDirect(ctx, c)
	if err == nil {
		select {
		case got := <-answered:
			answer, err = got.ToolAnswer, got.err
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	if err != nil {
		return ToolAnswer{}, fmt.Errorf("call tool %.80q: %w", c.Tool, err)
	}
	return answer, nil
}

// directAnswer is how a direct call ended. The error is the host's, not the tool's.
type directAnswer struct {
	ToolAnswer
	err error
}

// beginDirect checks a call and begins it.
func (e *Engine) beginDirect(ctx context.Context, c ToolCall) (<-chan directAnswer, error) {
	if c.SessionID != "" && !state.ValidSessionID(c.SessionID) {
		return nil, state.ErrNotFound
	}
	if !e.taking.Load() || e.actors.isStopping() {
		return nil, fmt.Errorf("the service is starting or stopping: %w", state.ErrUnavailable)
	}
	if e.directs.Add(1) > maxDirectCalls {
		e.directs.Add(-1)
		return nil, fmt.Errorf("%d calls are under way, which is all that run at once: %w", maxDirectCalls, state.ErrUnavailable)
	}
	var answered <-chan directAnswer
	var err error
	if c.SessionID == "" {
		answered, err = e.beginScratch(c)
	} else {
		answered, err = ask(ctx, e, c.SessionID, func(a *actor) (<-chan directAnswer, error) { return a.beginDirect(c) })
	}
	if err != nil {
		e.directs.Add(-1)
	}
	return answered, err
}

// newDirect checks what is called against the tools that the turn has.
func (e *Engine) newDirect(turn tools.Turn, c ToolCall) (*directCall, error) {
	agent := e.agent()
	var all []tools.Tool
	if agent.Tools != nil {
		all = agent.Tools.Direct(turn)
	}
	var names []string
	for _, t := range all {
		if t.Name != c.Tool {
			names = append(names, t.Name)
			continue
		}
		if err := agent.Tools.Check(t.Name, c.Input); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrToolInput, err)
		}
		return &directCall{e: e, agent: agent, tool: t, call: tools.Call{
			Turn: turn, CallID: "tool_" + t.Name + "_" + e.newID(), Input: c.Input,
		}}, nil
	}
	if slices.Contains(agent.Scripts, c.Tool) {
		return nil, ErrAgentTool
	}
	return nil, &UnknownToolError{Tool: c.Tool, Names: names}
}
