package durable

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// SyncData makes what was written to a file durable, with as much of its
// metadata as is needed to read it.
func SyncData(f *os.File) error {
	for {
		err := unix.Fdatasync(int(f.Fd()))
		if !errors.Is(err, unix.EINTR) {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}
