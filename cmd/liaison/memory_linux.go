package main

import "golang.org/x/sys/unix"

// keepMemoryPrivate keeps other processes of the same user, such as tools and what an
// agent starts, from reading the settings in /proc/<pid>/environ, and the memory.
// Where the kernel does not know that, they can.
// https://man7.org/linux/man-pages/man2/PR_SET_DUMPABLE.2const.html
func keepMemoryPrivate() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }
