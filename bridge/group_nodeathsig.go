//go:build unix && !linux

package bridge

import "syscall"

// groupAttributes makes a group to signal. These systems have nothing that kills
// a child with its parent; the record of the process ends it at the next start.
func groupAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// awaitExit reports that this system cannot wait without reaping.
func awaitExit(int) bool { return false }
