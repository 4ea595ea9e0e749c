//go:build unix

package workspace

import "syscall"

// nonBlocking keeps the open of a pipe from waiting for a writer.
const nonBlocking = syscall.O_NONBLOCK
