//go:build unix

package command

import (
	"os"
	"syscall"

	"github.com/liaison-bot/liaison/internal/processgroup"
)

// groupLimits has none: each program of a tool is limited when it starts.
var groupLimits processgroup.Limits

// signalled says which signal ended a process.
func signalled(state *os.ProcessState) string {
	status, ok := state.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() && status.Signal() == syscall.SIGXFSZ {
		return "it wrote a file that is larger than tools may"
	}
	return state.String()
}
