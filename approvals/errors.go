package approvals

import (
	"errors"
	"fmt"
	"time"
)

// The reasons for which a ballot changes nothing. Each has an answer of its own
// for the person, see [View.Answer].
var (
	// ErrUnknown means that there is no such record, or not there.
	ErrUnknown = errors.New("no such approval is known")
	// ErrNotAllowed is the class of [*NotAllowedError].
	ErrNotAllowed = errors.New("not allowed to decide")
	// ErrDecided is the class of [*DecidedError].
	ErrDecided = errors.New("already decided")
	// ErrInvalid means that the ballot says neither approve nor deny.
	ErrInvalid = errors.New("a decision is approve or deny")
)

// NotAllowedError says why somebody may not decide.
type NotAllowedError struct {
	// Why is for the person, in one sentence, such as "You asked for it yourself."
	Why string
}

// Error implements error.
func (e *NotAllowedError) Error() string { return "not allowed to decide: " + e.Why }

// Is reports whether target is [ErrNotAllowed].
func (e *NotAllowedError) Is(target error) bool { return target == ErrNotAllowed }

// DecidedError says that it was decided before, or ended without a decision.
type DecidedError struct {
	State State
	// By and Place are who decided and where; empty where nobody did.
	By    string
	Place string
	At    time.Time
	// Same is set when the ballot says what was decided, or repeats the person's
	// own vote.
	Same bool
}

// Error implements error.
func (e *DecidedError) Error() string {
	if e.By == "" {
		return fmt.Sprintf("it is %s", e.State)
	}
	return fmt.Sprintf("it is %s, decided by %s in %s", e.State, e.By, e.Place)
}

// Is reports whether target is [ErrDecided].
func (e *DecidedError) Is(target error) bool { return target == ErrDecided }
