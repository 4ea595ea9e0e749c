package sessions

import (
	"bytes"
	"encoding/json"

	"github.com/liaison-bot/liaison/internal/unseen"
	"github.com/liaison-bot/liaison/redact"
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
		// ApprovalID is set when people agreed to it and no turn records it.
		ApprovalID string `json:"approvalId,omitempty"`
	}
	actionResult struct {
		CallID    string          `json:"callId"`
		Name      string          `json:"name,omitempty"`
		IsError   bool            `json:"isError,omitempty"`
		Result    json.RawMessage `json:"result,omitempty"`
		Error     string          `json:"error,omitempty"`
		Truncated bool            `json:"truncated,omitempty"`
		// Stubbed is set when nothing was run because nothing may be written.
		Stubbed bool `json:"stubbed,omitempty"`
		// ApprovalID as above.
		ApprovalID string `json:"approvalId,omitempty"`
	}
)

// recordable returns JSON of a stranger as it may be recorded: every secret in
// it masked, and its size bounded. What is too large, or no JSON, becomes a string.
func recordable(raw json.RawMessage, mask func(string) string) json.RawMessage {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil
	}
	text, ok := shownJSON(raw, mask)
	if !ok || len(text) > maxActionData {
		return quoted(text)
	}
	return json.RawMessage(text)
}

// shownJSON returns JSON with as much of it masked as on a card: also what nothing
// but the name of a field tells to be a secret, and what unseen characters divide.
// It reports false where raw is no JSON, or would be none once it is masked.
func shownJSON(raw json.RawMessage, mask func(string) string) (string, bool) {
	whole := func(s string) string { return unseen.Joined(s, mask) }
	document, err := redact.Values(raw, whole)
	if err != nil {
		return whole(string(raw)), false
	}
	text := whole(string(document))
	return text, json.Valid([]byte(text))
}

// masked returns JSON with every string in it masked. It reports false where raw
// is not one value, or would be none once it is masked.
func masked(raw json.RawMessage, redact func(string) string) (string, bool) {
	var v any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if dec.Decode(&v) != nil || dec.More() {
		return redact(string(raw)), false
	}
	// Once more over the whole, for secrets that only the key beside them gives away.
	text := redact(string(encoded(maskStrings(v, redact))))
	return text, json.Valid([]byte(text))
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
		clean := make(map[string]any, len(v))
		for k, x := range v {
			clean[redact(k)] = maskStrings(x, redact)
		}
		return clean
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
