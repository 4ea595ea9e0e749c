//go:build unix

package command

import (
	"os"
	"syscall"
)

// group is the process group that a tool leads: its id is the tool's own.
type group int

func newGroup(pid int) (group, error) { return group(pid), nil }

func (g group) terminate() error { return syscall.Kill(-int(g), syscall.SIGTERM) }

func (g group) kill() error { return syscall.Kill(-int(g), syscall.SIGKILL) }

func (group) close() {}

// signalled says which signal ended a process.
func signalled(state *os.ProcessState) string {
	status, ok := state.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() && status.Signal() == syscall.SIGXFSZ {
		return "it wrote a file that is larger than tools may"
	}
	return state.String()
}
