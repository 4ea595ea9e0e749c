package conformance

import (
	"os"
	"testing"
	"time"
)

// awaitGone waits until the process has ended.
func awaitGone(t *testing.T, pid int) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for limit := testContext(t); ; {
		process, err := os.FindProcess(pid)
		if err != nil {
			return
		}
		_ = process.Release()
		select {
		case <-tick.C:
		case <-limit.Done():
			t.Fatalf("process %d is still there", pid)
		}
	}
}

func tokenFileIsPrivate(t *testing.T, _ target) {
	t.Skip("Windows has no file modes")
}
