//go:build unix

package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// isTerminal reports whether f is a terminal and not another device such as /dev/null.
func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	return err == nil
}

// obeysSequences reports whether f shows colours for escape sequences.
func obeysSequences(*os.File) bool { return true }

// size is the number of columns of f, or 0.
func size(f *os.File) int {
	w, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(w.Col)
}
