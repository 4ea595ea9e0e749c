//go:build unix

package local

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// syncDir puts a directory's names on disk: without it a loss of power may undo
// a rename whose file is already there.
func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("sync a directory: %w", err)
	}
	err = d.Sync()
	// Some network file systems cannot, and keep names in order by themselves.
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil
	}
	if err := errors.Join(err, d.Close()); err != nil {
		return fmt.Errorf("sync a directory: %w", err)
	}
	return nil
}
