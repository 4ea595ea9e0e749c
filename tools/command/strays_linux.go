package command

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// maxSweeps bounds how often it is looked for processes, which may start others
// meanwhile.
const maxSweeps = 8

// endStrays ends what a tool has started and taken out of its group: it is known by
// its HOME, which only processes of this call have.
func endStrays(home string) {
	mark := []byte("HOME=" + home)
	for range maxSweeps {
		if endOnce(mark) == 0 {
			return
		}
	}
}

func endOnce(mark []byte) (ended int) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		ended += endIf(pid, mark)
	}
	return ended
}

// endIf ends a process that has the mark. The handle is opened first: it stays that
// process's when the id becomes another's.
func endIf(pid int, mark []byte) int {
	p, err := os.FindProcess(pid)
	if err != nil {
		return 0
	}
	defer func() { _ = p.Release() }()
	env, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	if err != nil {
		return 0 // it is over, or another user's
	}
	for variable := range bytes.SplitSeq(env, []byte{0}) {
		if bytes.Equal(variable, mark) && p.Kill() == nil {
			return 1
		}
	}
	return 0
}
