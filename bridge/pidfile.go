package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// pidFileName is kept under StateRoot while a bridge runs.
const pidFileName = "bridge.pid"

// pidRecord names a bridge process and the host that started it. An id alone
// names nobody: ids are used again, and a stranger must never be ended.
type pidRecord struct {
	PID          int    `json:"pid"`
	Identity     string `json:"identity"`
	HostPID      int    `json:"host_pid"`
	HostIdentity string `json:"host_identity"`
}

// writePIDFile records that this program's bridge is the process pid.
func writePIDFile(root string, pid int) error {
	r := pidRecord{PID: pid, HostPID: os.Getpid()}
	var err error
	if r.Identity, err = processIdentity(pid); err == nil {
		r.HostIdentity, err = processIdentity(r.HostPID)
	}
	if err != nil {
		return fmt.Errorf("record the bridge's process: %w", err)
	}
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("record the bridge's process: %w", err)
	}
	path := filepath.Join(root, pidFileName)
	if err := os.WriteFile(path+".new", data, 0o600); err != nil {
		return fmt.Errorf("record the bridge's process: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("record the bridge's process: %w", err)
	}
	return nil
}

// decodePIDFile returns nil for what names no process that could be a bridge.
func decodePIDFile(data []byte) *pidRecord {
	r := new(pidRecord)
	if err := json.Unmarshal(data, r); err != nil || r.PID <= 1 || r.Identity == "" {
		return nil
	}
	return r
}

func removePIDFile(root string) {
	_ = os.Remove(filepath.Join(root, pidFileName)) // what is left is found stale
}

// endStale ends the bridge that a dead host left behind under root. A bridge
// whose host lives is an error: two would write to one store.
func endStale(ctx context.Context, root string) error {
	data, err := os.ReadFile(filepath.Join(root, pidFileName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for an older bridge: %w", err)
	}
	r := decodePIDFile(data)
	if r == nil {
		removePIDFile(root) // torn by a crash, or not ours: it names nobody
		return nil
	}
	alive, err := isSame(r.PID, r.Identity)
	if err != nil {
		return fmt.Errorf("look for an older bridge: %w", err)
	}
	if !alive {
		removePIDFile(root)
		return nil
	}
	if hosted, err := isSame(r.HostPID, r.HostIdentity); err != nil {
		return fmt.Errorf("look for an older bridge: %w", err)
	} else if hosted {
		return fmt.Errorf("%s is in use by the bridge %d of process %d; stop that process or choose another state root", root, r.PID, r.HostPID)
	}
	if err := endProcess(ctx, r.PID, r.Identity); err != nil {
		return fmt.Errorf("end the bridge %d that a dead process left behind: %w", r.PID, err)
	}
	removePIDFile(root)
	return nil
}

func isSame(pid int, identity string) (bool, error) {
	now, err := processIdentity(pid)
	return err == nil && now != "" && now == identity, err
}

// endProcess kills a process that is not our child, with its group, and waits
// until it is gone.
func endProcess(ctx context.Context, pid int, identity string) error {
	if err := killStranded(pid); err != nil {
		return err
	}
	// Nobody tells us of the end of a process that is not our child.
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		alive, err := isSame(pid, identity)
		if err != nil || !alive {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
