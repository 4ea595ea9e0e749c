//go:build unix

package local

import (
	"os"
	"syscall"
)

// lockFile takes an exclusive lock without waiting. It is gone when the file
// is closed, also by the death of the process.
func lockFile(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
