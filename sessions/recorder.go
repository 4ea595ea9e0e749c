package sessions

import (
	"encoding/json"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/liaison-bot/liaison/bridge"
)

// recorder turns the events of one run into events of the session's record:
// masked, bounded, and no more of them than a person can read.
type recorder struct {
	e                 *Engine
	sessionID, turnID string

	mu     sync.Mutex
	closed bool
	// failed keeps a full disk from filling the log too.
	failed bool
	answer stream
	reason stream
	timer  *time.Timer
	// open are the actions that were requested and have no result yet, in order.
	open []string
	// known are the names of all actions that were requested.
	known map[string]string
	// stubs are the actions that were only acknowledged.
	stubs map[string]bool
	// bound is the agent elsewhere whose address is on record.
	bound string
	// step is when the model's step began that is under way.
	step time.Time
}

// stream is one of the two kinds of streamed text.
type stream struct {
	text                *textStream
	appended, completed string
}

func newRecorder(e *Engine, sessionID, turnID string) *recorder {
	return &recorder{
		e: e, sessionID: sessionID, turnID: turnID, known: make(map[string]string), stubs: make(map[string]bool),
		answer: stream{appended: EventMessageAppended, completed: EventMessageCompleted},
		reason: stream{appended: EventReasoningAppended, completed: EventReasoningCompleted},
	}
}

// observe records one event of the run.
func (r *recorder) observe(ev bridge.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bind(ev.AgentID)
	switch p := ev.Payload.(type) {
	case bridge.Assistant:
		r.complete(&r.reason, 0)
		r.append(&r.answer, p.Text)
		for _, use := range p.ToolUses {
			r.request(use.ID, use.Name, use.Input, false)
		}
	case bridge.Thinking:
		r.complete(&r.answer, 0)
		r.append(&r.reason, p.Text)
		if p.Text == "" {
			r.complete(&r.reason, p.Duration)
		}
	case bridge.ToolCall:
		r.toolCall(p)
	case bridge.Task:
		r.task(p)
	case bridge.Delta:
		r.modelStep(p)
	}
}

// stubbed says that an action was only acknowledged, before its result is known.
func (r *recorder) stubbed(callID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stubs[callID] = true
}

// cloudAgents is the prefix of the ids of agents that run at the provider, and
// cloudAddress where people who may see one find it
// (https://forum.cursor.com/t/open-by-id-url-for-the-cloud-agent/159908).
const (
	cloudAgents  = "bc-"
	cloudAddress = "https://cursor.com/agents/"
)

// isElsewhere reports whether an agent runs at the provider.
func isElsewhere(agentID string) bool { return strings.HasPrefix(agentID, cloudAgents) }

// bind records once where an agent is that does not run here.
func (r *recorder) bind(agentID string) {
	if r.bound == agentID || !isElsewhere(agentID) {
		return
	}
	r.bound = agentID
	r.write(EventAgentBound, agentBound{AgentID: agentID, URL: cloudAddress + url.PathEscape(agentID)})
}

// modelStep records the bounds of a step of the model, where the bridge reports
// them. How long it took is measured here: some bridges do not say.
func (r *recorder) modelStep(d bridge.Delta) {
	switch d.Type {
	case "step-started":
		r.step = r.e.now()
		r.write(EventStepStarted, stepStarted{Step: stepModel})
	case "step-completed":
		if r.step.IsZero() {
			return
		}
		r.complete(&r.reason, 0)
		r.complete(&r.answer, 0)
		r.write(EventStepCompleted, stepCompleted{Step: stepModel, DurationMS: r.e.now().Sub(r.step).Milliseconds()})
		r.step = time.Time{}
	}
}

// The steps of a turn: stepEvidence is that of the host, which prepares what the
// agent will read.
const (
	stepEvidence = "evidence"
	stepModel    = "model"
)

// stepStarted records that a step of the host begins.
func (r *recorder) stepStarted(step string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.write(EventStepStarted, stepStarted{Step: step})
}

