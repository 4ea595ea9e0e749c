package approvals

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
)

// HashInput names an input: "sha256:" and the hash of its bytes as they will run.
func HashInput(input json.RawMessage) string {
	sum := sha256.Sum256(input)
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
