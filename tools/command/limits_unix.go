//go:build unix

package command

import "os"

// The limits of a tool's processes, each by itself.
//
// The memory is RLIMIT_DATA, in KiB: what a process can write. Of the address space,
// which RLIMIT_AS bounds, runtimes such as Node's and the JVM's reserve more than a
// machine has. Linux counts private mappings for it since 4.7 (getrlimit(2)); macOS
// takes it and bounds the heap of brk alone.
const (
	maxData   = "2097152" // 2 GiB
	maxFile   = "4194304" // 2 GiB, in blocks of 512 bytes
	maxOpened = "1024"
)

// shell sets limits, which are kept where they are lower already, and becomes the
// program: process id, signals and exit status are the program's. Shells name the
// number of processes differently.
const shell = `umask 077
ulimit -c 0 2>/dev/null || :
ulimit -d "$1" 2>/dev/null || :
ulimit -f "$2" 2>/dev/null || :
ulimit -n "$3" 2>/dev/null || :
[ -z "$4" ] || ulimit -u "$4" 2>/dev/null || ulimit -p "$4" 2>/dev/null || :
shift 4
exec "$@"`

const shellPath = "/bin/sh"

// limited is a command that sets the limits and becomes argv. A machine without a
// shell has none of them.
func limited(argv []string) []string {
	if _, err := os.Stat(shellPath); err != nil {
		return argv
	}
	return append([]string{shellPath, "-c", shell, "tool", maxData, maxFile, maxOpened, maxProcesses()}, argv...)
}
