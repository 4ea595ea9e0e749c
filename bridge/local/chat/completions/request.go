package completions

import "encoding/json"

// Request asks for a completion.
type Request struct {
	Model    string    `json:"model"`
	Messages []Message `json:"messages"`
	Tools    []Tool    `json:"tools,omitempty"`
	// ToolChoice is "none" where no tool may be called; by default the model decides.
	ToolChoice string `json:"tool_choice,omitempty"`
	// Stream is set by [Client.Stream].
	Stream        bool           `json:"stream,omitempty"`
	StreamOptions *StreamOptions `json:"stream_options,omitempty"`
}

// StreamOptions are about answers that come in pieces. Some endpoints refuse them.
type StreamOptions struct {
	// IncludeUsage asks for a count of tokens at the end.
	IncludeUsage bool `json:"include_usage"`
}

// The roles of messages.
const (
	RoleSystem    = "system"
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleTool      = "tool"
)

// Message is one message of a conversation.
type Message struct {
	Role string `json:"role"`
	// Content is left out when nil, which an assistant's message with calls may have.
	Content Content `json:"content,omitzero"`
	// ToolCalls are the assistant's, and ToolCallID is the one that a tool's message answers.
	ToolCalls  []ToolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
	// ReasoningContent is what some models want back with their own message. It is
	// no part of OpenAI's protocol.
	ReasoningContent string `json:"reasoning_content,omitempty"`
}

// Content is what a message says: [Text] or [Parts].
type Content interface{ content() }

// Text is content that is nothing but text.
type Text string

// Parts is content of several parts.
type Parts []Part

func (Text) content()  {}
func (Parts) content() {}

// Part is a text or an image; see [TextPart] and [ImagePart].
type Part struct {
	Type     string    `json:"type"`
	Text     string    `json:"text,omitempty"`
	ImageURL *ImageURL `json:"image_url,omitempty"`
}

// ImageURL is where an image is: an address, or a data: URL that holds it.
type ImageURL struct {
	URL string `json:"url"`
}

// TextPart is a part that is text.
func TextPart(text string) Part { return Part{Type: "text", Text: text} }

// ImagePart is a part that is an image.
func ImagePart(url string) Part { return Part{Type: "image_url", ImageURL: &ImageURL{url}} }

// functionType is the type of every tool and of every call of one.
const functionType = "function"

// Tool is a function that the model may call; see [FunctionTool].
type Tool struct {
	Type     string   `json:"type"`
	Function Function `json:"function"`
}

// Function describes a function.
type Function struct {
	// Name is of letters, digits, underscores and dashes, at most 64.
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Parameters is the JSON Schema of the arguments.
	Parameters map[string]any `json:"parameters"`
}

// FunctionTool offers a function.
func FunctionTool(f Function) Tool { return Tool{Type: functionType, Function: f} }

// ToolCall is a call that the assistant has made; see [FunctionCall].
type ToolCall struct {
	ID       string         `json:"id"`
	Type     string         `json:"type"`
	Function CalledFunction `json:"function"`
	// ExtraContent is what some endpoints send with a call and want back with it,
	// such as a signature of the thought. It is no part of OpenAI's protocol.
	ExtraContent json.RawMessage `json:"extra_content,omitempty"`
}

// CalledFunction is the function that was called, and the JSON of its arguments.
type CalledFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// FunctionCall is a call of a function.
func FunctionCall(id, name, arguments string) ToolCall {
	return ToolCall{ID: id, Type: functionType, Function: CalledFunction{name, arguments}}
}
