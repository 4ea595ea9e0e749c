package local

import (
	"os"

	"golang.org/x/sys/windows"
)

// lockFile takes an exclusive lock without waiting. It is gone when the file
// is closed, also by the death of the process.
func lockFile(f *os.File) error {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	return windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, new(windows.Overlapped))
}
