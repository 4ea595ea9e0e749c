package durable

import (
	"errors"

	"golang.org/x/sys/windows"
)

// OutOfSpace knows a full volume.
func OutOfSpace(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}
