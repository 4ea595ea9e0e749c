package web

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// The classes of failures. Every failed call is an [*Error] that is one of them.
var (
	// ErrUnsent says that nothing reached Slack: the call can be made again.
	ErrUnsent = errors.New("nothing reached Slack")
	// ErrLimited says that Slack, or our own pacing, wants us to come later, and
	// that nothing was done; see [Error.After].
	ErrLimited = errors.New("the rate limit of Slack is reached")
	// ErrRefused says that Slack understood the call and does not take it as it is:
	// the content is too long, or a block is none of Slack's.
	ErrRefused = errors.New("refused by Slack")
	// ErrAmbiguous says that the call may have been performed or not.
	ErrAmbiguous = errors.New("no answer from Slack says whether this happened")
	// ErrGone says that what the call is about, or its place, is not there for us:
	// deleted, archived, closed to the app.
	ErrGone = errors.New("this is not there for the app in Slack")
	// ErrAuth says that Slack does not accept the token for this call, until a
	// person changes something.
	ErrAuth = errors.New("refused by Slack to the app's token")
	// ErrDetached says that the root of the thread was deleted. Slack posted
	// outside of it, and that message was deleted again.
	ErrDetached = errors.New("the thread's first message was deleted")
	// ErrLate says that a write of [Live] did not get its turn in time, or that a
	// newer one took its place.
	ErrLate = errors.New("it came too late to be shown")
)

// Error is a call to Slack that failed.
type Error struct {
	// Class is one of the classes above; errors.Is finds it.
	Class error
	// Method is the name of the call, such as "chat.postMessage".
	Method string
	// Code is Slack's own name for the failure, where it gave one.
	Code string
	// Needed names the scopes that are missing, with the code missing_scope.
	Needed string
	// Details are what Slack says about the blocks that it does not take.
	Details []string
	// After is the least time to wait, with ErrLimited.
	After time.Duration
	// Err is the cause, where it is not an answer of Slack's.
	Err error
}

// Error implements error.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %v", e.Method, e.Class)
	switch {
	case e.Code == codeMissingScope && e.Needed != "":
		fmt.Fprintf(&b, ": it lacks the scope %s; add that to the app at Slack and install the app again", e.Needed)
	case e.Code != "":
		fmt.Fprintf(&b, " (%s)", e.Code)
	}
	if len(e.Details) > 0 {
		fmt.Fprintf(&b, ": %s", strings.Join(e.Details, "; "))
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	return b.String()
}

// Is reports whether target is the class.
func (e *Error) Is(target error) bool { return target == e.Class }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Code returns Slack's name for the failure behind err, or nothing.
func Code(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}
