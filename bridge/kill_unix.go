//go:build unix

package bridge

import (
	"errors"
	"syscall"
)

// killStranded kills a bridge that an earlier program started, with its group.
func killStranded(pid int) error {
	err := syscall.Kill(-pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		err = syscall.Kill(pid, syscall.SIGKILL) // it leads no group
	}
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}
