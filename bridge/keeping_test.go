package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"testing"
)

// echoModel is the test model of Liaison's own bridge.
const echoModel = "liaison-echo"

// ownOptions starts Liaison's own bridge.
func ownOptions(t *testing.T) Options {
	t.Helper()
	return Options{Executable: ownBridge, StateRoot: t.TempDir(), APIKey: "any"}
}

func echoAgent(t *testing.T) AgentOptions {
	return AgentOptions{Model: echoModel, Local: &LocalOptions{Dir: t.TempDir()}}
}

// askAgent sends a message and returns what was answered.
func askAgent(t *testing.T, a *Agent, text string, o SendOptions) string {
	t.Helper()
	run, err := a.Send(testContext(t), Message{Text: text}, o)
	if err != nil {
		t.Fatal(err)
	}
	got, err := run.Text(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// killBridge ends the client's bridge as hard as can be, from the outside.
func killBridge(t *testing.T, c *Client) {
	t.Helper()
	p, err := os.FindProcess(c.supervisor.last().process.pid())
	if err == nil {
		err = p.Kill()
	}
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
}

// replayed is the record of a run, without what a live stream leaves out. The
// error is how the record ended.
func replayed(ctx context.Context, c *Client, runID string) (events []string, err error) {
	for e, err := range c.Observe(ctx, runID, "") {
		if err != nil {
			return events, err
		}
		if _, durable := e.Payload.(Request); !durable {
			events = append(events, canonical(e))
		}
	}
	return events, nil
}

// canonical is an event's JSON in one spelling.
func canonical(e Event) string {
	var v any
	if err := json.Unmarshal(e.Raw(), &v); err != nil {
		return err.Error()
	}
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// Agents, runs, what was said and what is remembered survive the kill of a
// bridge, whoever keeps them.
func TestWhatIsKeptSurvivesAKill(t *testing.T) {
	t.Parallel()
	for name, store := range map[string]Store{"files of the bridge": nil, "a store of the program": NewMemoryStore()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := testContext(t)
			o := ownOptions(t)
			o.Store = store
			c := newClient(t, o)
			options := echoAgent(t)
			options.ID = "kept"
			a, err := c.Agents().Create(ctx, options)
			if err != nil {
				t.Fatal(err)
			}
			first, err := a.Send(ctx, Message{Text: "remember blue\nsay noted"}, SendOptions{})
			if err != nil {
				t.Fatal(err)
			}
			var said []string
			for e, err := range first.Events(ctx) {
				if err != nil {
					t.Fatal(err)
				}
				said = append(said, canonical(e))
			}
			second, err := a.Send(ctx, Message{Text: "say started\nwait 1h"}, SendOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for e, err := range second.Events(ctx) {
				if err != nil {
					t.Fatal(err)
				}
				if _, ok := e.Payload.(Assistant); ok {
					break
				}
			}
			killBridge(t, c)
			var died *ProcessError
			if _, err := second.Wait(ctx); !errors.As(err, &died) {
				t.Fatalf("wait = %v, want a ProcessError", err)
			}

			if _, err := a.Send(ctx, Message{Text: "recall"}, SendOptions{}); !errors.Is(err, ErrAgentBusy) {
				t.Fatalf("send = %v, want it to be busy", err)
			}
			if got := askAgent(t, a, "recall", SendOptions{Force: true}); got != "blue" {
				t.Errorf("it remembers %q", got)
			}
			check := func(c *Client) {
				t.Helper()
				again, err := replayed(ctx, c, first.ID())
				if err != nil || !slices.Equal(again, said) {
					t.Errorf("the first run is replayed as\n%q (%v), want\n%q", again, err, said)
				}
				var ended []RunStatus
				for r, err := range c.Runs(ctx, "kept", ListRunsOptions{}) {
					if err != nil {
						t.Fatal(err)
					}
					ended = append(ended, r.Status)
				}
				if want := []RunStatus{RunFinished, RunExpired, RunFinished}; !slices.Equal(ended, want) {
					t.Errorf("the runs are %q, want %q", ended, want)
				}
			}
			check(c)
			if store == nil {
				return
			}
			// The store is all that there is: a bridge on another disk goes on from it.
			elsewhere := ownOptions(t)
			elsewhere.Store = store
			if err := c.Close(ctx); err != nil {
				t.Fatal(err)
			}
			c = newClient(t, elsewhere)
			check(c)
			a, err = c.Agents().Resume(ctx, "kept", options)
			if err != nil {
				t.Fatal(err)
			}
			if got := askAgent(t, a, "recall", SendOptions{}); got != "blue" {
				t.Errorf("it remembers %q elsewhere", got)
			}
		})
	}
}

// The record of a run that a kill left behind can be read, and says at once that
// it has no end.
func TestObserveWhatAKillLeftBehind(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	c := newClient(t, ownOptions(t))
	a, err := c.Agents().Create(ctx, echoAgent(t))
	if err != nil {
		t.Fatal(err)
	}
	run, err := a.Send(ctx, Message{Text: "say started\nwait 1h"}, SendOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	for e, err := range run.Events(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, canonical(e))
		if _, ok := e.Payload.(Assistant); ok {
			break
		}
	}
	killBridge(t, c)
	if _, err := run.Wait(ctx); err == nil {
		t.Fatal("a run ended well without its bridge")
	}
	again, err := replayed(ctx, c, run.ID())
	if !slices.Equal(again, seen) {
		t.Errorf("the record has\n%q, want\n%q", again, seen)
	}
	var e *Error
	if !errors.As(err, &e) || e.Code != "failed_precondition" {
		t.Errorf("the record ends with %v, want failed_precondition", err)
	}
}
