package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncData makes what was written durable, with no more of the file's
// properties than that needs.
func syncData(f *os.File) error { return unix.Fdatasync(int(f.Fd())) }
