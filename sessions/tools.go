package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/liaison-bot/liaison/bridge"
	"github.com/liaison-bot/liaison/tools"
)

// hostTools are the tools of the host that a turn's agent gets. They can be
// called until ctx, the turn's, ends.
func (e *Engine) hostTools(ctx context.Context, channel string, t Turn, dir string) []bridge.Tool {
	if e.tools == nil {
		return nil
	}
	turn := tools.Turn{
		SessionID: t.SessionID, TurnID: t.ID, Attempt: t.Attempt, Channel: channel, Request: t.Request,
		Principal: t.Principal, Surface: t.Surface, Dir: dir, DryRun: t.DryRun,
	}
	var out []bridge.Tool
	for _, tool := range e.tools.Offered(turn) {
		out = append(out, bridge.Tool{
			Name: tool.Name, Description: tool.Description, InputSchema: tool.InputSchema, Unchecked: true,
			Call: func(run context.Context, c bridge.ToolInvocation) (bridge.ToolResult, error) {
				run, cancel := context.WithCancel(run)
				defer cancel()
				defer context.AfterFunc(ctx, cancel)()
				if ctx.Err() != nil {
					cancel() // AfterFunc does so a moment later
				}
				return e.callTool(run, tools.Call{Turn: turn, AgentID: c.AgentID, CallID: c.CallID, Input: c.Args}, tool.Name)
			},
		})
	}
	return out
}

// callTool makes one call of an agent. What the agent reads of it is masked.
func (e *Engine) callTool(ctx context.Context, c tools.Call, name string) (bridge.ToolResult, error) {
	result, err := e.tools.Call(ctx, c, name, ledger{e})
	var panicked *tools.PanicError
	switch {
	case errors.As(err, &panicked):
		e.logger.Error("a tool panicked", "tool", name, "session", c.SessionID, "turn", c.TurnID, "call", c.CallID,
			"panic", e.redact(fmt.Sprint(panicked.Value)), "stack", e.redact(string(panicked.Stack)))
		return bridge.ToolResult{}, err
	case errors.Is(err, ErrTurnNotRunning), errors.Is(err, context.Canceled):
		return bridge.ToolResult{}, fmt.Errorf("the turn that called tool %s is over", name)
	case err != nil:
		e.logger.Warn("a tool could not be called", "tool", name, "session", c.SessionID, "turn", c.TurnID, "call", c.CallID, "error", err)
		return bridge.ToolResult{}, errors.New(e.redact(err.Error()))
	}
	return bridge.ToolResult{Content: []bridge.ToolContent{{Text: e.redact(result.Text)}}, IsError: result.IsError}, nil
}

// ledger keeps with a turn what its tools do and lay down.
type ledger struct{ e *Engine }

func (l ledger) Acting(ctx context.Context, c tools.Call, tool string) error {
	return l.e.NoteActed(ctx, c.SessionID, c.TurnID, tool)
}

func (l ledger) Keep(ctx context.Context, c tools.Call, tool string, r tools.Result) error {
	return l.e.KeepOutput(ctx, c.SessionID, c.TurnID, tool, r.Output)
}

// A bridge shows each call of a tool of the host's as one of the tool
// mcpTool, by the provider hostProvider.
const (
	mcpTool      = "mcp"
	hostProvider = "custom-user-tools"
)

// hostCall returns the name and the arguments of a call of a host's tool as the
// agent made it; of any other tool they are as they came.
func hostCall(name string, args json.RawMessage) (string, json.RawMessage) {
	if name != mcpTool {
		return name, args
	}
	var call struct {
		Provider string          `json:"providerIdentifier"`
		Tool     string          `json:"toolName"`
		Args     json.RawMessage `json:"args"`
	}
	if json.Unmarshal(args, &call) != nil || call.Provider != hostProvider || call.Tool == "" {
		return name, args
	}
	return clip(call.Tool, maxCodeText), call.Args
}
