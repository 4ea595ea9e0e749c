//go:build unix

package reviewer

import (
	"context"
	"path/filepath"
	"syscall"
	"testing"
)

// A pipe in the place of the workspace would block for good, whatever the context says.
func TestAPipeIsNoWorkspace(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip("no named pipes here:", err)
	}
	if _, err := Review(context.Background(), pipe, nil); err == nil {
		t.Error("a pipe was reviewed")
	}
}
