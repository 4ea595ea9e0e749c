//go:build unix

package bridge

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A token that others may read is not one: whoever has it drives the agents.
func TestATokenThatOthersMayReadIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(path, []byte("hush"), 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, good := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o640: false, 0o604: false, 0o620: false, 0o602: false, 0o644: false} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		got, err := readyToken([]byte(`{"authTokenFile":"`+path+`"}`), "/")
		if (err == nil) != good || good != (got == "hush") {
			t.Errorf("mode %04o: got %q, %v", mode, got, err)
		}
		if err != nil && (!strings.Contains(err.Error(), "0600") || strings.Contains(err.Error(), "hush")) {
			t.Errorf("the error is %v", err)
		}
	}
}
