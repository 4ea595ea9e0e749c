package bridge

import (
	"context"
	"encoding/json"
)

// Tool is a function of this program that an agent may call.
type Tool struct {
	// Name is what the agent calls it by: letters, digits, '_' and '-', at most 64.
	Name        string
	Description string
	// InputSchema is the JSON Schema of the arguments, an object's; any object when
	// nil. Arguments that do not match are refused before Call sees them.
	InputSchema json.RawMessage
	// Unchecked hands all arguments to Call that are an object's, also those that do
	// not match InputSchema, which Call then checks itself.
	Unchecked bool
	// OutputSchema describes the result to the agent; it is not enforced.
	OutputSchema json.RawMessage
	// Call runs the tool. It is called concurrently, and once for each call of the
	// agent however often the bridge asks. Its context ends with the run, and has no
	// deadline of ours. A returned error, after Options.Redact, is told to the agent
	// as a failed call; of a panic it learns no more than that. The result is
	// refused above 1 MiB of JSON.
	Call func(ctx context.Context, c ToolInvocation) (ToolResult, error)
}

// ToolInvocation is one call of a tool.
type ToolInvocation struct {
	AgentID string
	// RunID is empty when the call came before the run had a name.
	RunID string
	// CallID is the [ToolCall.CallID] of the run's events; empty when the bridge gave none.
	CallID string
	Tool   string
	Args   json.RawMessage
}

// ToolResult is what a tool answers. With Content or IsError it goes over the
// wire in the rich form, otherwise as Value alone.
type ToolResult struct {
	// Value is any JSON value; what is not an object is wrapped as {"value": …}.
	// Numbers travel as float64: send whole numbers beyond 2^53 as text.
	Value any
	// Content is what the agent reads instead of Value, which becomes the structured content.
	Content []ToolContent
	// IsError says that the call failed in a way that the agent shall know of.
	IsError bool
}

// ToolContent is a part of a rich result: text, or an image with its MIME type.
type ToolContent struct {
	Text     string
	Image    []byte
	MIMEType string
}
