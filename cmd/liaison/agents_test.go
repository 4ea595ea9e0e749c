package main_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/boltstore"
)

// agents looks into the database of a service that has ended, and returns how
// many agents and runs it holds. Every run must have said something.
func (w *world) agents() (agents, runs int) {
	w.t.Helper()
	store, err := boltstore.Open(filepath.Join(w.dir, "liaison.db"), boltstore.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	defer store.Close()
	ctx := w.t.Context()
	known, err := store.AgentRecords(ctx, state.RecordAgent, "", "", 100)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, agent := range known {
		of, err := store.AgentRecords(ctx, state.RecordRun, agent.ID, "", 100)
		if err != nil {
			w.t.Fatal(err)
		}
		for _, run := range of {
			if said, err := store.RunEvents(ctx, run.ID, 0, 1); err != nil || len(said) == 0 {
				w.t.Errorf("run %s said nothing: %v", run.ID, err)
			}
		}
		runs += len(of)
	}
	return len(known), runs
}

// One file holds the agents of our own bridge beside the decisions about them,
// and they survive kill -9.
func TestAgentsAreKeptInTheDatabase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serve()
	pull := w.open("Remember me")
	p.deliver(w.hub.Event(repo, pull.Number, "opened"))
	w.reviewed(pull.Number, pull.HeadSHA)
	p.kill()
	if agents, runs := w.agents(); agents != 1 || runs != 1 {
		t.Errorf("%d agents with %d runs are kept, want one of each", agents, runs)
	}
	p = w.serve()
	head := w.push(pull)
	p.deliver(w.hub.Event(repo, pull.Number, "synchronize"))
	w.reviewed(pull.Number, head)
	p.terminate()
	if agents, runs := w.agents(); agents != 1 || runs != 2 {
		t.Errorf("%d agents with %d runs are kept, want one with two", agents, runs)
	}
	for _, name := range []string{"agents", "runs"} {
		if _, err := os.Stat(filepath.Join(w.dir, "bridge", name)); err == nil {
			t.Errorf("the bridge keeps %s in files of its own", name)
		}
	}
}

// push changes a pull request and returns its new head.
func (w *world) push(pull *sim.PullRequest) string {
	return w.hub.Push(repo, pull.Number, map[string]sim.Change{"more.go": sim.Write("package main\n\nvar more = 1\n")})
}

// A bridge that knows none of the agents, since another one kept them, gets them
// anew, and the reviews go on.
func TestAgentsOfAnotherBridgeAreMadeAnew(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the other bridge is a shell script")
	}
	w := newWorld(t)
	other := filepath.Join(t.TempDir(), "bridge")
	script := "#!/bin/sh\nexec '" + binary + "' bridge serve \"$@\"\n"
	if err := os.WriteFile(other, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	p := w.serve("CURSOR_SDK_BRIDGE_BIN=" + other)
	pull := w.open("Change the bridge")
	p.deliver(w.hub.Event(repo, pull.Number, "opened"))
	w.reviewed(pull.Number, pull.HeadSHA)
	p.terminate()
	if agents, _ := w.agents(); agents != 0 {
		t.Errorf("another bridge keeps %d agents in our database", agents)
	}
	for _, extra := range [][]string{nil, {"CURSOR_SDK_BRIDGE_BIN=" + other}} {
		p = w.serve(extra...)
		head := w.hub.Push(repo, pull.Number, map[string]sim.Change{"n.go": sim.Write("package main\n\n// " + filepath.Join(extra...) + "\n")})
		p.deliver(w.hub.Event(repo, pull.Number, "synchronize"))
		check, _ := w.reviewed(pull.Number, head)
		if check.Conclusion == "failure" {
			t.Errorf("with %q: %s", extra, check.Summary)
		}
		p.terminate()
	}
	if agents, runs := w.agents(); agents != 1 || runs != 1 {
		t.Errorf("%d agents with %d runs are kept, want one of each", agents, runs)
	}
}
