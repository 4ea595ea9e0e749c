//go:build unix && !linux

package command

import "syscall"

// attributes make a group to signal. These systems have nothing that kills a tool
// with us.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// awaitExit reports that this system cannot wait without reaping.
func awaitExit(int) bool { return false }

// closeOnExec does nothing: these systems cannot mark all files at once.
func closeOnExec() {}
