package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/internal/unseen"
	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/tools"
)

// directCall is a direct call under way.
type directCall struct {
	e     *Engine
	agent Agent
	tool  tools.Tool
	// call has a turn's id of its own, under which it is recorded; view is that turn
	// as the session's channel would see it, and empty outside of sessions.
	call   tools.Call
	view   Turn
	cancel context.CancelCauseFunc
	// approvalID is the record of a call that waits for a person.
	approvalID string
	// wrote is set once the audit log has that the tool writes.
	wrote bool
}

// launch makes the call in a goroutine that is waited for at the end, as turns
// are. settle, which may be nil, is told how it ended before anybody is.
func (d *directCall) launch(dir string, settle func(directAnswer)) <-chan directAnswer {
	ctx, cancel := context.WithCancelCause(d.e.actors.turns)
	d.cancel = cancel
	answered := make(chan directAnswer, 1)
	d.e.actors.run(func() {
		defer d.e.directs.Add(-1)
		defer cancel(nil)
		got := directAnswer{err: errPanicked}
		defer func() { answered <- got }()
		got = d.make(ctx, dir)
		if settle != nil {
			settle(got)
		}
	})
	return answered
}

// make lays out the workspace and calls the tool.
func (d *directCall) make(ctx context.Context, dir string) directAnswer {
	began := d.e.now()
	limit := MaxToolCall // a tool that names its time is held to it by the registry
	if d.tool.Timeout == 0 {
		limit = tools.DefaultTimeout
	}
	bounded, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("tool %s has not answered within %s", d.tool.Name, limit))
	defer cancel()
	d.call.Dir = dir
	var result tools.Result
	err := d.e.layOut(bounded, d.agent, dir)
	if err == nil {
		result, err = d.agent.Tools.Call(bounded, d.call, d.tool.Name, directLedger{d})
	}
	answer := directAnswer{ToolAnswer: ToolAnswer{
		Tool: d.tool.Name, CallID: d.call.CallID, SessionID: d.call.SessionID,
		DurationMS: d.e.now().Sub(began).Milliseconds(),
	}}
	switch {
	case d.approvalID != "":
		view, err := d.e.Approval(context.WithoutCancel(ctx), d.approvalID)
		answer.Approval, answer.err = &view, err
		return answer
	case bounded.Err() != nil && err != nil:
		result = tools.Result{Text: context.Cause(bounded).Error(), IsError: true}
		if d.wrote {
			result.Text += "; nobody knows whether it did its work"
		}
	case err != nil:
		d.e.noteToolError(d.call, d.tool.Name, err)
		if errors.Is(err, state.ErrUnavailable) {
			answer.err = err
			return answer
		}
		result = tools.Result{Text: err.Error(), IsError: true}
	}
	answer.IsError, answer.Stubbed = result.IsError, result.Stubbed
	answer.Result = d.e.resultValue(result)
	return answer
}

// layOut writes what the agent's author gives to every workspace.
func (e *Engine) layOut(ctx context.Context, a Agent, dir string) error {
	if a.LayOut == nil {
		return nil
	}
	err := guard("LayOut of the agent", e.redact, func() error { return a.LayOut(ctx, dir) })
	if err != nil {
		return fmt.Errorf("lay out the agent's workspace: %w", err)
	}
	return nil
}

// resultValue is what a tool answered as one JSON value, masked: its structured
// result, else its text; with images, all parts as an agent gets them.
func (e *Engine) resultValue(r tools.Result) json.RawMessage {
	text := e.redact(r.Text)
	if len(r.Images) > 0 {
		type part struct {
			Type     string `json:"type"`
			Text     string `json:"text,omitempty"`
			Data     []byte `json:"data,omitempty"`
			MIMEType string `json:"mimeType,omitempty"`
		}
		content := []part{{Type: "text", Text: text}}
		for _, i := range r.Images {
			content = append(content, part{Type: "image", Data: i.Data, MIMEType: i.MIMEType})
		}
		return encoded(map[string]any{"content": content})
	}
	if len(r.Structured) > 0 {
		if value, ok := masked(r.Structured, e.redact); ok {
			return json.RawMessage(value)
		}
	}
	return encoded(text)
}

