package remote

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

// ErrInsecure means that a token would be sent where others can read it.
var ErrInsecure = errors.New("plain http to another machine")

// UnreachableError means that no service answered.
type UnreachableError struct {
	URL   string
	Cause error
}

// Error implements error.
func (e *UnreachableError) Error() string {
	return fmt.Sprintf(`no service answers at %s: is "liaison serve" running there? --url names another place (%v)`, e.URL, e.Cause)
}

// Unwrap returns what went wrong below.
func (e *UnreachableError) Unwrap() error { return e.Cause }

// Refusal is an answer of the service other than success.
type Refusal struct {
	// Status is the HTTP status.
	Status int
	// Code is the service's word for it; empty when it was not Liaison that answered.
	Code string
	// Message says what happened, and what to do.
	Message string
	// RetryAfter is when to try again, where the service said so.
	RetryAfter time.Duration
}

// Error implements error.
func (e *Refusal) Error() string {
	said := e.Message
	if said == "" {
		said = e.Code
	}
	switch {
	case said == "":
		return fmt.Sprintf("the answer was %d %s, which Liaison does not say like this: is --url right?", e.Status, http.StatusText(e.Status))
	case e.Status == http.StatusUnauthorized:
		return said + "; here it is given by LIAISON_API_TOKEN in the environment or by --token-file"
	}
	return said
}

// CutError means that an answer or a stream ended too early.
type CutError struct {
	Doing string
	Cause error
}

// Error implements error.
func (e *CutError) Error() string {
	return fmt.Sprintf("%s: the connection was cut: %v", e.Doing, e.Cause)
}

// Unwrap returns what went wrong below.
func (e *CutError) Unwrap() error { return e.Cause }
