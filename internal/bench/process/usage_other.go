//go:build !linux

package process

import (
	"errors"
	"fmt"
	"runtime"
)

// Usage is known on Linux only.
func (s *Service) Usage() (Usage, error) { return Of(s.cmd.Process.Pid) }

// Of is known on Linux only.
func Of(int) (Usage, error) {
	return Usage{}, fmt.Errorf("memory and processor time of another process on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

// Bridge is known on Linux only.
func (s *Service) Bridge() (Usage, error) { return s.Usage() }
