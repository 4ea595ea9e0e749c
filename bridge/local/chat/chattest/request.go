package chattest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Request is what the endpoint was asked.
type Request struct {
	Model         string          `json:"model"`
	Messages      []Message       `json:"messages"`
	Tools         []Tool          `json:"tools"`
	ToolChoice    string          `json:"tool_choice"`
	Stream        bool            `json:"stream"`
	StreamOptions json.RawMessage `json:"stream_options"`
	// Body is the whole of it.
	Body []byte `json:"-"`
}

// Message is a message of a request.
type Message struct {
	Role string `json:"role"`
	// Content is a JSON text or a list of parts.
	Content    json.RawMessage `json:"content"`
	ToolCalls  []ToolCall      `json:"tool_calls"`
	ToolCallID string          `json:"tool_call_id"`
	Reasoning  string          `json:"reasoning_content"`
}

// ToolCall is a call in an assistant's message.
type ToolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
	Extra json.RawMessage `json:"extra_content"`
}

// Tool is a tool that the model is offered.
type Tool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string         `json:"name"`
		Description string         `json:"description"`
		Parameters  map[string]any `json:"parameters"`
	} `json:"function"`
}

// Text is the content if it is text, else its JSON.
func (m Message) Text() string {
	var s string
	if json.Unmarshal(m.Content, &s) == nil {
		return s
	}
	return string(m.Content)
}

// Last is the newest message.
func (r Request) Last() Message { return r.Messages[len(r.Messages)-1] }

// Offered are the names of the tools.
func (r Request) Offered() []string {
	var names []string
	for _, t := range r.Tools {
		names = append(names, t.Function.Name)
	}
	return names
}

var name = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// Check reports why a strict endpoint would refuse a request.
func Check(body []byte) error {
	_, err := parse(body)
	return err
}

// parse reads a request as strictly as the strictest endpoint does.
func parse(body []byte) (Request, error) {
	r := Request{Body: body}
	in := json.NewDecoder(bytes.NewReader(body))
	in.DisallowUnknownFields()
	if err := in.Decode(&r); err != nil {
		return r, err
	}
	switch {
	case r.Model == "":
		return r, errors.New("model is missing")
	case !r.Stream:
		return r, errors.New("stream is not set")
	case len(r.Messages) < 2 || r.Messages[0].Role != "system":
		return r, errors.New("a system message and one more are needed")
	}
	names := make(map[string]bool)
	for _, t := range r.Tools {
		if t.Type != "function" || !name.MatchString(t.Function.Name) || names[t.Function.Name] || t.Function.Parameters["type"] != "object" {
			return r, fmt.Errorf("tool %q is invalid or there twice", t.Function.Name)
		}
		names[t.Function.Name] = true
	}
	open := make(map[string]bool) // calls without a result
	before := ""
	for i, m := range r.Messages {
		if len(open) > 0 && m.Role != "tool" {
			return r, fmt.Errorf("messages.%d: calls without a result come before it: %v", i, open)
		}
		if err := m.check(i, before, open); err != nil {
			return r, fmt.Errorf("messages.%d: %w", i, err)
		}
		before = m.Role
	}
	if len(open) > 0 || before == "assistant" {
		return r, errors.New("the last message is not the user's or a tool's")
	}
	return r, nil
}

func (m Message) check(i int, before string, open map[string]bool) error {
	content := strings.TrimSpace(m.Text())
	empty := content == "" || content == "null" || content == "[]"
	if empty && len(m.Content) > 0 {
		return errors.New("content that is empty, or nothing but spaces")
	}
	switch m.Role {
	case "system":
		if i != 0 || empty {
			return errors.New("a system message is first and not empty")
		}
	case "user":
		if empty || before == "user" || before == "tool" {
			return fmt.Errorf("a user's message is not empty and does not follow one of %q", before)
		}
	case "assistant":
		if empty && len(m.ToolCalls) == 0 || before == "assistant" || before == "system" {
			return fmt.Errorf("an assistant's message is not empty and does not follow one of %q", before)
		}
		for _, c := range m.ToolCalls {
			var args map[string]any
			if c.ID == "" || open[c.ID] || c.Type != "function" || !name.MatchString(c.Function.Name) || json.Unmarshal([]byte(c.Function.Arguments), &args) != nil {
				return fmt.Errorf("the call %+v is invalid or there twice", c)
			}
			open[c.ID] = true
		}
	case "tool":
		if empty || !open[m.ToolCallID] {
			return fmt.Errorf("a tool's message with the id %q has no call before it, or no content", m.ToolCallID)
		}
		delete(open, m.ToolCallID)
	default:
		return fmt.Errorf("unknown role %q", m.Role)
	}
	return nil
}
