package sessions

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/bridge"
	"github.com/liaison-bot/liaison/state"
)

// act notes that the newest turn of k called a tool that writes.
func (h *house) act(what string) {
	h.t.Helper()
	turn := h.lastTurn("k")
	if err := h.engine.NoteActed(context.Background(), turn.SessionID, turn.ID, what); err != nil {
		h.t.Fatal(err)
	}
}

// A turn that did something to the world goes on only with the run that did it.
func TestATurnThatActedIsNotRepeated(t *testing.T) {
	crash := func(h *house, b *liveBridge) { h.dieAndLive(b, 0) }
	for name, c := range map[string]struct {
		outlives bool
		acts     bool
		cut      func(h *house, b *liveBridge)
		turn     string
		said     string // the conclusion
		runs     []bridge.RunStatus
	}{
		"crash, nothing done": {false, false, crash, "a:completed", "a success",
			[]bridge.RunStatus{bridge.RunExpired, bridge.RunFinished}},
		"crash after an act": {false, true, crash, "a:failed", "a failure: the turn was cut short, and its run cannot be found any more. It is not run again by itself, because it has called push_branch already",
			[]bridge.RunStatus{bridge.RunRunning}},
		"crash after an act, the run goes on": {true, true, crash, "a:completed", "a success",
			[]bridge.RunStatus{bridge.RunFinished}},
		"two crashes after an act, the run goes on": {true, true, func(h *house, b *liveBridge) {
			h.dieAndLive(b, 0)
			h.wait(time.Second)
			h.dieAndLive(b, 0)
		}, "a:failed", "a failure: the process was lost 2 times while it ran this turn", []bridge.RunStatus{bridge.RunFinished}},
		"stop, nothing done": {false, false, func(h *house, _ *liveBridge) { h.restart() }, "a:completed", "a success",
			[]bridge.RunStatus{bridge.RunCancelled, bridge.RunFinished}},
		"stop after an act": {false, true, func(h *house, _ *liveBridge) { h.restart() }, "a:failed", "a failure: the service stopped while it ran. It is not run again by itself, because it has called push_branch already",
			[]bridge.RunStatus{bridge.RunCancelled}},
		"stop after an act, the run goes on": {true, true, func(h *house, _ *liveBridge) { h.restart() }, "a:completed", "a success",
			[]bridge.RunStatus{bridge.RunFinished}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newLiveBridge(c.outlives, time.Minute)
			inHouseWith(t, b.behind, func(h *house) {
				h.send(push("a", "", 1))
				h.wait(20 * time.Second)
				if c.acts {
					h.act("push_branch")
				}
				c.cut(h, b)
				h.wait(5 * time.Minute)
				h.wantTurns("k", c.turn)
				if said := h.world.said(); len(said) < 2 || !strings.HasPrefix(said[1], c.said) {
					t.Errorf("the world was told %q, want %q", said, c.said)
				}
				wantRuns(t, b, "review a", c.runs...)
			})
		})
	}
}

// Nor is it repeated by a bridge that dies, or by a provider that asks to wait.
func TestAFailureAfterAnActIsFinal(t *testing.T) {
	for name, fault := range map[string]error{
		"asked to wait": &RetryError{Err: errors.New("the model is busy"), WaitsFor: "the model"},
		"no other run":  errActed,
	} {
		t.Run(name, func(t *testing.T) {
			inHouse(t, func(h *house) {
				runs := 0
				h.runner.run = func(_ context.Context, r RunRequest, _ func(bridge.Event)) (bridge.Result, error) {
					runs++
					if r.Acted() {
						t.Error("a turn acted before it ran")
					}
					h.act("merge " + secret)
					h.act("close")
					if !r.Acted() {
						t.Error("the runner does not know that the turn acted")
					}
					return bridge.Result{}, fault
				}
				h.send(push("a", "", 1))
				h.wait(time.Hour)
				h.wantTurns("k", "a:failed")
				turn := h.lastTurn("k")
				if runs != 1 || turn.Acted != "merge [redacted]" || !strings.Contains(turn.Reason, "because it has called merge [redacted] already") {
					t.Errorf("after %d runs the turn is %+v", runs, turn)
				}
			})
		})
	}
}

func TestRunnerSendsNoOtherRunAfterAnAct(t *testing.T) {
	b := newLiveBridge(false, time.Minute)
	inHouseWith(t, b.behind, func(h *house) {
		h.send(push("a", "", 1))
		h.wait(time.Second)
		r := newBridgeRunner(b, nil)
		_, err := r.Run(context.Background(), RunRequest{
			SessionID: "ses_1", TurnID: "trn_1", AgentID: "agt_new", Prompt: "x", Acted: func() bool { return true },
		}, func(bridge.Event) {})
		if !errors.Is(err, errActed) {
			t.Errorf("Run returned %v", err)
		}
		wantRuns(t, b, "x")
	})
}

func TestOnlyARunningTurnActs(t *testing.T) {
	inHouse(t, func(h *house) {
		h.send(push("a", "", 1))
		h.wait(500 * time.Millisecond)
		turn := h.lastTurn("k")
		h.wait(2 * time.Second)
		note := func(sessionID, turnID string) error {
			return h.engine.NoteActed(context.Background(), sessionID, turnID, "push")
		}
		for name, err := range map[string]error{
			"ended":           note(turn.SessionID, turn.ID),
			"unknown session": note("ses_nobody", turn.ID),
			"unknown turn":    note(turn.SessionID, "trn_nobody"),
		} {
			if !errors.Is(err, ErrTurnNotRunning) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if acted := h.lastTurn("k").Acted; acted != "" {
			t.Errorf("the ended turn acted: %s", acted)
		}
	})
}

// A process that lost its place to another one must not let a tool write.
func TestAFencedTurnDoesNotAct(t *testing.T) {
	fenced := &fencedStore{}
	inHouseWith(t, fenced.around, func(h *house) {
		h.send(push("a", "", 1))
		h.wait(500 * time.Millisecond)
		fenced.fail.Store(true)
		turn := h.lastTurn("k")
		if err := h.engine.NoteActed(context.Background(), turn.SessionID, turn.ID, "push"); !errors.Is(err, state.ErrFenced) {
			t.Errorf("NoteActed returned %v", err)
		}
		fenced.fail.Store(false)
	})
}

type fencedStore struct{ faultyStore }

func (s *fencedStore) around(o *Options) {
	s.Store = o.Store
	o.Store = s
}

func (s *fencedStore) Commit(ctx context.Context, c state.Change) (uint64, error) {
	if s.fail.Load() {
		return 0, state.ErrFenced
	}
	return s.Store.Commit(ctx, c)
}
