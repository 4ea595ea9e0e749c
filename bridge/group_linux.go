package bridge

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// groupAttributes asks the kernel to kill the child when we die, however we die.
func groupAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// awaitExit blocks until the child has exited and leaves it unreaped: until it
// is reaped, its id, and so the id of its group, cannot become a stranger's.
func awaitExit(pid int) bool {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err == nil
		}
	}
}
