//go:build unix && !linux

package processgroup

import "syscall"

// Attributes makes a group to signal. These systems have nothing that kills
// a child with its parent; the record of the process ends it at the next start.
func Attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// AwaitExit reports that this system cannot wait without reaping.
func AwaitExit(int) bool { return false }
