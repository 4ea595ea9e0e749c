package bridge

import (
	"math"
	"reflect"
	"testing"
)

func TestDecodeEvent(t *testing.T) {
	t.Parallel()
	text := func(s string) map[string]any { return map[string]any{"type": "text", "text": s} }
	tests := []struct {
		name, kind string
		body       map[string]any
		want       Payload
	}{
		{"user", "user", map[string]any{"message": map[string]any{"role": "user", "content": []any{text("a"), text("b")}}}, User{Text: "ab"}},
		{"user with plain content", "user", map[string]any{"message": map[string]any{"content": "plain"}}, User{Text: "plain"}},
		{"assistant with a tool", "assistant", map[string]any{"message": map[string]any{"content": []any{
			text("see "), map[string]any{"type": "tool_use", "id": "t", "name": "read", "input": map[string]any{"p": 1}}, map[string]any{"type": "picture"}, "odd",
		}}}, Assistant{Text: "see ", ToolUses: []ToolUse{{ID: "t", Name: "read", Input: []byte(`{"p":1}`)}}}},
		{"type in the object only", "", map[string]any{"type": "task", "status": "s", "text": "t"}, Task{Status: "s", Text: "t"}},
		{"request", "request", map[string]any{"request_id": "q"}, Request{RequestID: "q"}},
		{"status of a later version", "status", map[string]any{"status": "PONDERING"}, Status{Status: RunUnknown}},
		{"usage beyond a double", "usage", map[string]any{"usage": map[string]any{"inputTokens": 1e300, "outputTokens": math.Inf(1), "totalTokens": 5}}, Tokens{Usage: Usage{TotalTokens: 5}}},
		{"model as a selection", "system", map[string]any{"subtype": "init", "model": map[string]any{"id": "m-1", "params": []any{}}}, System{Subtype: "init", Model: "m-1"}},
		{"empty", "tool_call", nil, ToolCall{}},
		{"unknown", "hologram", map[string]any{"x": 1}, Unknown{Type: "hologram"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := decodeEvent(sdkMessage(t, tt.kind, tt.body), "", "").Payload; !reflect.DeepEqual(got, tt.want) {
				t.Errorf("payload = %+v, want %+v", got, tt.want)
			}
		})
	}
}

// Every field of every message with every other type: no panic, the same kind of
// payload, and the message itself in Raw.
func TestDecodeEventOfWrongTypes(t *testing.T) {
	t.Parallel()
	odd := []any{nil, true, -1.5, "text", []any{}, []any{[]any{1}}, map[string]any{}, map[string]any{"content": []any{nil, 7}}}
	keys := []string{
		"agent_id", "run_id", "subtype", "model", "tools", "message", "text", "thinking_duration_ms", "call_id",
		"name", "status", "args", "result", "truncated", "request_id", "usage",
	}
	for _, kind := range []string{"system", "user", "assistant", "thinking", "tool_call", "status", "request", "task", "usage", "other"} {
		want := reflect.TypeOf(decodeEvent(sdkMessage(t, kind, map[string]any{}), "", "").Payload)
		for _, key := range keys {
			for _, value := range odd {
				e := decodeEvent(sdkMessage(t, kind, map[string]any{key: value}), "a", "r")
				if got := reflect.TypeOf(e.Payload); got != want {
					t.Errorf("%s with %s = %v gives %v, want %v", kind, key, value, got, want)
				}
				if len(e.Raw()) == 0 {
					t.Errorf("%s with %s = %v has no raw message", kind, key, value)
				}
			}
		}
	}
}
