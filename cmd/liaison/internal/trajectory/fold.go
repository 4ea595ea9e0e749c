package trajectory

import (
	"cmp"
	"encoding/json"
	"strings"
)

// fold puts events together, in the order of the record.
type fold struct {
	t     *Trajectory
	turns map[string]*Turn
	calls map[string]*ToolCall
}

func newFold() *fold {
	return &fold{t: &Trajectory{Turns: []*Turn{}}, turns: map[string]*Turn{}, calls: map[string]*ToolCall{}}
}

// turn returns the turn that an event belongs to.
func (f *fold) turn(id string) *Turn {
	t := f.turns[id]
	if t == nil {
		t = &Turn{TurnID: id, Status: "queued", ToolCalls: []*ToolCall{}}
		f.turns[id] = t
		f.t.Turns = append(f.t.Turns, t)
	}
	return t
}

func (f *fold) add(e *event) {
	f.t.Events++
	if f.t.SessionID == "" {
		f.t.SessionID = e.SessionID
	}
	d := &e.Data
	switch e.Type {
	case "session.started":
		// A session that is opened again may say less of itself.
		f.t.Channel = cmp.Or(d.Channel, f.t.Channel)
		f.t.Title = cmp.Or(d.Title, f.t.Title)
	case "message.received":
		t := f.turn(e.TurnID)
		t.Message = joined(t.Message, d.Text)
	case "turn.queued":
		f.turn(e.TurnID).Status = "queued"
	case "turn.started":
		t := f.turn(e.TurnID)
		t.Status, t.StartedAt = "running", e.At
	case "step.completed":
		t := f.turn(e.TurnID)
		t.Steps = append(t.Steps, &Step{Name: d.Step, Note: d.Note, DurationMS: d.DurationMS})
	case "message.appended":
		t := f.turn(e.TurnID)
		t.written = append(t.written, d.Text...)
	case "message.completed":
		t := f.turn(e.TurnID)
		t.Reply, t.written = d.Text, nil
	case "actions.requested":
		f.requested(e)
	case "action.result":
		f.result(e)
	case "turn.completed", "turn.failed":
		f.ended(e)
	}
}

func joined(a, b string) string {
	if a == "" {
		return b
	}
	return a + "\n\n" + b
}

func (f *fold) requested(e *event) {
	t := f.turn(e.TurnID)
	for _, a := range e.Data.Actions {
		call := &ToolCall{CallID: a.CallID, Name: a.Name, Args: a.Args, Truncated: a.Truncated, requestedAt: e.At}
		t.ToolCalls = append(t.ToolCalls, call)
		f.calls[key(e.TurnID, a.CallID)] = call
	}
}

// key tells calls apart: bridges count them anew in each run.
func key(turnID, callID string) string { return turnID + "\x00" + callID }

func (f *fold) result(e *event) {
	d := &e.Data
	call := f.calls[key(e.TurnID, d.CallID)]
	if call == nil {
		call = &ToolCall{CallID: d.CallID, Name: d.Name, requestedAt: e.At}
		t := f.turn(e.TurnID)
		t.ToolCalls = append(t.ToolCalls, call)
	}
	call.Done = true
	call.Result, call.IsError, call.Error = d.Result, d.IsError, d.Error
	call.Truncated = call.Truncated || d.Truncated
	call.DurationMS = max(0, e.At.Sub(call.requestedAt).Milliseconds())
}

func (f *fold) ended(e *event) {
	t, d := f.turn(e.TurnID), &e.Data
	t.EndedAt = e.At
	t.Usage = d.Usage
	t.CostUSD = d.CostUSD
	if d.Model != "" {
		t.Model = d.Model
	}
	if e.Type == "turn.completed" {
		t.Status = "completed"
		var result string
		if json.Unmarshal(d.Result, &result) == nil && result != "" {
			t.Reply = result
		}
		return
	}
	t.Status, t.Error = "failed", d.Error
	if d.Interrupted {
		t.Status = "interrupted"
	}
	if d.Reason != "" && !strings.Contains(t.Error, d.Reason) {
		t.Error = strings.TrimPrefix(t.Error+": "+d.Reason, ": ")
	}
}

// end returns the whole, with what was still being said.
func (f *fold) end() *Trajectory {
	for _, t := range f.t.Turns {
		if t.Reply == "" {
			t.Reply = string(t.written)
		}
		if t.Reply != "" {
			f.t.Reply = t.Reply
		}
		f.t.Usage = f.t.Usage.Plus(t.Usage)
		f.t.CostUSD += t.CostUSD
	}
	return f.t
}
