package sessions

import (
	"bytes"
	"encoding/json"
)

// The data of events about actions.
type (
	actionsRequested struct {
		Actions []action `json:"actions"`
	}
	action struct {
		CallID    string          `json:"callId"`
		Name      string          `json:"name"`
		Args      json.RawMessage `json:"args,omitempty"`
		Truncated bool            `json:"truncated,omitempty"`
	}
	actionResult struct {
		CallID    string          `json:"callId"`
		Name      string          `json:"name,omitempty"`
		IsError   bool            `json:"isError,omitempty"`
		Result    json.RawMessage `json:"result,omitempty"`
		Error     string          `json:"error,omitempty"`
		Truncated bool            `json:"truncated,omitempty"`
	}
)

// recordable returns JSON of a stranger as it may be recorded: every string in
// it masked, and its size bounded. What is too large, or no JSON, becomes a string.
func recordable(raw json.RawMessage, redact func(string) string) json.RawMessage {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil
	}
	var v any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if dec.Decode(&v) != nil || dec.More() {
		return quoted(redact(string(raw)))
	}
	masked := encoded(maskStrings(v, redact))
	// Once more over the whole, for secrets that only the key beside them gives away.
	if again := redact(string(masked)); json.Valid([]byte(again)) {
		masked = json.RawMessage(again)
	} else {
		return quoted(again)
	}
	if len(masked) > maxActionData {
		return quoted(string(masked))
	}
	return masked
}

func maskStrings(v any, redact func(string) string) any {
	switch v := v.(type) {
	case string:
		return redact(v)
	case []any:
		for i := range v {
			v[i] = maskStrings(v[i], redact)
		}
		return v
	case map[string]any:
		masked := make(map[string]any, len(v))
		for k, x := range v {
			masked[redact(k)] = maskStrings(x, redact)
		}
		return masked
	default:
		return v
	}
}

func quoted(s string) json.RawMessage { return encoded(clip(s, maxActionData)) }

// encoded marshals what came from JSON or is made of strings, which cannot fail. HTML
// is not escaped: an escaped secret would not be recognised.
func encoded(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return json.RawMessage("null")
	}
	return bytes.TrimSpace(b.Bytes())
}
