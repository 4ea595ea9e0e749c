package main_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"testing"
)

// A tool runs as the service's user, and must not read the service's settings.
func TestOthersDoNotReadTheSettingsOfTheService(t *testing.T) {
	t.Parallel()
	if os.Getuid() == 0 {
		t.Skip("root reads everything")
	}
	p := newWorld(t).serve()
	p.awaitRunning()
	if _, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.Process.Pid)); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("its environment can be read: %v", err)
	}
}
