package local

import (
	"context"
	"time"

	"github.com/liaison-bot/liaison/bridge/local/toolserver"
)

// engine is what answers a message: a model with its tools, or code that needs
// none. The model id of an agent chooses it.
type engine interface {
	// Models are those that the engine answers for, the preferred one first. It
	// does not ask anybody; an engine that has to is a [lister].
	Models() []model
	// Tools are the built-in tools that it can use when nothing is taken away.
	Tools() []string
	// Run answers one message. It reports what it does through emit, which is
	// safe to call until Run returns and must not be called after it. The
	// returned text is the answer; its fragments were emitted as [said], after
	// whatever a model said on the way to it.
	// An error that a person shall read as the reason is a [*runFailure]; the
	// answer's usage counts also then. Run returns soon after ctx is done.
	Run(ctx context.Context, t task, emit func(event)) (answer, error)
}

// able is an engine that says what it can do with a message; one that says
// nothing can do nothing of it.
type able interface{ Abilities() abilities }

// abilities are what an engine makes use of when it is given.
type abilities struct {
	Images      bool
	CustomTools bool
	Subagents   bool
	Servers     bool
}

func abilitiesOf(e engine) abilities {
	if a, ok := e.(able); ok {
		return a.Abilities()
	}
	return abilities{}
}

// lister is an engine that answers for the models that somebody else lists.
type lister interface {
	// Refresh asks for the list when it is old, or when it lacks a model that is
	// wanted, and returns within seconds, with an answer or without.
	Refresh(ctx context.Context, wanted string)
	// Accepts reports whether the engine answers for a model that is not among
	// its Models, because nobody can say which there are.
	Accepts(id string) bool
	// Unlisted says, for a caller, why the list could not be had; nil when there is one.
	Unlisted() error
}

// model is one entry of ListModels.
type model struct {
	ID          string
	Name        string
	Description string
}

// task is what an engine is asked to do.
type task struct {
	AgentID string
	RunID   string
	Model   string
	// Dir is the working directory, absolute.
	Dir string
	// ExtraDirs are further directories that the agent may read, absolute.
	ExtraDirs []string
	// Prompt is the user's message.
	Prompt string
	// Images are part of the message.
	Images []image
	// Tools are the built-in tools that the agent may use in this run.
	Tools []string
	// Custom are the caller's tools, and CallCustom calls one of them: the result is
	// what the caller answered, as JSON; [readAnswer] takes it apart. An error of it
	// is for the model to read unless ctx is done. CallCustom reports the call as a
	// tool call named mcp itself, the engine does not. The id is the engine's own
	// for the call and may be empty; what the caller sees is unique for the agent.
	// CallCustom may be called concurrently, and is nil when Custom is empty.
	Custom     []customTool
	CallCustom func(ctx context.Context, callID, name string, args map[string]any) (map[string]any, error)
	// Subagents may be given work when Tools has "task".
	Subagents []subagent
	// Servers have tools too, where Tools of the policy leave "mcp".
	Servers []toolserver.Server
	// Plan asks for a plan only: nothing may be changed.
	Plan bool
	// Memory is what the engine kept of the agent's earlier runs.
	Memory memory
}

// image is a picture in a message: a URL, or its bytes in base64 with their type.
type image struct {
	URL      string
	Data     string
	MIMEType string
}

// customTool is a tool that the caller serves.
type customTool struct {
	Name        string
	Description string
	// InputSchema is a JSON Schema; nil when the caller gave none.
	InputSchema map[string]any
}

// subagent is an agent that the agent may give work to.
type subagent struct {
	Name        string
	Description string
	Prompt      string
	// Model is empty for the agent's own.
	Model string
}

// memory is one blob that an engine keeps for an agent between runs, such as
// the conversation so far. What Keep was given last is stored when the run ends,
// however it ends.
type memory interface {
	// Recall returns nil when nothing was kept.
	Recall() ([]byte, error)
	Keep(data []byte)
}

// answer is how a run ended well.
type answer struct {
	Text  string
	Usage usage
}

// event is one thing that an engine reports while it runs.
type event interface {
	// message is the type of the sdk_message and its own fields.
	message() (kind string, fields map[string]any)
}

// thought is a fragment of the engine's reasoning. The last one has an empty
// text and says how long the thinking took.
type thought struct {
	Text string
	Took time.Duration
}

// toolStart and toolEnd report a call of a tool.
type (
	toolStart struct {
		CallID string
		Name   string
		Args   map[string]any
	}
	toolEnd struct {
		CallID string
		Name   string
		Args   map[string]any
		Result map[string]any
		Failed bool
	}
)

// delta is a fragment that only a caller who asked for deltas sees, such as a
// few words of the answer before [said] has the paragraph. Type and fields are
// those of an interaction_update. It is never recorded. An engine reports
// [deltaText] and [deltaThinking] only, and may leave them out: the bridge makes
// the others, and these too for what was said or thought without them.
type delta struct {
	Type   string
	Fields map[string]any
}

// said is a fragment of the answer.
type said struct{ Text string }

// spent is what the run has used so far, so that whoever drives the bridge can
// end a run that uses too much. Its end is told by the bridge.
type spent struct{ Usage usage }

func (e delta) message() (string, map[string]any) { return e.Type, e.Fields }

func (e thought) message() (string, map[string]any) {
	m := map[string]any{"text": e.Text}
	if e.Text == "" {
		m["thinking_duration_ms"] = e.Took.Milliseconds()
	}
	return "thinking", m
}

func (e toolStart) message() (string, map[string]any) {
	return "tool_call", map[string]any{"call_id": e.CallID, "name": e.Name, "status": "running", "args": e.Args}
}

func (e toolEnd) message() (string, map[string]any) {
	status := "completed"
	if e.Failed {
		status = "error"
	}
	return "tool_call", map[string]any{"call_id": e.CallID, "name": e.Name, "status": status, "args": e.Args, "result": e.Result}
}

func (e spent) message() (string, map[string]any) {
	return "usage", map[string]any{"usage": e.Usage.fields()}
}

func (e said) message() (string, map[string]any) {
	return "assistant", map[string]any{"message": map[string]any{
		"role":    "assistant",
		"content": []any{map[string]any{"type": "text", "text": e.Text}},
	}}
}

// runFailure is a run's failure with the reason that a person reads.
type runFailure struct {
	// Code is short and for machines, such as "tool_not_allowed".
	Code string
	// Reason says what happened and what to do.
	Reason string
}

func (f *runFailure) Error() string { return f.Reason }