// stepCompleted records that it succeeded. One that failed ends the turn, whose
// own event says why.
func (r *recorder) stepCompleted(step, note string, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.write(EventStepCompleted, stepCompleted{Step: step, Note: note, DurationMS: took.Milliseconds()})
}

// finish records what the run left open.
func (r *recorder) finish() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.complete(&r.reason, 0)
	r.complete(&r.answer, 0)
	for len(r.open) > 0 {
		r.result(actionResult{CallID: r.open[0], IsError: true, Error: "the run ended before the action did"})
	}
	r.stopTimer()
}

// close finishes, and drops whatever the run still brings.
func (r *recorder) close() {
	r.finish()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
}

func (r *recorder) append(s *stream, text string) {
	if text == "" {
		return
	}
	if s.text == nil {
		s.text = &textStream{redact: r.e.redact}
	}
	if s.text.add(text, r.e.now()) {
		r.flush(s, false)
		return
	}
	if r.timer == nil {
		r.timer = time.AfterFunc(appendEvery, func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.timer = nil
			r.flush(&r.reason, false)
			r.flush(&r.answer, false)
		})
	}
}

func (r *recorder) flush(s *stream, end bool) {
	if s.text == nil {
		return
	}
	if more := s.text.next(end); more != "" {
		r.write(s.appended, textAppended{Text: more})
	}
}

// complete ends a streamed text, if there is one.
func (r *recorder) complete(s *stream, took time.Duration) {
	if s.text == nil {
		return
	}
	r.flush(s, true)
	r.write(s.completed, textCompleted{Text: s.text.whole(), DurationMS: took.Milliseconds()})
	s.text = nil
}

func (r *recorder) toolCall(c bridge.ToolCall) {
	r.complete(&r.reason, 0)
	r.complete(&r.answer, 0)
	var args json.RawMessage
	c.Name, args = hostCall(c.Name, c.Args)
	r.request(c.CallID, c.Name, args, c.ArgsTruncated)
	c.Name = r.known[c.CallID] // the end of a call need not repeat its arguments
	if c.Status == bridge.ToolRunning {
		return
	}
	r.result(actionResult{
		CallID: c.CallID, Name: c.Name, IsError: c.Status == bridge.ToolError,
		Result: recordable(c.Result, r.e.redact), Truncated: c.ResultTruncated || len(c.Result) > maxActionData,
		Stubbed: r.stubs[c.CallID],
	})
}

// request records an action once, however often it is announced.
func (r *recorder) request(callID, name string, args json.RawMessage, truncated bool) {
	if _, known := r.known[callID]; known {
		return
	}
	r.known[callID] = name
	r.open = append(r.open, callID)
	r.write(EventActionsRequested, actionsRequested{Actions: []action{{
		CallID: callID, Name: name, Args: recordable(args, r.e.redact),
		Truncated: truncated || len(args) > maxActionData,
	}}})
}

// result records the end of an action once.
func (r *recorder) result(a actionResult) {
	for i, id := range r.open {
		if id == a.CallID {
			r.open = append(r.open[:i], r.open[i+1:]...)
			r.write(EventActionResult, a)
			return
		}
	}
}

func (r *recorder) task(t bridge.Task) {
	typ := EventSubagentCalled
	switch t.Status {
	case "completed", "finished", "error", "failed", "cancelled":
		typ = EventSubagentCompleted
	}
	r.write(typ, subagentReported{Status: t.Status, Text: clip(r.e.redact(t.Text), maxActionData)})
}

func (r *recorder) stopTimer() {
	if r.timer != nil {
		r.timer.Stop()
		r.timer = nil
	}
}

// write appends one event. Text of a run may be lost at a power failure, so it
// does not wait for the disk.
func (r *recorder) write(typ string, data any) {
	if r.closed {
		return
	}
	ev := newEvent(typ, r.sessionID, r.turnID, r.e.now(), data)
	err := r.e.records.append(r.e.actors.ctx, r.sessionID, ev)
	if err != nil && !r.failed {
		r.failed = true
		r.e.logger.Error("events of a run not recorded", "session", r.sessionID, "turn", r.turnID, "error", err)
	}
}
