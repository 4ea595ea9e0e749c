package chat

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Role is who says a message.
type Role string

// The roles of a conversation. The system prompt is not part of it.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Conversation is what was said so far.
type Conversation struct {
	// Model is who said the assistant's part. What only it understands, its
	// reasoning and the like, is not given to another.
	Model    string    `json:"model"`
	Messages []Message `json:"messages"`
}

// Message is one message of a conversation.
type Message struct {
	Role Role   `json:"role"`
	Text string `json:"text,omitempty"`
	// Images are part of a user's message.
	Images []Image `json:"images,omitempty"`
	// Calls are the tools that an assistant's message calls.
	Calls []Call `json:"calls,omitempty"`
	// CallID is the call that a tool's message answers.
	CallID string `json:"call_id,omitempty"`
	// Reasoning is what some models want back with their own message.
	Reasoning string `json:"reasoning,omitempty"`
}

// Call is one call of a tool as the model wrote it, made valid.
type Call struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Arguments is the JSON of an object.
	Arguments string `json:"arguments"`
	// Extra is what some models want back with their own call, such as a signature
	// of their thought; JSON.
	Extra json.RawMessage `json:"extra,omitempty"`
}

// Image is a picture: an address that the endpoint can load, or a data: URL.
type Image struct {
	URL string `json:"url"`
}

// What a conversation says about itself where something is missing.
const (
	noteUnfinished = "(The call was not finished.)"
	noteNoAnswer   = "(The run ended here, before an answer was given.)"
	noteDropped    = "(A part of the conversation that came next was dropped to fit the model's context.)"
	noteNoImage    = "(An image was here.)"
)

// Encode is the conversation as bytes for [Decode].
func (c Conversation) Encode() ([]byte, error) {
	data, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("encode the conversation: %w", err)
	}
	return data, nil
}

// Decode reads what Encode wrote. Whatever the bytes, what it returns without an
// error is a conversation that an endpoint takes.
func Decode(data []byte) (Conversation, error) {
	if len(data) == 0 {
		return Conversation{}, nil
	}
	var c Conversation
	if err := json.Unmarshal(data, &c); err != nil {
		return Conversation{}, fmt.Errorf("decode the conversation: %w", err)
	}
	c.Messages = settled(c.Messages)
	return c, nil
}

// settled makes a conversation valid, however it ended: it begins with the user,
// every call has its result and every result its call, and it ends with the
// assistant. The messages are copied.
func settled(messages []Message) []Message {
	var out []Message
	for i := 0; i < len(messages); i++ {
		m := messages[i]
		switch {
		case m.Role == RoleUser && !spoken(m.Text) && len(m.Images) == 0: // nothing was said
		case m.Role == RoleUser:
			out = append(out, Message{Role: RoleUser, Text: m.Text, Images: slices.Clone(m.Images)})
		case m.Role == RoleAssistant && len(out) > 0:
			calls := validCalls(m.Calls)
			if !spoken(m.Text) && len(calls) == 0 {
				continue
			}
			out = append(out, Message{Role: RoleAssistant, Text: m.Text, Calls: calls, Reasoning: m.Reasoning})
			results := make(map[string]string)
			for ; i+1 < len(messages) && messages[i+1].Role == RoleTool; i++ {
				results[messages[i+1].CallID] = messages[i+1].Text
			}
			for _, c := range calls {
				text, ok := results[c.ID]
				if !ok {
					text = noteUnfinished
				}
				out = append(out, Message{Role: RoleTool, CallID: c.ID, Text: text})
			}
		}
	}
	if n := len(out); n > 0 && out[n-1].Role != RoleAssistant {
		out = append(out, Message{Role: RoleAssistant, Text: noteNoAnswer})
	}
	return out
}

// spoken reports whether a text says anything: some endpoints refuse messages of
// spaces, which models put before their calls.
func spoken(text string) bool { return strings.TrimSpace(text) != "" }

// validCalls are the calls with what an endpoint insists on.
func validCalls(calls []Call) []Call {
	var out []Call
	seen := make(map[string]bool)
	for _, c := range calls {
		if c.ID == "" || seen[c.ID] || !validName(c.Name) || !isObject(c.Arguments) || c.Extra != nil && !json.Valid(c.Extra) {
			continue
		}
		seen[c.ID] = true
		out = append(out, c)
	}
	return out
}

// validName reports whether endpoints take a function's name: letters, digits,
// underscores and dashes, at most 64
// (https://platform.openai.com/docs/api-reference/chat/create, tools).
func validName(name string) bool {
	if name == "" || len(name) > 64 {
		return false
	}
	for _, r := range name {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
		default:
			return false
		}
	}
	return true
}

func isObject(s string) bool {
	var o map[string]json.RawMessage
	return json.Unmarshal([]byte(s), &o) == nil && o != nil
}
