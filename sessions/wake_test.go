package sessions

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/memstore"
)

// untilGreen has turns wait for checks until green is set, or for half an hour.
func (h *house) untilGreen(green *bool) {
	h.world.prepare = func(_ context.Context, t Turn, _ string) (Brief, error) {
		if *green || h.engine.now().Sub(t.QueuedAt) >= 30*time.Minute {
			return Brief{Prompt: "go on"}, nil
		}
		return Brief{}, &RetryError{
			After: 10 * time.Minute, Uncounted: true, WaitsFor: "the other checks", Err: errors.New("2 checks are running"),
		}
	}
}

func TestAWakeBringsAWaitForward(t *testing.T) {
	for name, c := range map[string]struct {
		wake     request
		status   state.DeliveryStatus
		decision string
		goesOn   bool
	}{
		"of the session":       {request{Do: "wake", Key: "k"}, state.DeliveryDone, "woke turn trn_", true},
		"of the revision":      {request{Do: "wake", Key: "k", Rev: "a"}, state.DeliveryDone, "woke turn trn_", true},
		"of another revision":  {request{Do: "wake", Key: "k", Rev: "b"}, state.DeliveryIgnored, "nothing waits: ", false},
		"of another session":   {request{Do: "wake", Key: "other"}, state.DeliveryIgnored, "there is no such session: ", false},
		"after it was weighed": {request{Do: "wake", Key: "k", Weigh: true}, state.DeliveryDone, "woke turn trn_", true},
	} {
		t.Run(name, func(t *testing.T) {
			inHouse(t, func(h *house) {
				green := false
				h.untilGreen(&green)
				h.send(push("a", "", 1))
				h.wait(time.Minute)
				h.wantTurns("k", "a:queued")
				green = true
				id := h.send(c.wake)
				h.wait(2 * time.Second)
				h.wantDelivery(id, c.status, c.decision)
				if c.goesOn {
					h.wantTurns("k", "a:completed")
					if left, err := h.store.DueTimers(t.Context(), time.Now().Add(24*time.Hour), 9); err != nil || len(left) != 0 {
						t.Errorf("timers are left: %+v, %v", left, err)
					}
				} else {
					h.wantTurns("k", "a:queued")
				}
				if rev := h.session("k").Revision.ID; rev != "a" {
					t.Errorf("the session is about %s", rev)
				}
			})
		})
	}
}

// What happens while a turn looks is not lost: it looks once more.
func TestAWakeThatComesWhileATurnLooks(t *testing.T) {
	inHouse(t, func(h *house) {
		looks := 0
		h.world.prepare = func(context.Context, Turn, string) (Brief, error) {
			looks++
			time.Sleep(10 * time.Second)
			if looks == 1 {
				return Brief{}, &RetryError{After: time.Hour, WaitsFor: "the other checks", Err: errors.New("one is running")}
			}
			return Brief{Prompt: "go on"}, nil
		}
		h.send(push("a", "", 1))
		h.wait(5 * time.Second)
		id := h.send(request{Do: "wake", Key: "k"})
		h.wait(30 * time.Second)
		h.wantDelivery(id, state.DeliveryIgnored, "nothing waits yet, turn ")
		h.wantTurns("k", "a:completed")
	})
}

// A turn can wait for half an hour, through restarts, without using up its tries.
func TestATurnWaitsHalfAnHourForChecks(t *testing.T) {
	inHouse(t, func(h *house) {
		green := false
		h.untilGreen(&green)
		h.send(push("a", "", 1))
		for range 7 {
			h.wait(4 * time.Minute)
			h.restart()
		}
		h.wantTurns("k", "a:queued")
		h.wait(15 * time.Minute)
		h.wantTurns("k", "a:completed")
		if turn := h.lastTurn("k"); turn.Retries != 0 || turn.Lost != 0 {
			t.Errorf("after %d retries and %d losses", turn.Retries, turn.Lost)
		}
	})
}

