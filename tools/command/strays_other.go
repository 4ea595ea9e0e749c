//go:build !linux

package command

// endStrays does nothing: this system does not tell the environment of processes,
// or has no need to (Windows ends all of a job).
func endStrays(string) {}
