package bridge

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// processIdentity names the process that has the id pid now, so that it can be
// told from a later one with the same id; empty when there is none. It is the
// boot's id and the start time in clock ticks since boot (proc_pid_stat(5)).
func processIdentity(pid int) (string, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	// The second field is the command in parentheses and may hold anything.
	_, rest, _ := bytes.Cut(stat[max(bytes.LastIndexByte(stat, ')'), 0):], []byte{' '})
	fields := strings.Fields(string(rest))
	if len(fields) < 20 {
		return "", fmt.Errorf("read /proc/%d/stat: %d fields after the command, want 20 or more", pid, len(fields))
	}
	if fields[0] == "Z" || fields[0] == "X" {
		return "", nil // it has ended and only its parent has not noticed
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(boot)) + "/" + fields[19], nil
}
