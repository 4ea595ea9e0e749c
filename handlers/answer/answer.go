// Package answer writes the service's answers: JSON, and one shape for every
// refusal, so that whoever calls any route can read why it said no.
package answer

import (
	"encoding/json"
	"net/http"
)

// JSON answers with a value. A client that went away is not worth an error.
func JSON(w http.ResponseWriter, status int, body any) {
	JSONHeaders(w.Header())
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) //nolint:errchkjson // the bodies are our own structs
}

// The values of headers that all answers have. The server only reads them.
var (
	typeJSON = []string{"application/json"}
	noSniff  = []string{"nosniff"}
	noStore  = []string{"no-store"}
)

// JSONHeaders sets the headers of an answer in JSON, without a new slice for each.
func JSONHeaders(h http.Header) {
	h["Content-Type"] = typeJSON
	Private(h)
}

// Private keeps an answer out of caches and from being taken for something else.
func Private(h http.Header) {
	h["X-Content-Type-Options"] = noSniff
	h["Cache-Control"] = noStore
}

// Refusal is the shape of every error.
type Refusal struct {
	// OK is false.
	OK bool `json:"ok"`
	// Error is a code to branch on, Message a sentence for a person: what
	// happened, and what to do.
	Error   string `json:"error"`
	Message string `json:"message,omitempty"`
}

// Refuse answers with an error.
func Refuse(w http.ResponseWriter, status int, code, message string) {
	JSON(w, status, Refusal{Error: code, Message: message})
}
