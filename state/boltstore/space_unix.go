//go:build !windows

package boltstore

import (
	"errors"
	"syscall"
)

// outOfSpace knows a full volume, a quota and a limit of the process.
func outOfSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}
