package bridge

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/structpb"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// decodeEvent reads an sdk_message. It cannot fail: a field that is missing or
// of another type is left empty, a type that is not known gives [Unknown], and
// Raw has all of it.
func decodeEvent(m *sdkv1.SdkMessage) Event {
	f := fields(m.GetMessage())
	e := Event{AgentID: f.text("agent_id"), RunID: f.text("run_id"), Raw: f.raw()}
	kind := m.GetType()
	if kind == "" {
		kind = f.text("type") // the object repeats it
	}
	switch kind {
	case "system":
		e.Payload = System{Subtype: f.text("subtype"), Model: f.modelID(), Tools: f.texts("tools")}
	case "user":
		text, _ := f.object("message").content()
		e.Payload = User{Text: text}
	case "assistant":
		text, uses := f.object("message").content()
		e.Payload = Assistant{Text: text, ToolUses: uses}
	case "thinking":
		e.Payload = Thinking{Text: f.text("text"), Duration: time.Duration(f.integer("thinking_duration_ms")) * time.Millisecond}
	case "tool_call":
		cut := f.object("truncated")
		e.Payload = ToolCall{
			CallID: f.text("call_id"), Name: f.text("name"), Status: ToolCallStatus(f.text("status")),
			Args: f.json("args"), Result: f.json("result"),
			ArgsTruncated: cut.truth("args"), ResultTruncated: cut.truth("result"),
		}
	case "status":
		e.Payload = Status{Status: statusOf(f.text("status")), Message: f.text("message")}
	case "request":
		e.Payload = Request{RequestID: f.text("request_id")}
	case "task":
		e.Payload = Task{Status: f.text("status"), Text: f.text("text")}
	case "usage":
		u := f.object("usage")
		e.Payload = Tokens{Usage: Usage{
			InputTokens: u.integer("inputTokens"), OutputTokens: u.integer("outputTokens"),
			CacheReadTokens: u.integer("cacheReadTokens"), CacheWriteTokens: u.integer("cacheWriteTokens"),
			TotalTokens: u.integer("totalTokens"), ReasoningTokens: u.integer("reasoningTokens"),
		}}
	default:
		e.Payload = Unknown{Type: kind}
	}
	return e
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

// object is a JSON object whose fields may be anything. The zero value is empty.
type object map[string]*structpb.Value

func fields(s *structpb.Struct) object { return s.GetFields() }

func (o object) text(key string) string { return o[key].GetStringValue() }

// modelID reads the model's id, which comes as a string or as a selection with parameters.
func (o object) modelID() string {
	if id := o.text("model"); id != "" {
		return id
	}
	return o.object("model").text("id")
}

func (o object) truth(key string) bool { return o[key].GetBoolValue() }

func (o object) object(key string) object { return fields(o[key].GetStructValue()) }

func (o object) integer(key string) int64 {
	n := o[key].GetNumberValue()
	if math.IsNaN(n) || math.Abs(n) > 1<<53 {
		return 0
	}
	return int64(n)
}

func (o object) texts(key string) []string {
	var all []string
	for _, v := range o[key].GetListValue().GetValues() {
		if s, ok := v.GetKind().(*structpb.Value_StringValue); ok {
			all = append(all, s.StringValue)
		}
	}
	return all
}

// json returns a field as JSON, or nil when it is not there.
func (o object) json(key string) json.RawMessage {
	if v, ok := o[key]; ok {
		return marshal(v.AsInterface())
	}
	return nil
}

func (o object) raw() json.RawMessage {
	if o == nil {
		return nil
	}
	return marshal((&structpb.Struct{Fields: o}).AsMap())
}

// marshal writes JSON with sorted keys and without HTML escapes; nil for what
// JSON cannot say, such as a NaN.
func marshal(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
}

// content joins the text of a message's content and collects its tool uses.
func (o object) content() (string, []ToolUse) {
	if s, ok := o["content"].GetKind().(*structpb.Value_StringValue); ok {
		return s.StringValue, nil
	}
	var text strings.Builder
	var uses []ToolUse
	for _, v := range o["content"].GetListValue().GetValues() {
		switch part := fields(v.GetStructValue()); part.text("type") {
		case "text":
			text.WriteString(part.text("text"))
		case "tool_use":
			uses = append(uses, ToolUse{ID: part.text("id"), Name: part.text("name"), Input: part.json("input")})
		}
	}
	return text.String(), uses
}
