package sessions

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/state"
)

// pickyLog takes no events of some sessions, and counts syncs.
type pickyLog struct {
	state.EventLog
	mu      sync.Mutex
	refused map[string]bool
	synced  map[string]int
}

var errPicky = errors.New("no room for this one")

func (l *pickyLog) Append(ctx context.Context, id string, sync bool, events ...state.Event) error {
	l.mu.Lock()
	if l.refused[id] {
		l.mu.Unlock()
		return errPicky
	}
	if sync {
		l.synced[id]++
	}
	l.mu.Unlock()
	return l.EventLog.Append(ctx, id, sync, events...)
}

func (l *pickyLog) refuse(id string, no bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refused[id] = no
}

func inPickyHouse(t *testing.T, f func(h *house, l *pickyLog)) {
	l := &pickyLog{refused: map[string]bool{}, synced: map[string]int{}}
	inHouseWith(t, func(o *Options) { l.EventLog = o.Log; o.Log = l }, func(h *house) { f(h, l) })
}

func (h *house) unconfirmed() int {
	h.t.Helper()
	pending, err := h.store.PendingLifecycle(context.Background())
	if err != nil {
		h.t.Fatal(err)
	}
	return len(pending)
}

func TestEventsThatWereNotTakenComeBeforeLaterOnes(t *testing.T) {
	inPickyHouse(t, func(h *house, l *pickyLog) {
		h.send(push("a", "", 1))
		h.wait(time.Minute)
		before := h.eventTypes("k")
		l.refuse(h.session("k").ID, true)
		h.send(push("b", "a", 2))
		h.wait(time.Minute)
		h.wantTurns("k", "a:completed", "b:completed") // the work goes on
		h.wantEvents("k", before...)
		l.refuse(h.session("k").ID, false)
		h.send(push("c", "b", 3))
		h.wait(time.Minute)
		turn := []string{"message.received", "turn.queued", "turn.started", "turn.completed", "session.waiting"}
		h.wantEvents("k", slices.Concat(before, turn, turn)...)
		if n := h.unconfirmed(); n != 0 {
			t.Errorf("%d events are unconfirmed", n)
		}
	})
}

func TestARecordThatCannotBeRepairedHoldsUpNobody(t *testing.T) {
	inPickyHouse(t, func(h *house, l *pickyLog) {
		h.send(request{Key: "bad", Rev: "a", At: 1})
		h.send(request{Key: "good", Rev: "a", At: 1})
		h.settle()
		bad := h.session("bad").ID
		l.refuse(bad, true)
		h.crash()
		h.store = h.store.Reopen()
		h.start()
		h.wait(time.Minute)
		h.wantTurns("good", "a:completed")
		h.wantTurns("bad", "a:completed")
		if n := h.unconfirmed(); n == 0 {
			t.Error("events that are in no record are confirmed")
		}
		l.refuse(bad, false)
		h.restart()
		h.wait(time.Minute)
		if n := h.unconfirmed(); n != 0 {
			t.Errorf("%d events are unconfirmed", n)
		}
		for _, key := range []string{"bad", "good"} {
			h.wantEvents(key, "session.started", "message.received", "turn.queued", "turn.started",
				"turn.queued", "turn.started", "turn.completed", "session.waiting")
		}
	})
}

func TestRecordsAreSyncedOnceASessionSettlesOrAfterAWhile(t *testing.T) {
	inPickyHouse(t, func(h *house, l *pickyLog) {
		h.runner.run = longRun
		h.send(push("a", "", 1))
		h.wait(5 * time.Second)
		id := h.session("k").ID
		count := func() int {
			l.mu.Lock()
			defer l.mu.Unlock()
			return l.synced[id]
		}
		if n := count(); n != 0 {
			t.Errorf("synced %d times while the turn has just begun", n)
		}
		h.wait(2 * recordAge)
		if n := count(); n != 1 {
			t.Errorf("synced %d times within %s", n, 2*recordAge)
		}
		if n := h.unconfirmed(); n != 0 {
			t.Errorf("%d events are unconfirmed", n)
		}
		h.wait(longRunTakes)
		h.wantTurns("k", "a:completed")
		if n := count(); n != 2 {
			t.Errorf("synced %d times in the end", n)
		}
		if n := h.unconfirmed(); n != 0 {
			t.Errorf("%d events are unconfirmed in the end", n)
		}
	})
}

// lazyStore counts what is read of sessions.
type lazyStore struct {
	state.Store
	mu    sync.Mutex
	reads int
}

func (s *lazyStore) Session(ctx context.Context, id string) (state.Session, error) {
	s.mu.Lock()
	s.reads++
	s.mu.Unlock()
	return s.Store.Session(ctx, id)
}

func TestAStartReadsNoSessionThatOnlyWaits(t *testing.T) {
	lazy := &lazyStore{}
	adjust := func(o *Options) {
		oneAtATime(o)
		lazy.Store = o.Store
		o.Store = lazy
	}
	inHouseWith(t, adjust, func(h *house) {
		h.runner.run = longRun
		const n = 2 * maxResting
		h.crowd(n)
		h.crash()
		h.store = h.store.Reopen()
		lazy.reads = 0
		h.start()
		h.settle()
		// The one that ran, and what is owed of it.
		if lazy.reads > 5 {
			t.Errorf("%d reads of sessions for %d that wait", lazy.reads, n)
		}
		if s := h.engine.Status(); s.QueuedTurns != n || s.RunningTurns != 1 {
			t.Errorf("status is %+v", s)
		}
		h.wait(recordAge / 2)
		waiting, err := h.store.OpenTurns(context.Background())
		if err != nil || len(waiting) != n+1 {
			t.Errorf("%d turns are open, %v", len(waiting), err)
		}
		for i, turn := range waiting { // in the order in which they were queued
			if got := h.engine.turns.ahead(turn.SessionID); i > 0 && got != i {
				t.Errorf("%d before turn %d", got, i)
				break
			}
		}
	})
}
