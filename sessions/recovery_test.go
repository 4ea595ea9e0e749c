package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/bridge"
	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/memstore"
)

func TestStopHandsTheRunningTurnOver(t *testing.T) {
	inHouse(t, func(h *house) {
		h.send(push("a", "", 1))
		h.wait(500 * time.Millisecond)
		h.stop()
		if turn := h.storedTurn("k"); turn.Status != state.TurnQueued || turn.Lost != 0 {
			t.Errorf("turn is %+v", turn)
		}
		h.store = h.store.Reopen()
		h.wantSaid("a in progress")
		h.start()
		h.wait(2 * time.Second)
		h.wantSaid("a in progress", "a success", "done: review a")
		if turn := h.lastTurn("k"); turn.Attempts != 2 {
			t.Errorf("turn is %+v", turn)
		}
	})
}

// storedTurn reads the newest turn of a stopped house.
func (h *house) storedTurn(key string) state.Turn {
	h.t.Helper()
	h.store = h.store.Reopen()
	return h.lastTurn(key)
}

func TestStopReturnsThoughARunnerIgnoresIt(t *testing.T) {
	inHouse(t, func(h *house) {
		free := make(chan struct{})
		h.runner.run = func(context.Context, RunRequest, func(bridge.Event)) (bridge.Result, error) {
			<-free
			return bridge.Result{Status: bridge.RunFinished}, nil
		}
		h.send(push("a", "", 1))
		h.settle()
		h.stop()
		close(free)
		h.settle()
		h.runner.run = nil
		h.store = h.store.Reopen()
		h.start()
		h.wait(2 * time.Second)
		h.wantTurns("k", "a:completed")
		if turn := h.lastTurn("k"); turn.Lost != 1 {
			t.Errorf("turn is %+v", turn)
		}
	})
}

func TestCrashDuringARunRunsItAgain(t *testing.T) {
	inHouse(t, func(h *house) {
		h.send(push("a", "", 1))
		h.wait(500 * time.Millisecond)
		h.crash()
		h.store = h.store.Reopen()
		h.start()
		h.wait(2 * time.Second)
		h.wantSaid("a in progress", "a success", "done: review a")
		if turn := h.lastTurn("k"); turn.Attempts != 2 || turn.Lost != 1 {
			t.Errorf("turn is %+v", turn)
		}
	})
}

func TestTurnThatKillsTheProcessIsGivenUp(t *testing.T) {
	inHouse(t, func(h *house) {
		h.send(push("a", "", 1))
		for range maxLost {
			h.wait(500 * time.Millisecond)
			h.crash()
			h.store = h.store.Reopen()
			h.start()
		}
		h.wait(5 * time.Second)
		h.wantTurns("k", "a:failed")
		h.wantSaid("a in progress", "a failure: the process was lost 2 times while it ran this turn")
	})
}

func TestOldHeadThatCrashedIsOvertakenByTheNewOne(t *testing.T) {
	inHouse(t, func(h *house) {
		h.send(push("a", "", 1))
		h.wait(500 * time.Millisecond)
		h.crash()
		h.store = h.store.Reopen()
		h.send(push("b", "a", 2))
		h.start()
		h.wait(3 * time.Second)
		h.wantTurns("k", "a:interrupted", "b:completed")
		h.wantSaid("a in progress", "a cancelled: superseded by b", "b in progress", "b success", "done: review b")
	})
}

func TestDeliveriesStoredWhileNobodyRanAreTaken(t *testing.T) {
	inHouse(t, func(h *house) {
		h.stop()
		h.store = h.store.Reopen()
		for i := range 200 { // more than is decided at once
			h.send(request{Key: fmt.Sprint("s", i), Text: "x", Coalesce: true})
		}
		h.start()
		h.wait(time.Hour)
		pending, err := h.store.Pending(context.Background(), 0, 1000)
		if err != nil || len(pending) != 0 {
			t.Errorf("%d deliveries are pending, %v", len(pending), err)
		}
		if n := len(h.world.said()); n != 600 {
			t.Errorf("%d effects, want 600", n)
		}
	})
}

