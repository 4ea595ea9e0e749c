package bridge

import (
	"strings"
	"time"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// decodeEvent reads an sdk_message, a delta or a step. It cannot fail: a field
// that is missing or of another type is left empty, a type that is not known
// gives [Unknown], and Raw has all of it. The ids are those that are expected.
func decodeEvent(f *frame, agentID, runID string) Event {
	e := Event{Offset: f.offset, raw: f.body}
	switch f.kind {
	case frameDelta:
		e.AgentID, e.RunID, e.Payload = agentID, runID, Delta{Type: f.name, Data: f.body.raw()}
	case frameStep:
		e.AgentID, e.RunID, e.Payload = agentID, runID, Step{Type: f.name, Data: f.body.raw()}
	default:
		var few fewEntries
		fields, _ := f.body.entries(few[:0])
		e.AgentID, e.RunID = fields.same("agent_id", agentID), fields.same("run_id", runID)
		e.Payload = decodePayload(f.name, fields)
	}
	return e
}

// decodePayload reads the object of an sdk_message.
func decodePayload(kind string, f entries) Payload {
	if kind == "" {
		kind = f.text("type") // the object repeats it
	}
	switch kind {
	case "system":
		return System{Subtype: f.text("subtype"), Model: modelID(f), Tools: f.texts("tools")}
	case "user":
		text, _ := content(f.object("message"))
		return User{Text: text}
	case "assistant":
		text, uses := content(f.object("message"))
		return Assistant{Text: text, ToolUses: uses}
	case "thinking":
		return Thinking{Text: f.text("text"), Duration: time.Duration(f.integer("thinking_duration_ms")) * time.Millisecond}
	case "tool_call":
		var few fewEntries
		cut, _ := f.object("truncated").entries(few[:0])
		return ToolCall{
			CallID: f.text("call_id"), Name: f.text("name"), Status: ToolCallStatus(f.text("status")),
			Args: f.json("args"), Result: f.json("result"),
			ArgsTruncated: cut.truth("args"), ResultTruncated: cut.truth("result"),
		}
	case "status":
		return Status{Status: statusOf(f.text("status")), Message: f.text("message")}
	case "request":
		return Request{RequestID: f.text("request_id")}
	case "task":
		return Task{Status: f.text("status"), Text: f.text("text")}
	case "usage":
		var few fewEntries
		u, _ := f.object("usage").entries(few[:0])
		return Tokens{Usage: Usage{
			InputTokens: u.integer("inputTokens"), OutputTokens: u.integer("outputTokens"),
			CacheReadTokens: u.integer("cacheReadTokens"), CacheWriteTokens: u.integer("cacheWriteTokens"),
			TotalTokens: u.integer("totalTokens"), ReasoningTokens: u.integer("reasoningTokens"),
		}}
	default:
		return Unknown{Type: kind}
	}
}

// statusOf reads the status word of a message, such as "FINISHED".
func statusOf(word string) RunStatus {
	switch s := RunStatus(strings.ToLower(word)); s {
	case RunCreating, RunRunning, RunFinished, RunError, RunCancelled, RunExpired:
		return s
	default:
		return RunUnknown
	}
}

// lifecycle reads a status of the contract's enum.
func lifecycle(s sdkv1.RunLifecycleStatus) RunStatus {
	return statusOf(strings.TrimPrefix(s.String(), "RUN_LIFECYCLE_STATUS_"))
}

func usageOf(u *sdkv1.TokenUsage) Usage {
	return Usage{
		InputTokens: u.GetInputTokens(), OutputTokens: u.GetOutputTokens(),
		CacheReadTokens: u.GetCacheReadTokens(), CacheWriteTokens: u.GetCacheWriteTokens(),
		TotalTokens: u.GetTotalTokens(), ReasoningTokens: u.GetReasoningTokens(),
	}
}

// content joins the text of a message's content and collects its tool uses.
func content(message object) (string, []ToolUse) {
	var few, fewer fewEntries
	o, _ := message.entries(few[:0])
	if s, ok := o.of("content", kindString); ok {
		return validText(s.bytes), nil
	}
	var text string // of the first part, which is nearly always the only one
	var more strings.Builder
	var uses []ToolUse
	for l := o.list("content"); ; {
		element, ok := l.next()
		if !ok {
			return text + more.String(), uses
		}
		s, ok := value(element).read()
		if !ok || s.kind != kindObject {
			continue
		}
		part, _ := object(s.bytes).entries(fewer[:0])
		switch kind, _ := part.of("type", kindString); string(kind.bytes) {
		case "text":
			if text == "" {
				text = part.text("text")
			} else {
				more.WriteString(part.text("text"))
			}
		case "tool_use":
			uses = append(uses, ToolUse{ID: part.text("id"), Name: part.text("name"), Input: part.json("input")})
		}
	}
}

// modelID reads the model's id, which comes as a string or as a selection with parameters.
func modelID(f entries) string {
	if id := f.text("model"); id != "" {
		return id
	}
	selection, _ := f.object("model").entries(nil)
	return selection.text("id")
}
