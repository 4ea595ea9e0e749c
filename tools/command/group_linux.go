package command

import (
	"errors"
	"math"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes ask the kernel to kill a tool when we die, however we die.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// awaitExit blocks until a process has exited and leaves it unreaped: until then its
// id, and so that of its group, cannot become a stranger's.
func awaitExit(pid int) bool {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err == nil
		}
	}
}

// closeOnExec keeps what this process was itself started with, beyond the three
// standard streams, from tools: what Go opens is kept anyway. Kernels before 5.11
// cannot (close_range(2)).
func closeOnExec() {
	_ = unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) // see above
}