func TestRecordIsMadeWholeAfterACrash(t *testing.T) {
	inHouse(t, func(h *house) {
		h.send(push("a", "", 1))
		h.wait(500 * time.Millisecond)
		h.crash()
		// The log lost what was not synced: all but the first event.
		whole := h.log
		h.log = memstore.NewEventLog()
		h.store = h.store.Reopen()
		id := h.session("k").ID
		for ev, err := range whole.Read(context.Background(), id, 0) {
			if err != nil {
				t.Fatal(err)
			}
			if err := h.log.Append(context.Background(), id, false, ev); err != nil {
				t.Fatal(err)
			}
			break
		}
		h.start()
		h.wait(3 * time.Second)
		h.wantEvents("k", "session.started", "message.received", "turn.queued", "turn.started",
			"turn.queued", "turn.started", "turn.completed", "session.waiting")
		for i, ev := range h.events("k") {
			if ev.Index != int64(i) || (ev.Commit == 0) != isStep(ev) {
				t.Errorf("event %d is %+v", i, ev)
			}
		}
		if pending, _ := h.store.PendingLifecycle(context.Background()); len(pending) != 0 {
			t.Errorf("%d events are unconfirmed", len(pending))
		}
	})
}

func TestRecordIsNotDoubledByRepair(t *testing.T) {
	inHouse(t, func(h *house) {
		h.send(push("a", "", 1))
		h.wait(500 * time.Millisecond)
		before := h.eventTypes("k")
		h.crash()
		h.store = h.store.Reopen()
		h.start()
		h.wait(3 * time.Second)
		after := h.eventTypes("k")
		want := append(slices.Clone(before), "turn.queued", "turn.started", "turn.completed", "session.waiting")
		if !slices.Equal(after, want) {
			t.Errorf("events are\n%v, want\n%v", after, want)
		}
	})
}

func TestFailedStoreEndsTheEngine(t *testing.T) {
	var dying atomic.Bool
	inHouse(t, func(h *house) {
		h.stop()
		h.store = memstore.New(memstore.Options{BeforeCommit: func() error {
			if dying.Load() {
				return errors.New("fsync: input/output error")
			}
			return nil
		}})
		h.start()
		h.send(push("a", "", 1))
		h.wait(500 * time.Millisecond)
		dying.Store(true)
		h.wait(time.Minute)
		select {
		case err := <-h.ended:
			if !errors.Is(err, ErrStoreFailed) {
				t.Errorf("Run returned %v", err)
			}
			h.cancel()
			h.cancel = nil
		default:
			t.Error("Run goes on with a store that failed")
		}
	})
}

// damagedStore has rows that cannot be read, in one place.
type damagedStore struct {
	state.Store
	where string
}

var errDamagedRow = fmt.Errorf("row 7: %w", state.ErrCorrupt)

func (s *damagedStore) Due(ctx context.Context, now time.Time, after uint64, limit int) (state.DuePage, error) {
	if s.where == "deliveries" {
		return state.DuePage{}, errDamagedRow
	}
	return s.Store.Due(ctx, now, after, limit)
}

func (s *damagedStore) ClaimOutbox(ctx context.Context, now time.Time, limit int) ([]state.OutboxItem, error) {
	if s.where == "outbox" {
		return nil, errDamagedRow
	}
	return s.Store.ClaimOutbox(ctx, now, limit)
}

func (s *damagedStore) DueTimers(ctx context.Context, now time.Time, limit int) ([]state.Timer, error) {
	if s.where == "timers" {
		return nil, errDamagedRow
	}
	return s.Store.DueTimers(ctx, now, limit)
}

// A service that takes deliveries and does nothing with them would look well.
func TestWhatCannotBeReadEndsTheEngine(t *testing.T) {
	for _, where := range []string{"deliveries", "outbox", "timers"} {
		t.Run(where, func(t *testing.T) {
			inHouseWith(t, func(o *Options) { o.Store = &damagedStore{Store: o.Store, where: where} }, func(h *house) {
				h.settle()
				select {
				case err := <-h.ended:
					if !errors.Is(err, state.ErrCorrupt) {
						t.Errorf("Run returned %v", err)
					}
				default:
					t.Error("Run goes on although a loop cannot")
				}
				h.cancel()
				h.cancel = nil
			})
		})
	}
}

func TestPanicWhileATurnIsSettledDoesNotBlockItsSession(t *testing.T) {
	faulty := func(o *Options) {
		o.Redact = func(s string) string {
			if s == "unspeakable" {
				panic("no words for it")
			}
			return s
		}
	}
	inHouseWith(t, faulty, func(h *house) {
		h.world.prepare = func(_ context.Context, turn Turn, _ string) (Brief, error) {
			if turn.Revision.ID == "a" {
				return Brief{}, errors.New("unspeakable")
			}
			return Brief{Prompt: turn.Message}, nil
		}
		h.send(push("a", "", 1))
		h.wait(time.Minute)
		h.wantTurns("k", "a:failed")
		h.send(push("b", "a", 2))
		h.wait(time.Minute)
		h.wantTurns("k", "a:failed", "b:completed")
	})
}

