package main_test

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// However the demo ends early, its status says so and nothing stays behind.
func TestDemoCutShort(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there are no signals to send")
	}
	for _, tt := range []struct {
		name, want string
		cut        func(t *testing.T, demo *exec.Cmd, reader *os.File)
	}{
		{"interrupted", "stopped before every step was verified", func(t *testing.T, demo *exec.Cmd, _ *os.File) {
			if err := demo.Process.Signal(os.Interrupt); err != nil {
				t.Error(err)
			}
		}},
		{"reader gone", "could not be shown to the end", func(t *testing.T, _ *exec.Cmd, reader *os.File) {
			if err := reader.Close(); err != nil {
				t.Error(err)
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			reader, writer, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer reader.Close()
			tmp := t.TempDir()
			var stderr bytes.Buffer
			demo := exec.CommandContext(t.Context(), binary, "demo", "--once")
			demo.Env = append(os.Environ(), "TMPDIR="+tmp)
			demo.Stdout, demo.Stderr = writer, &stderr
			if err := demo.Start(); err != nil {
				t.Fatal(err)
			}
			if err := writer.Close(); err != nil {
				t.Fatal(err)
			}
			for lines := bufio.NewScanner(reader); lines.Scan(); {
				if strings.HasPrefix(lines.Text(), "2. ") {
					break
				}
			}
			tt.cut(t, demo, reader)
			_ = demo.Wait()
			if code := demo.ProcessState.ExitCode(); code != 1 || strings.Count(stderr.String(), tt.want) != 1 {
				t.Errorf("exit status %d, message %q; want 1 and once %q", code, stderr.String(), tt.want)
			}
			if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v (%v)", left, err)
			}
		})
	}
}
