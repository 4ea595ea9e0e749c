package sessions

import (
	"fmt"
	"runtime/debug"
)

// panicError is a panic of code that we do not trust to be free of them.
type panicError struct {
	where string
	value string
	stack string
}

// Error implements error. The stack is for the log only.
func (e *panicError) Error() string { return fmt.Sprintf("%s panicked: %s", e.where, e.value) }

// guard calls f and turns a panic into an error, with secrets masked.
func guard(where string, redact func(string) string, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &panicError{where: where, value: redact(fmt.Sprint(p)), stack: string(debug.Stack())}
		}
	}()
	return f()
}
