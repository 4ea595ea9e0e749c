package bridge

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// bridgesBelow finds every process that runs as a bridge with its state below
// root, whatever was recorded of it. A process that has ended and was not waited
// for has no command line any more.
func bridgesBelow(root string) (pids []int, err error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	want := []byte("--state-root\x00" + filepath.Join(root, "state") + "\x00")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		// What cannot be read has just ended, or is another user's.
		line, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if bytes.Contains(line, want) {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}
