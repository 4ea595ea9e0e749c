//go:build !windows

package durable

import (
	"errors"
	"syscall"
)

// OutOfSpace knows a full volume, a quota and a limit of the process.
func OutOfSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}
