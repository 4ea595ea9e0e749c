package processgroup

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// Attributes makes a group to signal, and asks the kernel to kill the child when we die, however we die.
func Attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// AwaitExit blocks until the child has exited and leaves it unreaped: until it
// is reaped, its id, and so the id of its group, cannot become a stranger's.
func AwaitExit(pid int) bool {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err == nil
		}
	}
}