// flakyStore fails with what a test asks for before it lets commits through.
type flakyStore struct {
	state.Store
	mu       sync.Mutex
	failures []error
}

// failWith makes the next n commits fail.
func (s *flakyStore) failWith(err error, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures = slices.Repeat([]error{err}, n)
}

func (s *flakyStore) Commit(ctx context.Context, c state.Change) (uint64, error) {
	s.mu.Lock()
	if len(s.failures) > 0 && len(c.Confirm) == 0 {
		err := s.failures[0]
		s.failures = s.failures[1:]
		s.mu.Unlock()
		return 0, err
	}
	s.mu.Unlock()
	return s.Store.Commit(ctx, c)
}

func TestPassingFaultsOfTheStore(t *testing.T) {
	for name, failure := range map[string]error{
		"changed by someone else": state.ErrConflict,
		"full for a while":        state.ErrUnavailable,
	} {
		t.Run(name, func(t *testing.T) {
			flaky := &flakyStore{}
			inHouseWith(t, func(o *Options) { flaky.Store = o.Store; o.Store = flaky }, func(h *house) {
				flaky.failWith(failure, 3)
				id := h.send(push("a", "", 1))
				h.wait(10 * time.Second)
				h.wantDelivery(id, state.DeliveryDone, "queued")
				h.wantSaid("a in progress", "a success", "done: review a")
			})
		})
	}
}

func TestDeliveryThatCannotBeDecidedIsADeadLetter(t *testing.T) {
	flaky := &flakyStore{}
	inHouseWith(t, func(o *Options) { flaky.Store = o.Store; o.Store = flaky }, func(h *house) {
		flaky.failWith(state.ErrConflict, maxConflicts)
		id := h.send(push("a", "", 1))
		h.wait(time.Second)
		h.wantDelivery(id, state.DeliveryDead, "could not be decided: gave up after 10 tries")
	})
}

func TestDecisionThatTheStoreDidNotTakeIsTakenLater(t *testing.T) {
	for name, at := range map[string]time.Duration{"start": 0, "end": 500 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			flaky := &flakyStore{}
			inHouseWith(t, func(o *Options) { flaky.Store = o.Store; o.Store = flaky; o.MaxRunningTurns = 1 }, func(h *house) {
				// The other session holds the only place until the faults are ready.
				h.send(request{Key: "other", Rev: "x", At: 1})
				h.settle()
				h.send(push("a", "", 1))
				h.settle()
				time.Sleep(999*time.Millisecond + at)
				flaky.failWith(state.ErrConflict, maxConflicts)
				h.wait(time.Minute)
				h.wantTurns("k", "a:completed")
				h.wantTurns("other", "x:completed")
			})
		})
	}
}

func TestEngineRefusesToStartWithout(t *testing.T) {
	whole := Options{
		Store: memstore.New(memstore.Options{}), Log: memstore.NewEventLog(), Runner: &scriptedRunner{},
		Dir: "x", Channels: []Channel{newWorld()},
	}
	if _, err := New(whole); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*Options){
		"Store":           func(o *Options) { o.Store = nil },
		"Log":             func(o *Options) { o.Log = nil },
		"Runner":          func(o *Options) { o.Runner = nil },
		"Dir":             func(o *Options) { o.Dir = "" },
		"MaxRunningTurns": func(o *Options) { o.MaxRunningTurns = -1 },
		"channel name":    func(o *Options) { o.Channels = []Channel{newWorld(), newWorld()} },
	} {
		o := whole
		spoil(&o)
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("without %s: %v", name, err)
		}
	}
}

func TestEngineRunsOnce(t *testing.T) {
	inHouse(t, func(h *house) {
		if err := h.engine.Run(context.Background()); err == nil {
			t.Error("a second Run was let through")
		}
	})
}

func TestStatusIsReadable(t *testing.T) {
	inHouse(t, func(h *house) {
		raw, err := json.Marshal(h.engine.Status())
		want := `{"running":true,"activeSessions":0,"runningTurns":0,"queuedTurns":0,"maxRunningTurns":4,"deciding":0,"delivering":0}`
		if err != nil || string(raw) != want {
			t.Errorf("status is %s, %v", raw, err)
		}
	})
}
