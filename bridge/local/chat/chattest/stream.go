package chattest

import (
	"encoding/json"
	"strings"
)

// Done ends a stream.
const Done = "data: [DONE]\n\n"

// event is one event of a stream.
func event(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // a test gave what is no JSON
	}
	return "data: " + string(data) + "\n\n"
}

// Delta is an event with a piece of the answer, by the fields of the specification.
func Delta(fields map[string]any) string {
	return event(map[string]any{
		"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "test-model",
		"choices": []any{map[string]any{"index": 0, "delta": fields, "finish_reason": nil}},
	})
}

// Text is an event with a piece of text.
func Text(s string) string { return Delta(map[string]any{"content": s}) }

// Finish is the event that says why the model stopped.
func Finish(reason string) string {
	return event(map[string]any{
		"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "test-model",
		"choices": []any{map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": reason}},
	})
}

// Tokens is the event that counts them.
func Tokens(input, output, cached int) string {
	return event(map[string]any{
		"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "test-model", "choices": []any{},
		"usage": map[string]any{
			"prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output,
			"prompt_tokens_details": map[string]any{"cached_tokens": cached},
		},
	})
}

// Pieces is an event with pieces of tool calls.
func Pieces(pieces ...map[string]any) string { return Delta(map[string]any{"tool_calls": pieces}) }

// Piece is a piece of a tool call as the specification has it. Empty parts are left out.
func Piece(index int, id, name, arguments string) map[string]any {
	function := map[string]any{"arguments": arguments}
	if name != "" {
		function["name"] = name
	}
	p := map[string]any{"index": index, "function": function}
	if id != "" {
		p["id"], p["type"] = id, "function"
	}
	return p
}

// Stream answers with events.
func Stream(events ...string) Turn { return Raw("text/event-stream", strings.Join(events, "")) }

// Say answers with text, in pieces, for 10 tokens in and 5 out.
func Say(pieces ...string) Turn {
	events := []string{Delta(map[string]any{"role": "assistant", "content": ""})}
	for _, p := range pieces {
		events = append(events, Text(p))
	}
	return Stream(append(events, Finish("stop"), Tokens(10, 5, 4), Done)...)
}

// Call answers with one call for each pair of name and arguments, whose ids are
// call_a, call_b and so on, for 10 tokens in and 5 out.
func Call(namesAndArguments ...string) Turn {
	var events []string
	for i := 0; i+1 < len(namesAndArguments); i += 2 {
		id := "call_" + string(rune('a'+i/2))
		name, arguments := namesAndArguments[i], namesAndArguments[i+1]
		half := len(arguments) / 2
		events = append(events, Pieces(Piece(i/2, id, name, "")), Pieces(Piece(i/2, "", "", arguments[:half])), Pieces(Piece(i/2, "", "", arguments[half:])))
	}
	return Stream(append(events, Finish("tool_calls"), Tokens(10, 5, 4), Done)...)
}
