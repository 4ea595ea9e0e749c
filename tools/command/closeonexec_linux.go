package command

import (
	"math"

	"golang.org/x/sys/unix"
)

// closeOnExec keeps what this process was itself started with, beyond the three
// standard streams, from tools: what Go opens is kept anyway. Kernels before 5.11
// cannot (close_range(2)).
func closeOnExec() {
	_ = unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) // see above
}
