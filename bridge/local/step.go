package local

import (
	"encoding/json"
	"fmt"
	"strings"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// The types of step; the names are the vendor's.
const (
	stepAssistant = "assistantMessage"
	stepThinking  = "thinkingMessage"
	stepToolCall  = "toolCall"
)

// step is one finished step of a conversation: a whole message of the agent, a
// whole thought, or a tool call with its result.
type step struct {
	kind    string
	message map[string]any
}

func (s step) fields() map[string]any {
	return map[string]any{"type": s.kind, "message": s.message}
}

// proto is the step as it goes over the wire.
func (s step) proto() (*sdkv1.RunStreamMessage, error) {
	content, err := toStruct(s.fields())
	if err != nil {
		return nil, fmt.Errorf("write a step of type %s: %w", s.kind, err)
	}
	return &sdkv1.RunStreamMessage{Envelope: &sdkv1.RunStreamMessage_Step{
		Step: &sdkv1.ConversationStep{Type: s.kind, Step: content},
	}}, nil
}

// stepBuilder makes the steps of a run out of its record. A message or a
// thought comes in fragments, and is whole when something else comes.
type stepBuilder struct {
	text     fragmentText
	thinking fragmentText
}

// before takes the entry that is about to be sent, and gives the steps that it
// shows to be finished.
func (b *stepBuilder) before(e entry) []step {
	var out []step
	if e.Type != "thinking" && b.thinking.begun() {
		out = append(out, b.thought(nil))
	}
	if e.Type != "assistant" && b.text.begun() {
		text, isCut := b.text.take()
		message := map[string]any{"text": text}
		if isCut {
			message["truncated"] = true
		}
		out = append(out, step{stepAssistant, message})
	}
	return out
}

// after takes the entry that was sent, and gives the step that it finishes.
func (b *stepBuilder) after(e entry) []step {
	switch e.Type {
	case "assistant":
		var m struct {
			Message struct {
				Content []struct{ Type, Text string }
			}
		}
		if json.Unmarshal(e.Message, &m) == nil {
			for _, part := range m.Message.Content {
				b.text.add(part.Text)
			}
		}
	case "thinking":
		var m struct {
			Text string
			Took *int64 `json:"thinking_duration_ms"`
		}
		if json.Unmarshal(e.Message, &m) == nil {
			b.thinking.add(m.Text)
			if m.Took != nil && b.thinking.begun() {
				return []step{b.thought(m.Took)}
			}
		}
	case "tool_call":
		var m struct {
			CallID    string `json:"call_id"`
			Name      string
			Status    string
			Args      any
			Result    any
			Truncated any
		}
		if json.Unmarshal(e.Message, &m) == nil && m.Status != "running" {
			call := map[string]any{"type": m.Name, "callId": m.CallID, "status": m.Status}
			for key, value := range map[string]any{"args": m.Args, "result": m.Result, "truncated": m.Truncated} {
				if value != nil {
					call[key] = value
				}
			}
			return []step{{stepToolCall, call}}
		}
	}
	return nil
}

func (b *stepBuilder) thought(took *int64) step {
	text, isCut := b.thinking.take()
	message := map[string]any{"text": text}
	if took != nil {
		message["thinkingDurationMs"] = *took
	}
	if isCut {
		message["truncated"] = true
	}
	return step{stepThinking, message}
}

// fragmentText puts fragments together, up to what one message may have.
type fragmentText struct {
	strings.Builder
	cut bool
}

func (f *fragmentText) begun() bool { return f.Len() > 0 || f.cut }

func (f *fragmentText) add(text string) {
	if f.cut = f.cut || f.Len()+len(text) > maxEventBytes; !f.cut {
		f.WriteString(text)
	}
}

func (f *fragmentText) take() (text string, isCut bool) {
	text, isCut = f.String(), f.cut
	f.Reset()
	f.cut = false
	return text, isCut
}
