package sessions

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/bridge"
	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/tools"
)

// toolTurn is a turn as its tools see it.
func (e *Engine) toolTurn(channel string, t Turn, dir string) tools.Turn {
	var subject string
	if c, ok := e.channels[channel].(Requesting); ok {
		_, _, subject = c.Requester(t)
	}
	return tools.Turn{
		Key: t.Key, Subject: subject, SessionID: t.SessionID, TurnID: t.ID, Attempt: t.Attempt, Channel: channel, Request: t.Request,
		Principal: t.Principal, Mode: string(t.Mode), Surface: t.Surface, Dir: dir, DryRun: t.DryRun,
	}
}

// hostTools are the tools of the host that a turn's agent gets. They can be
// called until ctx, the turn's, ends.
func (e *Engine) hostTools(ctx context.Context, turn tools.Turn, running *runningTurn) []bridge.Tool {
	registry := running.agent.Tools
	if registry == nil {
		return nil
	}
	var out []bridge.Tool
	for _, tool := range registry.Offered(turn) {
		out = append(out, bridge.Tool{
			Name: tool.Name, Description: tool.Description, InputSchema: tool.InputSchema, Unchecked: true,
			Call: func(run context.Context, c bridge.ToolInvocation) (bridge.ToolResult, error) {
				run, cancel := context.WithCancel(run)
				defer cancel()
				defer context.AfterFunc(ctx, cancel)()
				if ctx.Err() != nil {
					cancel() // AfterFunc does so a moment later
				}
				if by := running.ending.by(); by != "" {
					return toolResult(tools.Result{Text: "Nothing was run, because " + by + " asked for the end of the turn.", IsError: true, Final: true}, e.redact), nil
				}
				call := tools.Call{Turn: turn, AgentID: c.AgentID, CallID: c.CallID, Input: c.Args}
				result, err := e.callTool(run, registry, call, tool.Name)
				if err != nil {
					return bridge.ToolResult{}, err
				}
				if result.Stubbed {
					running.recorder.stubbed(c.CallID)
				}
				if result.Final {
					running.ending.begin(tool.Name)
				}
				return toolResult(result, e.redact), nil
			},
		})
	}
	return out
}

// callTool makes one call of an agent. The error is for the agent, masked.
func (e *Engine) callTool(ctx context.Context, registry *tools.Registry, c tools.Call, name string) (tools.Result, error) {
	l := &watched{ledger: ledger{e}}
	result, err := registry.Call(ctx, c, name, l)
	if !l.began.IsZero() {
		e.auditEnd(c, name, result, err, l.began)
	}
	switch {
	case errors.Is(err, ErrTurnNotRunning), errors.Is(err, context.Canceled):
		return tools.Result{}, fmt.Errorf("the turn that called tool %s is over", name)
	case err != nil:
		e.noteToolError(c, name, err)
		return tools.Result{}, errors.New(e.redact(err.Error()))
	}
	return result, nil
}

// endTurn follows the text of a result after which the turn shall end.
const endTurn = "\n\nEnd your turn now: say in a sentence or two what you have done and what is waited for, and call no more tools."

// toolResult is a result as the agent gets it: text first, masked, then images.
func toolResult(r tools.Result, redact func(string) string) bridge.ToolResult {
	text := redact(r.Text)
	if r.Final {
		text += endTurn
	}
	room := maxAnswer - len(text)
	out := bridge.ToolResult{IsError: r.IsError}
	if structured, ok := masked(r.Structured, redact); ok && len(structured) <= room {
		out.Value = json.RawMessage(structured)
		room -= len(structured)
	}
	var images []bridge.ToolContent
	left := 0
	for _, image := range r.Images {
		size := base64.StdEncoding.EncodedLen(len(image.Data))
		if size > room || len(image.Data) == 0 || !strings.HasPrefix(image.MIMEType, "image/") {
			left++
			continue
		}
		room -= size
		images = append(images, bridge.ToolContent{Image: image.Data, MIMEType: image.MIMEType})
	}
	if left > 0 {
		text += fmt.Sprintf("\n\n[images that are left out, because they are too large or none: %d]", left)
	}
	out.Content = append([]bridge.ToolContent{{Text: text}}, images...)
	return out
}

// maxAnswer bounds an answer in bytes: 1 MiB is what a bridge takes, with what goes
// around it.
const maxAnswer = 1<<20 - 2<<10

// noteToolError logs why the host could not make a call.
func (e *Engine) noteToolError(c tools.Call, name string, err error) {
	log := e.logger.With("tool", name, "session", c.SessionID, "turn", c.TurnID, "call", c.CallID)
	var panicked *tools.PanicError
	if errors.As(err, &panicked) {
		log.Error("a tool panicked", "panic", e.redact(fmt.Sprint(panicked.Value)), "stack", e.redact(string(panicked.Stack)))
		return
	}
	log.Warn("a tool could not be called", "error", err)
}

// registry has the tools that there are now.
func (e *Engine) registry() *tools.Registry { return e.agent().Tools }

// ledger keeps with a turn what its tools do and lay down.
type ledger struct{ e *Engine }

func (l ledger) Acting(ctx context.Context, c tools.Call, tool string) error {
	return l.e.noteWrite(ctx, c, tool)
}

func (l ledger) Keep(ctx context.Context, c tools.Call, tool string, r tools.Result) error {
	if err := l.e.keepAnswer(ctx, c, tool, r); err != nil || r.Output == nil {
		return err
	}
	return l.e.KeepOutput(ctx, c.SessionID, c.TurnID, tool, r.Output)
}

// watched is the ledger of one call of an agent.
type watched struct {
	ledger
	// began is when the audit log was told that the call writes; zero where it does not.
	began time.Time
}

func (l *watched) Acting(ctx context.Context, c tools.Call, tool string) error {
	err := l.ledger.Acting(ctx, c, tool)
	if err == nil {
		l.began = l.e.now()
	}
	return err
}

// auditEnd tells the audit log how a call ended that wrote and asked nobody. One that
// was cut short may have done its work or not.
func (e *Engine) auditEnd(c tools.Call, name string, r tools.Result, fault error, began time.Time) {
	action, reason := approvals.Done, ""
	switch {
	case errors.Is(fault, context.Canceled), errors.Is(fault, context.DeadlineExceeded):
		action, reason = approvals.Unknown, "the call was cut short"
	case fault != nil:
		action, reason = approvals.Failed, fault.Error()
	case r.IsError:
		action, reason = approvals.Failed, r.Text
	}
	ended := e.now()
	entry := callEntry(c, name, c.Channel, string(action), ended)
	entry.Reason, entry.DurationMS = reason, max(ended.Sub(began), 0).Milliseconds()
	if _, err := e.commit(e.actors.ctx, state.Change{Audit: []state.AuditEntry{e.auditEntry(entry)}}); err != nil {
		e.logger.Error("the end of a call is not in the audit log", "session", c.SessionID, "call", c.CallID, "error", err)
	}
}

// callEntry is a line of the audit log about a call that asks nobody.
func callEntry(c tools.Call, tool, place, action string, at time.Time) approvals.Entry {
	return approvals.Entry{
		At: at, Action: action, By: c.Principal, Place: place,
		SessionID: c.SessionID, TurnID: c.TurnID, CallID: c.CallID, Tool: tool, Subject: c.Subject,
		RequestedBy: c.Principal, InputHash: approvals.HashInput(c.Input), Input: string(c.Input),
	}
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
