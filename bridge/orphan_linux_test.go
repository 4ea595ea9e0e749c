package bridge

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestNoOrphan kills a host as hard as can be, while its bridge ignores every
// polite request, and sees the bridge gone too.
func TestNoOrphan(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	host := exec.Command(exe)
	host.Env = append(os.Environ(), hostVariable+"="+root)
	host.Stderr = os.Stderr
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(fd) }()

	if err := host.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = host.Wait()
	if n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(testLimit.Milliseconds())); err != nil || n != 1 {
		t.Fatalf("the bridge %d outlives its host (poll: %d, %v)", pid, n, err)
	}

	// What the dead host left is no obstacle to the next one.
	for _, name := range []string{pidFileName, tmpDirName} {
		if _, err := os.Stat(filepath.Join(root, name)); err != nil {
			t.Errorf("the test proves nothing: %v", err)
		}
	}
	o := fakeOptions(t, fakeScript{})
	o.StateRoot = root
	if err := newClient(t, o).Ping(testContext(t)); err != nil {
		t.Error(err)
	}
}

// sleeper is a process that leads its own group and does nothing.
func sleeper(t *testing.T) (pid int, ended <-chan struct{}) {
	t.Helper()
	p, err := startProcess(command{path: "/bin/sh", args: []string{"-c", "exec sleep 600"}, logger: new(logBuffer).logger(), mask: noMask})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	return p.pid(), p.done
}

func TestStaleBridge(t *testing.T) {
	t.Parallel()
	identity := func(pid int) string {
		id, err := processIdentity(pid)
		if err != nil || id == "" {
			t.Fatalf("identity of %d = %q, %v", pid, id, err)
		}
		return id
	}
	tests := []struct {
		name   string
		record func(pid int) string
		ends   bool // the recorded process
		fails  bool // the start
	}{
		{"its host is dead", func(pid int) string {
			return `{"pid":` + strconv.Itoa(pid) + `,"identity":"` + identity(pid) + `","host_pid":1,"host_identity":"gone"}`
		}, true, false},
		{"the id is a stranger's now", func(pid int) string {
			return `{"pid":` + strconv.Itoa(pid) + `,"identity":"` + identity(pid) + `0","host_pid":1,"host_identity":"gone"}`
		}, false, false},
		{"its host lives", func(pid int) string {
			return `{"pid":` + strconv.Itoa(pid) + `,"identity":"` + identity(pid) + `","host_pid":` + strconv.Itoa(os.Getpid()) +
				`,"host_identity":"` + identity(os.Getpid()) + `"}`
		}, false, true},
		{"torn", func(int) string { return `{"pid":` }, false, false},
		{"empty", func(int) string { return `` }, false, false},
		{"the first process", func(int) string { return `{"pid":1,"identity":"` + identity(1) + `","host_pid":0,"host_identity":""}` }, false, false},
		{"a whole group", func(int) string { return `{"pid":-1,"identity":"x","host_pid":0,"host_identity":""}` }, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			pid, ended := sleeper(t)
			o := fakeOptions(t, fakeScript{})
			path := filepath.Join(o.StateRoot, pidFileName)
			if err := os.WriteFile(path, []byte(tt.record(pid)), 0o600); err != nil {
				t.Fatal(err)
			}
			c := newClient(t, o)
			if err := c.Ping(testContext(t)); (err != nil) != tt.fails {
				t.Fatalf("ping = %v", err)
			} else if tt.fails && !strings.Contains(err.Error(), "in use by the bridge "+strconv.Itoa(pid)) {
				t.Errorf("error = %v, want it to name the other bridge", err)
			}
			if tt.ends {
				<-ended
			} else if _, err := processIdentity(pid); err != nil {
				t.Error(err)
			}
			if id, err := processIdentity(pid); err != nil || (id == "") != tt.ends {
				t.Errorf("the recorded process ended: %t (%v), want %t", id == "", err, tt.ends)
			}
			if _, err := os.Stat(path); tt.fails && err != nil {
				t.Errorf("the record of a bridge in use was removed: %v", err)
			}
		})
	}
}

// What a bridge has started goes with it, even if it holds stderr open.
func TestGrandchildrenEndWithTheBridge(t *testing.T) {
	t.Parallel()
	p, err := startProcess(command{
		path: "/bin/sh", args: []string{"-c", "sleep 600 & echo $! >&2; exit 4"}, logger: new(logBuffer).logger(), mask: noMask,
	})
	if err != nil {
		t.Fatal(err)
	}
	<-p.done
	if p.state() != "exit status 4" {
		t.Errorf("state = %q", p.state())
	}
	pid, err := strconv.Atoi(p.stderr.last())
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the grandchild to end", func() bool { id, err := processIdentity(pid); return err == nil && id == "" })
}