func TestManySessionsAreArchivedAtOnce(t *testing.T) {
	inHouse(t, func(h *house) {
		for _, key := range []string{"repo:4:pull:1", "repo:4:pull:2", "repo:4:issue:3", "repo:42:pull:1"} {
			h.send(request{Key: key, Text: "x", Rev: "a"})
		}
		h.send(request{Key: "repo:4:pull:2", Coalesce: true, Text: "y", Rev: "a", Force: true})
		h.settle()
		id := h.send(request{Do: "archive", Key: "installation", By: "-", Prefixes: []string{"repo:3:", "repo:4:"}, Say: []string{"gone"}})
		after := h.send(request{Key: "repo:4:pull:1", Text: "back again", Rev: "b"})
		h.wait(10 * time.Second)
		h.wantDelivery(id, state.DeliveryDone, "archived 3 sessions: because of "+id)
		h.wantDelivery(after, state.DeliveryDone, "queued")
		h.wantTurns("repo:4:pull:1", "a:interrupted", "b:completed")
		h.wantTurns("repo:4:pull:2", "a:interrupted", "a:interrupted")
		h.wantTurns("repo:42:pull:1", "a:completed")
		for key, want := range map[string]state.SessionStatus{
			"repo:4:pull:1": state.SessionActive, "repo:4:pull:2": state.SessionArchived,
			"repo:4:issue:3": state.SessionArchived, "repo:42:pull:1": state.SessionActive,
		} {
			if got := h.session(key).Status; got != want {
				t.Errorf("%s is %s, want %s", key, got, want)
			}
		}
		again := h.send(request{Do: "archive", Prefixes: []string{"repo:3:"}})
		h.settle()
		h.wantDelivery(again, state.DeliveryIgnored, "no session to archive")
		if h.world.writes["delivery:test:"+id+"/gone"] != 1 {
			t.Errorf("the world was told %q", h.world.said())
		}
	})
}

// Prefixes that name more than is meant are refused.
func TestImpossibleSweeps(t *testing.T) {
	inHouse(t, func(h *house) {
		for name, r := range map[string]request{
			"half a number": {Do: "archive", Prefixes: []string{"repo:4"}},
			"everything":    {Do: "archive", Prefixes: []string{""}},
			"a run":         {Key: "k", Prefixes: []string{"repo:4:"}},
		} {
			id := h.send(r)
			h.settle()
			if d := h.delivery(id); d.Status != state.DeliveryDead || !strings.Contains(d.Decision, "cannot be understood") {
				t.Errorf("%s: %s, %s", name, d.Status, d.Decision)
			}
		}
	})
}

// A process that dies while many sessions are archived goes on where it was, and
// nothing of them is told twice.
func TestASweepSurvivesCrashes(t *testing.T) {
	left := -1
	mortal := func(o *Options) {
		o.Store = &mortalStore{Store: o.Store.(*memstore.Store), left: left, applies: left%2 == 0}
	}
	inHouseWith(t, mortal, func(h *house) {
		const n = 30
		for i := range n {
			h.send(request{Key: "repo:4:pull:" + string(rune('a'+i)), Text: "x"})
			h.wait(2 * time.Second)
		}
		id := ""
		for i := 0; ; i++ {
			h.crash()
			h.store = h.store.Reopen()
			left = 1 + i%7
			if id == "" {
				id = h.send(request{Do: "archive", Prefixes: []string{"repo:4:"}})
			}
			h.start()
			h.settle()
			if h.delivery(id).Status != state.DeliveryPending {
				break
			}
			if i > 20*n {
				t.Error("it comes to no end")
				break
			}
		}
		h.crash()
		h.store, left = h.store.Reopen(), -1
		h.start()
		h.wait(time.Minute)
		for i := range n {
			key := "repo:4:pull:" + string(rune('a'+i))
			if got := h.session(key).Status; got != state.SessionArchived {
				t.Errorf("%s is %s", key, got)
			}
			ended := 0
			for _, typ := range h.eventTypes(key) {
				if typ == EventSessionCompleted {
					ended++
				}
			}
			if ended != 1 {
				t.Errorf("%s ended %d times", key, ended)
			}
		}
	})
}
