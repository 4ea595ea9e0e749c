//go:build !linux

package bridge

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// bridgesBelow finds the recorded bridge whose state is below root, if it is
// still the process that was recorded.
func bridgesBelow(root string) (pids []int, err error) {
	data, err := os.ReadFile(filepath.Join(root, "state", pidFileName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r := decodePIDFile(data)
	if r == nil {
		return nil, nil
	}
	alive, err := isSame(r.PID, r.Identity)
	if alive {
		pids = append(pids, r.PID)
	}
	return pids, err
}
