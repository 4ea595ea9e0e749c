package relay

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
)

// message is a delivery as a channel passes it on.
type message struct {
	// headers are by their names in lower case.
	headers map[string]string
	// bodies are the forms in which the signed body may have been, the likeliest first.
	bodies [][]byte
}

// The reasons for which a message is refused.
var (
	errNoDelivery = errors.New("it is no delivery of GitHub's")
	errUnsigned   = errors.New("it has no X-Hub-Signature-256: the App's webhook has no secret, or the channel dropped it")
	// A channel parses the JSON and writes it anew, so that the bytes which were
	// signed are lost where they had other spacing, numbers or escapes.
	errSignature = errors.New("its signature does not match the body as it was relayed: either GITHUB_WEBHOOK_SECRET is not the secret of the App's webhook, " +
		"or the relay did not keep the bytes that were signed; use \"liaison github replay\" for this one, or a relay that keeps them")
)

// parse reads a message: an object with the headers and, under body, the JSON
// that was sent. Some relays also pass on the bytes themselves, as bodyB in base64.
func parse(data []byte) (message, error) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil {
		return message{}, errNoDelivery
	}
	m := message{headers: map[string]string{}}
	for name, raw := range fields {
		var text string
		if json.Unmarshal(raw, &text) != nil {
			continue
		}
		switch name {
		case "bodyB":
			if body, err := base64.StdEncoding.DecodeString(text); err == nil {
				m.bodies = append([][]byte{body}, m.bodies...)
			}
		case "body":
			m.bodies = append(m.bodies, []byte(text))
		default:
			m.headers[strings.ToLower(name)] = text
		}
	}
	if body := fields["body"]; len(body) > 0 && body[0] == '{' {
		m.bodies = append(m.bodies, written(body)...)
	}
	if m.headers["x-github-event"] == "" || len(m.bodies) == 0 {
		return message{}, errNoDelivery
	}
	return m, nil
}

// written returns the ways in which GitHub may have written a JSON value: as it
// was relayed, without spaces, and with the characters of HTML escaped.
func written(body json.RawMessage) [][]byte {
	var plain, escaped bytes.Buffer
	if json.Compact(&plain, body) != nil {
		return [][]byte{body}
	}
	json.HTMLEscape(&escaped, plain.Bytes())
	return [][]byte{body, plain.Bytes(), escaped.Bytes()}
}

// signed returns the body that one of the secrets signed.
func (m message) signed(secrets []string) ([]byte, error) {
	digits, ok := strings.CutPrefix(m.headers["x-hub-signature-256"], "sha256=")
	sum, err := hex.DecodeString(digits)
	if !ok || err != nil {
		return nil, errUnsigned
	}
	for _, secret := range secrets {
		for _, body := range m.bodies {
			mac := hmac.New(sha256.New, []byte(secret))
			mac.Write(body)
			if hmac.Equal(mac.Sum(nil), sum) {
				return body, nil
			}
		}
	}
	return nil, errSignature
}
