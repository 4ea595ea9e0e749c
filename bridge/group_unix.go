//go:build unix

package bridge

import "syscall"

// processGroup is the group that a bridge leads: its id is the bridge's own.
type processGroup int

func newProcessGroup(pid int) (processGroup, error) { return processGroup(pid), nil }

func (g processGroup) terminate() error { return syscall.Kill(-int(g), syscall.SIGTERM) }

func (g processGroup) kill() error { return syscall.Kill(-int(g), syscall.SIGKILL) }

func (processGroup) close() {}
