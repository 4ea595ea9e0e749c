package bridge

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// processIdentity names the process that has the id pid now, so that it can be
// told from a later one with the same id; empty when there is none. It is the
// start time in microseconds.
func processIdentity(pid int) (string, error) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if errors.Is(err, unix.EIO) || errors.Is(err, unix.ESRCH) {
		return "", nil // the answer is empty for an id that is not in use
	}
	if err != nil {
		return "", fmt.Errorf("look up process %d: %w", pid, err)
	}
	const zombie = 5 // SZOMB in sys/proc.h
	if info.Proc.P_stat == zombie {
		return "", nil
	}
	return fmt.Sprintf("%d.%06d", info.Proc.P_starttime.Sec, info.Proc.P_starttime.Usec), nil
}
