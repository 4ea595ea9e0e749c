package socket

import (
	"encoding/json"
	"strconv"
	"strings"
)

// The types of frames that are known. Slack may send others.
const (
	TypeHello       = "hello"
	TypeDisconnect  = "disconnect"
	TypeEvents      = "events_api"
	TypeInteractive = "interactive"
	TypeCommands    = "slash_commands"
)

// Frame is one message of Slack's, understood as far as it can be: a field that
// is not as documented is empty and costs nothing but itself.
type Frame struct {
	Type string
	// EnvelopeID is what the frame is acknowledged by; empty for what needs no
	// acknowledgement.
	EnvelopeID string
	// Payload is the JSON of what happened, exactly as it came; nil when there is none.
	Payload json.RawMessage
	// RetryAttempt is how often Slack tried before, and RetryReason why it does again.
	RetryAttempt int
	RetryReason  string
	// Reason is why Slack disconnects, in a frame of that type.
	Reason string
}

// ReadFrame reads a message. It reports false for one that is no JSON object.
func ReadFrame(message []byte) (Frame, bool) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(message, &fields) != nil || fields == nil {
		return Frame{}, false
	}
	f := Frame{
		Type:         name(fields["type"]),
		EnvelopeID:   name(fields["envelope_id"]),
		Payload:      fields["payload"],
		RetryAttempt: number(fields["retry_attempt"]),
		RetryReason:  name(fields["retry_reason"]),
		Reason:       name(fields["reason"]),
	}
	return f, true
}

// maxName bounds an id or a name in bytes; an envelope's id has 36.
const maxName = 128

// name returns a JSON text of the characters that ids and names are made of, and
// an empty one for all else.
func name(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) != nil || len(text) > maxName || strings.ContainsFunc(text, unnamed) {
		return ""
	}
	return text
}

func unnamed(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return false
	}
	return !strings.ContainsRune("-_.:", r)
}

// number returns a JSON number, or a text of digits, and 0 for all else.
func number(raw json.RawMessage) int {
	n, err := strconv.Atoi(strings.Trim(string(raw), `"`))
	if err != nil || n < 0 {
		return 0
	}
	return n
}
