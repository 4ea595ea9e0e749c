package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/bridge"
	"github.com/liaison-bot/liaison/state"
)

// wantRuns checks how the runs of a turn ended at the bridge.
func wantRuns(t *testing.T, b *liveBridge, prompt string, want ...bridge.RunStatus) {
	t.Helper()
	if got := b.ofTurn(prompt); !slices.Equal(got, want) {
		t.Errorf("the runs of %q ended %q, want %q", prompt, got, want)
	}
}

// dieAndLive kills the host, lets time pass, and starts the next one.
func (h *house) dieAndLive(b *liveBridge, meanwhile time.Duration) {
	h.t.Helper()
	_ = h.store.Close()
	b.setDeaf(func() bool { return true })
	h.stop()
	b.setDeaf(nil)
	if !b.outlives {
		b.dies()
	}
	h.wait(meanwhile)
	h.store = h.store.Reopen()
	h.start()
}

func TestARunIsAdoptedAfterACrash(t *testing.T) {
	for name, c := range map[string]struct {
		outlives  bool
		meanwhile time.Duration
		want      []bridge.RunStatus
		forced    int
	}{
		"live at a bridge that outlived us": {true, 0, []bridge.RunStatus{bridge.RunFinished}, 0},
		"ended while we were dead":          {true, time.Hour, []bridge.RunStatus{bridge.RunFinished}, 0},
		"dead with its bridge":              {false, 0, []bridge.RunStatus{bridge.RunExpired, bridge.RunFinished}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := newLiveBridge(c.outlives, time.Minute)
			inHouseWith(t, b.behind, func(h *house) {
				h.send(push("a", "", 1))
				h.wait(20 * time.Second)
				if turn := h.lastTurn("k"); turn.Sending == nil || turn.Sending.RunID != "run-1" || turn.RunID != "run-1" {
					t.Errorf("while it runs the ledger says %+v", turn)
				}
				h.dieAndLive(b, c.meanwhile)
				h.wait(2 * time.Minute)
				h.wantTurns("k", "a:completed")
				h.wantSaid("a in progress", "a success", "done: review a")
				wantRuns(t, b, "review a", c.want...)
				if b.forced != c.forced {
					t.Errorf("%d runs were expired, want %d", b.forced, c.forced)
				}
				turn := h.lastTurn("k")
				if turn.Sending != nil || turn.RunID != b.runs[len(b.runs)-1].id {
					t.Errorf("in the end the ledger says %+v", turn)
				}
				var texts []string
				for _, ev := range h.events("k") {
					if ev.Type == EventMessageCompleted {
						texts = append(texts, string(ev.Data))
					}
				}
				if len(texts) == 0 || !strings.Contains(texts[len(texts)-1], "working on review a") {
					t.Errorf("the record of the run is %q", texts)
				}
			})
		})
	}
}

// The process may die between any two steps of a send.
func TestACrashAroundTheSend(t *testing.T) {
	for name, c := range map[string]struct {
		lose string
		want []bridge.RunStatus
	}{
		"before it": {"die", []bridge.RunStatus{bridge.RunFinished}},
		"after it":  {"after", []bridge.RunStatus{bridge.RunFinished}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newLiveBridge(true, time.Minute)
			inHouseWith(t, b.behind, func(h *house) {
				first := true
				b.lose = func() string {
					if !first {
						return ""
					}
					first = false
					_ = h.store.Close() // the process knows nothing more
					if c.lose == "die" {
						return "before"
					}
					return c.lose
				}
				h.send(push("a", "", 1))
				h.wait(time.Second)
				h.dieAndLive(b, 0)
				h.wait(3 * time.Minute)
				h.wantTurns("k", "a:completed")
				wantRuns(t, b, "review a", c.want...)
			})
		})
	}
}

// An answer that is lost between living processes is doubt, too: nothing is sent
// before the bridge was asked again.
func TestALostAnswerIsLookedForLater(t *testing.T) {
	for name, c := range map[string]struct {
		lose  []string
		sends int
	}{
		"it ran":                   {[]string{"after"}, 1},
		"it did not run":           {[]string{"before"}, 1},
		"it did not run, and then": {[]string{"before", "after"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := newLiveBridge(false, time.Minute)
			inHouseWith(t, b.behind, func(h *house) {
				b.lose = func() string {
					if len(c.lose) == 0 {
						return ""
					}
					how := c.lose[0]
					c.lose = c.lose[1:]
					return how
				}
				h.send(push("a", "", 1))
				h.wait(10 * time.Minute)
				h.wantTurns("k", "a:completed")
				wantRuns(t, b, "review a", bridge.RunFinished)
				if b.sends != c.sends {
					t.Errorf("%d sends, want %d", b.sends, c.sends)
				}
			})
		})
	}
}

