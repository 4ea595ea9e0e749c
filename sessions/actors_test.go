package sessions

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/bridge"
	"github.com/liaison-bot/liaison/state"
)

// inMemory returns how many sessions have an actor.
func (h *house) inMemory() int {
	h.engine.actors.mu.Lock()
	defer h.engine.actors.mu.Unlock()
	return len(h.engine.actors.live)
}

// crowd makes n sessions s0, s1… whose turns wait behind one that runs.
func (h *house) crowd(n int) {
	h.send(request{Key: "first", Rev: "x", At: 1})
	h.settle()
	for i := range n {
		h.send(request{Key: fmt.Sprint("s", i), Rev: "a", At: 1, Text: fmt.Sprint("task ", i)})
		if i%32 == 0 {
			h.settle()
		}
	}
	h.settle()
}

func oneAtATime(o *Options) { o.MaxRunningTurns = 1 }

func TestSessionsThatWaitLeaveMemoryAndComeBack(t *testing.T) {
	inHouseWith(t, oneAtATime, func(h *house) {
		const n = 3 * maxResting
		h.crowd(n)
		if in := h.inMemory(); in > maxResting+1 {
			t.Errorf("%d sessions are in memory while %d wait", in, n)
		}
		if s := h.engine.Status(); s.ActiveSessions != n+1 || s.QueuedTurns != n || s.RunningTurns != 1 {
			t.Errorf("status is %+v", s)
		}
		h.wait(2 * n * time.Second)
		for i := range n {
			h.wantTurns(fmt.Sprint("s", i), "a:completed")
		}
		if s := h.engine.Status(); s.ActiveSessions != 0 || s.QueuedTurns != 0 {
			t.Errorf("status is %+v", s)
		}
		if h.runner.overlap || h.runner.most != 1 {
			t.Errorf("%d turns ran at once", h.runner.most)
		}
	})
}

func TestASessionThatLeftMemoryIsPreemptedAndArchived(t *testing.T) {
	inHouseWith(t, oneAtATime, func(h *house) {
		h.crowd(2 * maxResting) // s0 and s1 are not in memory
		h.send(request{Key: "s0", Rev: "b", Prev: "a", At: 2, Text: "b"})
		h.send(request{Do: "archive", Key: "s1", Rev: "a", At: 2})
		h.settle()
		h.wantTurns("s0", "a:interrupted", "b:queued")
		h.wantTurns("s1", "a:interrupted")
		if s := h.engine.Status(); s.QueuedTurns != 2*maxResting-1 {
			t.Errorf("status is %+v", s)
		}
		h.wait(4 * maxResting * time.Second)
		h.wantTurns("s0", "a:interrupted", "b:completed")
		h.wantTurns("s1", "a:interrupted")
	})
}

// parkedTurns has all first runs of n sessions refused for an hour.
func (h *house) parkedTurns(n int) {
	h.runner.run = func(ctx context.Context, r RunRequest, _ func(bridge.Event)) (bridge.Result, error) {
		h.runner.mu.Lock()
		first := len(h.runner.requests) <= n
		h.runner.mu.Unlock()
		if first {
			return bridge.Result{}, &RetryError{After: time.Hour, WaitsFor: rateLimit, Err: fmt.Errorf("slow down")}
		}
		return think(ctx, r, time.Second)
	}
	for i := range n {
		h.send(request{Key: fmt.Sprint("s", i), Rev: "a", At: 1, Text: "x"})
		h.settle()
	}
	h.wait(time.Minute)
}

func TestTurnsThatWaitForATimeAreNotInMemory(t *testing.T) {
	inHouse(t, func(h *house) {
		const n = maxResting + 50
		h.parkedTurns(n)
		if in := h.inMemory(); in > maxResting {
			t.Errorf("%d sessions are in memory", in)
		}
		if s := h.engine.Status(); s.QueuedTurns != 0 || s.RunningTurns != 0 {
			t.Errorf("status is %+v", s)
		}
		turn := h.lastTurn("s0")
		if turn.Status != state.TurnQueued || turn.NotBefore.IsZero() {
			t.Errorf("turn is %+v", turn)
		}
		h.wait(50 * time.Minute)
		if ran := len(h.runner.prompts()); ran != n {
			t.Errorf("%d runs before the time", ran-n)
		}
		h.wait(time.Hour)
		for i := range n {
			h.wantTurns(fmt.Sprint("s", i), "a:completed")
		}
		if turn := h.lastTurn("s0"); !turn.NotBefore.IsZero() {
			t.Errorf("turn still waits: %+v", turn)
		}
	})
}

// An earlier version kept no time with the turn: such a turn starts at once,
// and its timer does no harm later.
func TestATimerOfAnEarlierVersion(t *testing.T) {
	inHouse(t, func(h *house) {
		h.parkedTurns(1)
		h.stop()
		h.store = h.store.Reopen()
		turn := h.lastTurn("s0")
		turn.NotBefore = time.Time{}
		if _, err := h.store.Commit(context.Background(), state.Change{Turns: []state.Turn{turn}}); err != nil {
			t.Fatal(err)
		}
		h.start()
		h.wait(time.Minute)
		h.wantTurns("s0", "a:completed")
		h.wait(2 * time.Hour)
		h.wantTurns("s0", "a:completed")
		if _, left, err := h.store.NextTimer(context.Background()); left || err != nil {
			t.Errorf("a timer is left: %t, %v", left, err)
		}
	})
}

func TestATimerIsTriedAgainWhenTheStoreDoesNotTakeIt(t *testing.T) {
	flaky := &flakyStore{}
	inHouseWith(t, func(o *Options) { flaky.Store = o.Store; o.Store = flaky }, func(h *house) {
		h.parkedTurns(1)
		flaky.failWith(state.ErrConflict, maxConflicts)
		h.wait(2 * time.Hour)
		h.wantTurns("s0", "a:completed")
	})
}

// longRunTakes is how long longRun runs.
const longRunTakes = 10 * time.Minute

func longRun(ctx context.Context, r RunRequest, _ func(bridge.Event)) (bridge.Result, error) {
	return think(ctx, r, longRunTakes)
}
