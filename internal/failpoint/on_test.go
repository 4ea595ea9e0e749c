//go:build failpoint

package failpoint

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A process of its own passes three points, and is killed at the one that is named.
func TestTheProcessIsKilledAtThePoint(t *testing.T) {
	if os.Getenv("PASS_POINTS") != "" {
		At("a")
		os.Stdout.WriteString("one\n")
		At("b")
		At("a")
		os.Stdout.WriteString("two\n")
		return
	}
	for name, want := range map[string]string{"a": "", "a:2": "one\n", "b": "one\n", "c": "one\ntwo\n"} {
		cmd := exec.Command(os.Args[0], "-test.run=TestTheProcessIsKilledAtThePoint", "-test.v=false")
		cmd.Env = append(os.Environ(), "PASS_POINTS=1", Variable+"="+name)
		out, err := cmd.Output()
		got, _, _ := strings.Cut(string(out), "PASS")
		if got != want || (err == nil) != (name == "c") {
			t.Errorf("%s: the process wrote %q and ended with %v", name, got, err)
		}
	}
}
