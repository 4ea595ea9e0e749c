//go:build unix

package conformance

import (
	"errors"
	"os"
	"syscall"
	"testing"
	"time"
)

// awaitGone waits until no process has the id. Nobody tells of the end of a
// process that is not a child, so it is asked for.
func awaitGone(t *testing.T, pid int) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for limit := testContext(t); ; {
		if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
			return
		}
		select {
		case <-tick.C:
		case <-limit.Done():
			t.Fatalf("process %d is still there", pid)
		}
	}
}

func tokenFileIsPrivate(t *testing.T, to target) {
	file := startRaw(t, to).tokenFile
	if file == "" {
		t.Skip("this bridge says its token in the ready line")
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode != 0o600 {
		t.Errorf("the token's file has mode %o", mode)
	}
}
