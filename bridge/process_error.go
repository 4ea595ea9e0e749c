package bridge

import (
	"fmt"
	"strings"
)

// ProcessError says that the bridge process could not be started or has died.
// It is never the agent's answer to a call; that is an [*Error].
type ProcessError struct {
	// Op is "start" or "exit".
	Op         string
	Executable string
	// Generation is the number of the process among those that the client has started.
	Generation uint64
	// State is how the process ended, such as "exit status 3" or "signal: killed";
	// empty when it never ran or was stopped for another reason, which is then in Err.
	State string
	// Stderr is the end of what the process printed, redacted; at most 16 KiB.
	Stderr string
	Err    error
}

// Error implements error.
func (e *ProcessError) Error() string {
	var b strings.Builder
	if e.Op == "start" {
		fmt.Fprintf(&b, "bridge: start %s: ", e.Executable)
	} else {
		fmt.Fprintf(&b, "bridge: %s (start number %d) ended while it was needed: ", e.Executable, e.Generation)
	}
	switch {
	case e.Err != nil && e.State != "":
		fmt.Fprintf(&b, "%v (%s)", e.Err, e.State)
	case e.Err != nil:
		fmt.Fprintf(&b, "%v", e.Err)
	default:
		b.WriteString(e.State)
	}
	if e.Stderr != "" {
		fmt.Fprintf(&b, "; its last output:\n%s", e.Stderr)
	}
	return b.String()
}

// Unwrap returns the cause, such as [io/fs.ErrNotExist] for a missing executable.
func (e *ProcessError) Unwrap() error { return e.Err }
