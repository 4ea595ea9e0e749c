package bridge

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"
)

// A crash ends every run of the process with what it printed last, and the next
// use starts a fresh one that is told of the agent again.
func TestCrashMidRun(t *testing.T) {
	t.Parallel()
	record := recordFile(t)
	log := new(logBuffer)
	o := fakeOptions(t, fakeScript{Record: record, Run: []fakeStep{
		message("status", "status", "RUNNING"),
		{Stderr: "TypeError: undefined is not a function, with " + fakeToken + " and api-key-0123456789 and p4ssw0rd"},
		{Crash: true},
	}})
	o.Logger = log.logger()
	o.Redact = func(s string) string { return strings.ReplaceAll(s, "p4ssw0rd", "***") }
	c := newClient(t, o)
	ctx := testContext(t)
	options := testAgent(t)
	options.Tools = []string{"read"}
	a, err := c.Agents().Create(ctx, options)
	if err != nil {
		t.Fatal(err)
	}
	exited := c.Exited()
	for generation := uint64(1); generation <= 2; generation++ {
		run := send(t, a)
		_, err := run.Wait(ctx)
		var process *ProcessError
		if !errors.As(err, &process) || process.Op != "exit" || process.Generation != generation {
			t.Fatalf("wait = %v, want a ProcessError of generation %d", err, generation)
		}
		if process.State != "exit status 7" || ClassOf(err) != ClassRetry {
			t.Errorf("state = %q, class %v", process.State, ClassOf(err))
		}
		if want := "TypeError: undefined is not a function, with [redacted] and [redacted] and ***"; !strings.HasSuffix(process.Stderr, want) {
			t.Errorf("stderr = %q, want it to end with %q", process.Stderr, want)
		}
		if generation == 1 {
			select {
			case <-exited:
			case <-ctx.Done():
				t.Fatal("Exited is not closed")
			}
		}
	}
	if got := recorded(t, record, "ResumeAgent"); len(got) != 1 || !strings.Contains(got[0], `"tools":{"names":["read"]}`) {
		t.Errorf("the fresh bridge was told %s; want the agent with its restrictions, once", got)
	}
	for _, secret := range []string{fakeToken, "api-key-0123456789", "p4ssw0rd"} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("the log has %q", secret)
		}
	}
	if err := c.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(ctx); err != nil {
		t.Errorf("close of an agent whose bridge is gone = %v", err)
	}
}

func TestCrashEndsAllRuns(t *testing.T) {
	t.Parallel()
	c := newClient(t, fakeOptions(t, fakeScript{Run: []fakeStep{message("status", "status", "RUNNING"), {Hang: true}}}))
	ctx := testContext(t)
	var wg sync.WaitGroup
	for _, id := range []string{"a", "b", "c"} {
		o := testAgent(t)
		o.ID = id
		a, err := c.Agents().Create(ctx, o)
		if err != nil {
			t.Fatal(err)
		}
		run := send(t, a)
		wg.Go(func() {
			var process *ProcessError
			if _, err := run.Wait(ctx); !errors.As(err, &process) {
				t.Errorf("%s: wait = %v, want a ProcessError", id, err)
			}
		})
	}
	c.supervisor.last().process.kill()
	wg.Wait()
}

// A call that is under way when the process dies says so, not "EOF".
func TestCrashMidCall(t *testing.T) {
	t.Parallel()
	c := newClient(t, fakeOptions(t, fakeScript{ExitOn: "ListModels"}))
	_, err := c.Models(testContext(t))
	var process *ProcessError
	if !errors.As(err, &process) || process.Op != "exit" || !strings.Contains(process.Stderr, "panic in ListModels") {
		t.Errorf("models = %v, want a ProcessError with the last output", err)
	}
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	s := newSupervisor(nil, nil)
	defer s.close()
	var waits []time.Duration
	for range 9 {
		s.delay()
		waits = append(waits, time.Until(s.notBefore).Round(50*time.Millisecond))
	}
	want := []time.Duration{0, 250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 15 * time.Second, 15 * time.Second}
	for i := range want {
		if waits[i] != want[i] {
			t.Errorf("failure %d: wait %s, want %s", i+1, waits[i], want[i])
		}
	}
}
