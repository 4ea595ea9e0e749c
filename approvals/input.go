package approvals

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
)

// Settle returns an input in the form in which it is stored and runs: valid UTF-8,
// without white space around its values, and with <, > and & in texts as escapes.
// It means the same to every reader of JSON, as long as no object has a name twice.
// What is no JSON is left as it is.
func Settle(input json.RawMessage) json.RawMessage {
	settled, err := json.Marshal(json.RawMessage(bytes.ToValidUTF8(input, []byte("\uFFFD"))))
	if err != nil {
		return input
	}
	return settled
}

// HashInput names an input: "sha256:" and the hash of what [Settle] makes of it,
// which are the bytes that run.
func HashInput(input json.RawMessage) string {
	sum := sha256.Sum256(Settle(input))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// idPrefix begins the ids of records.
const idPrefix = "apr_"

// NewID makes the id of a record of 128 random bits.
func NewID(random io.Reader) (string, error) {
	raw := make([]byte, 16)
	if _, err := io.ReadFull(random, raw); err != nil {
		return "", fmt.Errorf("make an approval's id: %w", err)
	}
	return idPrefix + hex.EncodeToString(raw), nil
}

// ValidID reports whether a text has the form of a record's id.
func ValidID(id string) bool {
	if len(id) != len(idPrefix)+32 || id[:len(idPrefix)] != idPrefix {
		return false
	}
	for _, c := range id[len(idPrefix):] {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
