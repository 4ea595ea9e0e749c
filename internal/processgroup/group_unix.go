//go:build unix

package processgroup

import "syscall"

// Group is the group that a program leads: its id is the program's own.
type Group int

// New returns the group of a program that was just started with [Attributes]. These
// systems limit programs one by one, before they start, and no groups.
func New(pid int, _ Limits) (Group, error) { return Group(pid), nil }

// Terminate asks all of the group to end.
func (g Group) Terminate() error { return syscall.Kill(-int(g), syscall.SIGTERM) }

// Kill ends all of the group at once.
func (g Group) Kill() error { return syscall.Kill(-int(g), syscall.SIGKILL) }

// Close lets go of the group.
func (Group) Close() {}