// The run of one turn is never taken for another's.
func TestANewTurnAdoptsNoOtherRun(t *testing.T) {
	for _, meanwhile := range []time.Duration{0, time.Hour} {
		b := newLiveBridge(true, time.Minute)
		inHouseWith(t, b.behind, func(h *house) {
			h.send(push("a", "", 1))
			h.wait(20 * time.Second)
			h.send(push("b", "a", 2)) // decided, or not, before the process dies
			h.dieAndLive(b, meanwhile)
			h.send(push("c", "b", 3))
			h.wait(5 * time.Minute)
			turns := h.turns("k")
			if last := turns[len(turns)-1]; last != "c:completed" {
				t.Errorf("turns %v", turns)
			}
			said := h.world.said()
			if last := said[len(said)-1]; last != "done: review c" {
				t.Errorf("the world was told %q", said)
			}
		})
	}
}

// A process that stops before it has looked leaves that to the next.
func TestAStopKeepsTheDoubt(t *testing.T) {
	b := newLiveBridge(true, time.Minute)
	inHouseWith(t, b.behind, func(h *house) {
		h.send(push("a", "", 1))
		h.wait(20 * time.Second)
		h.world.prepare = func(ctx context.Context, _ Turn, _ string) (Brief, error) {
			<-ctx.Done()
			return Brief{}, ctx.Err()
		}
		h.dieAndLive(b, 0)
		h.world.prepare = nil
		h.restart()
		h.wait(2 * time.Minute)
		h.wantTurns("k", "a:completed")
		wantRuns(t, b, "review a", bridge.RunFinished)
	})
}

// A stop ends the run of a bridge that ends with its host, and the next process
// sends another: the cancelled one is no result. A bridge that outlives the host
// goes on with the run, and so does the next process.
func TestWhatAStopMakesOfARun(t *testing.T) {
	for _, outlives := range []bool{false, true} {
		t.Run(fmt.Sprint("outlives=", outlives), func(t *testing.T) {
			b := newLiveBridge(outlives, time.Minute)
			inHouseWith(t, b.behind, func(h *house) {
				h.send(push("a", "", 1))
				h.wait(20 * time.Second)
				h.restart()
				h.wait(2 * time.Minute)
				h.wantTurns("k", "a:completed")
				if outlives {
					wantRuns(t, b, "review a", bridge.RunFinished)
				} else {
					wantRuns(t, b, "review a", bridge.RunCancelled, bridge.RunFinished)
				}
			})
		})
	}
}

// A run whose end is known is not found again by the next attempt, and one whose
// end is not known is looked for.
func TestAnIntentionEndsWithItsRun(t *testing.T) {
	inHouse(t, func(h *house) {
		n := 0
		h.runner.run = func(ctx context.Context, r RunRequest, _ func(bridge.Event)) (bridge.Result, error) {
			n++
			if found := r.Sent != nil && r.SentHere && r.Sent.RunID == "run"; found != (n == 3 || n == 4) {
				t.Errorf("attempt %d has the intention %+v (here: %v)", n, r.Sent, r.SentHere)
			}
			if n == 4 {
				return think(ctx, r, time.Second)
			}
			for _, s := range []state.Sending{{After: "old"}, {After: "old", RunID: "run"}} {
				if err := r.Note(ctx, s); err != nil {
					t.Error(err)
				}
			}
			refused := &RetryError{Err: errors.New("not now")}
			if n == 1 {
				return bridge.Result{Status: bridge.RunError}, refused
			}
			return bridge.Result{}, refused
		}
		h.send(push("a", "", 1))
		h.wait(time.Hour)
		h.wantTurns("k", "a:completed")
		if n != 4 || h.lastTurn("k").Sending != nil {
			t.Errorf("after %d attempts the ledger says %+v", n, h.lastTurn("k"))
		}
		if logs := h.logs.String(); strings.Count(logs, "turn running") != 4 {
			t.Errorf("the log has a turn start more often than it did:\n%s", logs)
		}
	})
}

// A turn that was ended meanwhile notes nothing more, and so sends nothing.
func TestAnEndedTurnSendsNothing(t *testing.T) {
	inHouse(t, func(h *house) {
		var late error
		var once bool
		h.runner.run = func(ctx context.Context, r RunRequest, _ func(bridge.Event)) (bridge.Result, error) {
			if once {
				return think(ctx, r, time.Second)
			}
			once = true
			<-ctx.Done()
			late = r.Note(context.WithoutCancel(ctx), state.Sending{})
			return bridge.Result{Status: bridge.RunCancelled}, nil
		}
		h.send(push("a", "", 1))
		h.wait(time.Second)
		h.send(push("b", "a", 2))
		h.wait(time.Minute)
		h.wantTurns("k", "a:interrupted", "b:completed")
		if !errors.Is(late, ErrTurnNotRunning) {
			t.Errorf("the intention of an ended turn: %v", late)
		}
	})
}
