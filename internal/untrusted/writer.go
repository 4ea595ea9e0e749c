package untrusted

import (
	"encoding/hex"
	"fmt"
	"io"
	"strings"
)

// markerBytes is the size of a marker: 128 bits that nobody can guess.
const markerBytes = 16

// NewMarker reads a marker from a source of randomness, whose error it returns.
func NewMarker(random io.Reader) (string, error) {
	var b [markerBytes]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("make a marker for untrusted text: %w", err)
	}
	return hex.EncodeToString(b[:]), nil
}

// Writer writes one text. Policy stands before the strangers' text and is said
// again after it.
type Writer struct {
	strings.Builder
	// Marker is that of [NewMarker], of its own for each turn.
	Marker string
}

// Say writes a line.
func (w *Writer) Say(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

// Between writes a text between a line that begins with a word and the line that
// ends it.
func (w *Writer) Between(word, text string) {
	w.Say("%s %s\n%s\nend %s\n", word, w.Marker, strings.TrimRight(text, "\n"), w.Marker)
}
