//go:build unix && !linux

package command

// maxProcesses is no limit: this system does not tell how many processes its user
// has, to which a limit would have to be added.
func maxProcesses() string { return "" }
