package command

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// ownProcesses is how many processes and threads a tool can have, if no other
// program of the user starts any meanwhile.
const ownProcesses = 1024

// maxProcesses is RLIMIT_NPROC for a tool. The kernel counts by user, so that those
// that are there already have to be added. It does not hold for root.
func maxProcesses() string {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return ""
	}
	n := ownProcesses
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			n += threads(pid)
		}
	}
	return strconv.Itoa(n)
}

// threads counts those of a process of our user's.
func threads(pid int) int {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	info, err := os.Stat(dir)
	if err != nil {
		return 0
	}
	// Our own process is root's there, where it keeps its memory to itself.
	if owner, ok := info.Sys().(*syscall.Stat_t); !ok || int(owner.Uid) != os.Getuid() && pid != os.Getpid() {
		return 0
	}
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return 0
	}
	// The name in parentheses may hold anything; the number of threads is the 18th
	// field after it (proc_pid_stat(5)).
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 18 {
		return 0
	}
	n, err := strconv.Atoi(string(fields[17]))
	if err != nil {
		return 0
	}
	return n
}
