//go:build !linux

package command

// closeOnExec does nothing: these systems cannot mark all files at once, and on
// Windows a process gets the handles that are named for it.
func closeOnExec() {}