// result is the event of the call's end.
func (d *directCall) result(got directAnswer) actionResult {
	ended := actionResult{CallID: d.call.CallID, Name: d.tool.Name, IsError: got.IsError, Stubbed: got.Stubbed}
	if got.err != nil {
		ended.IsError, ended.Error = true, clip(d.e.redact(got.err.Error()), maxReasonText)
		return ended
	}
	ended.Result = recordable(got.Result, d.e.redact)
	ended.Truncated = len(got.Result) > maxActionData
	return ended
}

// requested is the event of its beginning.
func (d *directCall) requested() actionsRequested {
	return actionsRequested{Actions: []action{{
		CallID: d.call.CallID, Name: d.tool.Name, Args: recordable(d.call.Input, d.e.redact),
		Truncated: len(d.call.Input) > maxActionData,
	}}}
}

// ended is what the audit log is told of a call that wrote and asked nobody.
func (d *directCall) ended(got directAnswer) []state.AuditEntry {
	if !d.wrote {
		return nil
	}
	action, reason := string(approvals.Done), ""
	if got.IsError || got.err != nil {
		action, reason = string(approvals.Failed), string(got.Result)
	}
	entry := d.entry(action)
	entry.Reason, entry.DurationMS = reason, got.DurationMS
	return []state.AuditEntry{d.e.auditEntry(entry)}
}

func (d *directCall) entry(action string) approvals.Entry {
	return callEntry(d.call, d.tool.Name, ChannelHTTP, action, d.e.now())
}

// directLedger is the ledger of a call that no turn makes.
type directLedger struct{ d *directCall }

// Acting has the audit log know of a write before it is made.
func (l directLedger) Acting(ctx context.Context, _ tools.Call, _ string) error {
	entry := l.d.e.auditEntry(l.d.entry(approvals.ActionCalled))
	if _, err := l.d.e.store.Commit(ctx, state.Change{Audit: []state.AuditEntry{entry}}); err != nil {
		return fmt.Errorf("it could not be written to the audit log: %w", err)
	}
	l.d.wrote = true
	return nil
}

// Keep keeps nothing: an output is for the channel of a turn.
func (directLedger) Keep(context.Context, tools.Call, string, tools.Result) error { return nil }

// Ask makes a record of the call in its session, or in one that is made for it.
func (l directLedger) Ask(ctx context.Context, c tools.Call, t tools.Tool) (tools.Result, error) {
	d := l.d
	if c.SessionID == "" {
		if err := d.openHome(ctx); err != nil {
			return tools.Result{}, err
		}
		c = d.call
	}
	result, err := ledger{d.e}.Ask(ctx, c, t)
	if err == nil {
		d.approvalID = pendingApproval(result)
	}
	return result, err
}

// pendingApproval is the id in the answer to a call that waits; empty in any other.
func pendingApproval(r tools.Result) string {
	var said struct {
		Status     string `json:"status"`
		ApprovalID string `json:"approval_id"`
	}
	text := r.Structured
	if len(text) == 0 {
		text = json.RawMessage(r.Text)
	}
	if json.Unmarshal(text, &said) != nil || !approvals.ValidID(said.ApprovalID) {
		return ""
	}
	return said.ApprovalID
}

// maxAuditInput bounds an input in the audit log, in bytes.
const maxAuditInput = 4 << 10

// auditEntry makes a line of the audit log, with secrets masked.
func (e *Engine) auditEntry(entry approvals.Entry) state.AuditEntry {
	if input, ok := shownJSON(json.RawMessage(entry.Input), e.redact); ok || entry.Input != "" {
		entry.Input = clip(input, maxAuditInput)
	}
	entry.Reason = clip(unseen.Joined(entry.Reason, e.redact), maxReasonText)
	entry.At = entry.At.UTC().Truncate(time.Millisecond)
	return state.AuditEntry{At: entry.At, Entry: encoded(entry)}
}
