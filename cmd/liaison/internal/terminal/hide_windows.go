package terminal

import (
	"os"

	"golang.org/x/sys/windows"
)

// hide has a console not show what is typed, until restore is called.
func hide(f *os.File) (restore func(), err error) {
	var before uint32
	console := windows.Handle(f.Fd())
	if err := windows.GetConsoleMode(console, &before); err != nil {
		return nil, err
	}
	if err := windows.SetConsoleMode(console, before&^windows.ENABLE_ECHO_INPUT); err != nil {
		return nil, err
	}
	return func() { _ = windows.SetConsoleMode(console, before) }, nil // a console that went away shows nothing
}
