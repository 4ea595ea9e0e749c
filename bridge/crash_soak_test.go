package bridge

import (
	"bufio"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// kills is how often something is killed: LIAISON_SOAK asks for all.
func kills(sample, all int) int {
	if os.Getenv("LIAISON_SOAK") != "" {
		return all
	}
	return sample
}

// A host that is killed at any moment leaves no bridge, and nothing that is in
// the way of the next one.
func TestKilledHosts(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts and kills programs")
	}
	root, tmp := t.TempDir(), t.TempDir()
	ready := 0
	for i := range kills(5, 100) {
		if killHost(t, root, tmp, i) {
			ready++
		}
		waitFor(t, "the bridge to end with its host", func() bool {
			left, err := bridgesBelow(root)
			if err != nil {
				t.Fatal(err)
			}
			return len(left) == 0
		})
	}
	if ready == 0 {
		t.Error("no host lived until its bridge was ready: the test proves nothing")
	}

	ctx := testContext(t)
	c := newClient(t, Options{Executable: ownBridge, StateRoot: filepath.Join(root, "state"), APIKey: "any"})
	var known []string
	for info, err := range c.Agents().List(ctx, ListAgentsOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		known = append(known, info.ID)
	}
	for _, id := range known {
		for run, err := range c.Runs(ctx, id, ListRunsOptions{}) {
			if err != nil {
				t.Fatal(err)
			}
			if !run.Status.Ended() {
				continue // the last host's, and nobody's now
			}
			if _, err := replayed(ctx, c, run.ID); err != nil {
				t.Errorf("the record of the %s run %s: %v", run.Status, run.ID, err)
			}
		}
		a, err := c.Agents().Resume(ctx, id, echoAgent(t))
		if err != nil {
			t.Fatal(err)
		}
		if got := askAgent(t, a, "say fine", SendOptions{Force: true}); got != "fine" {
			t.Errorf("%s answered %q", id, got)
		}
	}
	if err := c.Close(ctx); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(root, "state", tmpDirName), filepath.Join(root, "state", pidFileName)} {
		if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there: %v", path, err)
		}
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("the temporary directory of the hosts has %v, %v", left, err)
	}
	if left, err := os.ReadDir(filepath.Join(root, "state", "unreadable")); err == nil {
		t.Errorf("kills have damaged agents: %v", left)
	}
}

// killHost starts a busy host and kills it at a random moment: at a time in its
// first second, or when it has said so many lines.
func killHost(t *testing.T, root, tmp string, i int) (ready bool) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	host := exec.Command(self)
	host.Env = append(os.Environ(), busyVariable+"="+root, "TMPDIR="+tmp, "TMP="+tmp, "TEMP="+tmp)
	stderr := new(logBuffer)
	host.Stderr = stderr
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	lines := make(chan string)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			lines <- s.Text()
		}
	}()
	var moment <-chan time.Time
	wanted := rand.IntN(300)
	if i%4 == 3 {
		moment = time.After(rand.N(time.Second))
	}
	for heard := 0; heard <= wanted; heard++ {
		select {
		case <-moment:
			heard = wanted
		case line, open := <-lines:
			if !open {
				t.Fatalf("the host ended by itself: %v\n%s", host.Wait(), stderr)
			}
			ready = ready || line == "ready"
		}
	}
	if err := host.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for range lines { // the pipe must be read before Wait closes it
	}
	_ = host.Wait() // killed
	if said := stderr.String(); said != "" {
		t.Errorf("the host complained: %s", said)
	}
	return ready
}

// A bridge that is killed in the middle of a run is noticed, by the right name,
// and whatever the run's reader has seen is in the record.
func TestKilledBridges(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts and kills programs")
	}
	o := ownOptions(t)
	options := echoAgent(t)
	options.ID = "killed"
	died := 0
	for i := range kills(3, 50) {
		ctx := testContext(t)
		c := newClient(t, o)
		a, err := c.Agents().Resume(ctx, options.ID, options)
		if errors.Is(err, ErrNotFound) && i == 0 {
			a, err = c.Agents().Create(ctx, options)
		}
		if err != nil {
			t.Fatal(err)
		}
		run, err := a.Send(ctx, Message{Text: "repeat 200 say word"}, SendOptions{Force: true})
		if err != nil {
			t.Fatal(err)
		}
		seen, err := killWhileRunning(ctx, t, c, run, rand.IntN(150))
		var process *ProcessError
		switch {
		case errors.As(err, &process) && process.Op == "exit":
			died++
		case err != nil:
			t.Fatalf("the run ended with %v, want a ProcessError", err)
		}
		// The same client goes on with a new bridge.
		if got := askAgent(t, a, "say fine", SendOptions{Force: true}); got != "fine" {
			t.Errorf("after kill %d the agent answered %q", i, got)
		}
		again, err := replayed(ctx, c, run.ID())
		if err != nil || len(again) < len(seen) || !slices.Equal(again[:len(seen)], seen) {
			t.Fatalf("of %d events that were seen the record has\n%s\n%v", len(seen), strings.Join(again, "\n"), err)
		}
		if err := c.Close(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if died == 0 {
		t.Error("no run was under way when its bridge was killed: the test proves nothing")
	}
}

// killWhileRunning kills the bridge once so many events were read, and returns
// all that came and how the run ended.
func killWhileRunning(ctx context.Context, t *testing.T, c *Client, run *Run, after int) (seen []string, err error) {
	t.Helper()
	exited := c.Exited()
	for e, err := range run.Events(ctx) {
		if err != nil {
			break // Wait has it too
		}
		seen = append(seen, canonical(e))
		if len(seen) == after+1 {
			killBridge(t, c)
		}
	}
	_, err = run.Wait(ctx)
	// The run may have ended just before; the next call must not meet what dies.
	select {
	case <-exited:
	case <-ctx.Done():
		t.Fatal("the kill of the bridge was not noticed")
	}
	return seen, err
}
