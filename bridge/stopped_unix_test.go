//go:build unix

package bridge

import (
	"errors"
	"syscall"
	"testing"
	"time"
)

// A bridge that is stopped, as by a debugger or a machine that swaps, says
// nothing and does not die. The run is given up, and the bridge replaced.
func TestAStoppedBridge(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	o := ownOptions(t)
	o.StallTimeout, o.CallTimeout, o.StopGrace = 2*time.Second, 2*time.Second, time.Second
	c := newClient(t, o)
	a, err := c.Agents().Create(ctx, echoAgent(t))
	if err != nil {
		t.Fatal(err)
	}
	run, err := a.Send(ctx, Message{Text: "say started\nwait 1h"}, SendOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pid := c.supervisor.last().process.pid()
	for e, err := range run.Events(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := e.Payload.(Assistant); ok {
			break
		}
	}
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	_, err = run.Wait(ctx)
	var process *ProcessError
	if !errors.Is(err, ErrStalled) && !errors.As(err, &process) {
		t.Fatalf("wait = %v, want it to have stalled", err)
	}
	if ClassOf(err) != ClassRetry {
		t.Errorf("class = %v of %v", ClassOf(err), err)
	}
	if got := askAgent(t, a, "say fine", SendOptions{Force: true}); got != "fine" {
		t.Errorf("the next bridge answered %q", got)
	}
}

// What is used while the stopped bridge is still being ended waits for that, and
// then has a whole bridge.
func TestTheNextBridgeWaitsForTheEndOfAStoppedOne(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	o := ownOptions(t)
	o.StallTimeout, o.CallTimeout, o.StopGrace = 2*time.Second, 2*time.Second, time.Second
	// What holds stderr outside the group makes the end of the process take its time.
	o.Executable = "/bin/sh"
	o.Args = []string{"-c", `setsid sleep 4 & exec "$0" "$@"`, ownBridge}
	c := newClient(t, o)
	a, err := c.Agents().Create(ctx, echoAgent(t))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Send(ctx, Message{Text: "wait 1h"}, SendOptions{}); err != nil {
		t.Fatal(err)
	}
	exited := c.Exited()
	if err := syscall.Kill(c.supervisor.last().process.pid(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	select {
	case <-exited:
	case <-ctx.Done():
		t.Fatal("the stopped bridge was not given up")
	}
	if err := c.Ping(ctx); err != nil {
		t.Errorf("the next bridge: %v", err)
	}
}
