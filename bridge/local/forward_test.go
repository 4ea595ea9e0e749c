package local

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A message that the disk has lost before the store had it ends the run, and the
// log says why.
func TestADamagedSpoolIsSaid(t *testing.T) {
	t.Parallel()
	spool, err := createLog(filepath.Join(t.TempDir(), "run.ndjson"), maxLogBytes)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"lost", "kept"} {
		if err := spool.append(testContext(t), time.Time{}, "assistant", map[string]any{"text": text}); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.OpenFile(spool.path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("spoilt"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 1)
	log := forwardLog(spool, func(context.Context, entry) error { return nil }, func(err error) { failed <- err })
	if err := <-failed; !strings.Contains(err.Error(), "damaged") {
		t.Errorf("the run is told %q", err)
	}
	if err := log.seal(); err == nil || !strings.Contains(err.Error(), "took 1 of the 2 messages of a run: the spool is damaged") {
		t.Errorf("sealed with %v", err)
	}
}
