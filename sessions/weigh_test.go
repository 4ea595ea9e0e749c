package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/state"
)

// slowly has every delivery weighed for some time, and notes the order.
func (h *house) slowly(took time.Duration) *[]string {
	var mu sync.Mutex
	var order []string
	h.world.weigh = func(ctx context.Context, in Intent) (Intent, error) {
		select {
		case <-ctx.Done():
			return in, ctx.Err()
		case <-time.After(took):
		}
		mu.Lock()
		defer mu.Unlock()
		order = append(order, in.Message)
		return in, nil
	}
	return &order
}

func asked1(key, text string) request {
	return request{Key: key, Text: text, Coalesce: true, Weigh: true}
}

// What was weighed decides, whatever it was before.
func TestWhatWasWeighedIsDecided(t *testing.T) {
	for name, c := range map[string]struct {
		weigh    func(in Intent) (Intent, error)
		status   state.DeliveryStatus
		decision string
		said     []string
	}{
		"as it was": {func(in Intent) (Intent, error) { return in, nil }, state.DeliveryDone, "queued as turn", []string{" in progress", " success", "done: hi"}},
		"ignored, with an answer": {func(Intent) (Intent, error) {
			return Intent{Action: ActionIgnore, Reason: "may not", Effects: []Effect{say("no", "you may not")}}, nil
		}, state.DeliveryIgnored, "may not", []string{"you may not"}},
		"of another key": {func(in Intent) (Intent, error) {
			in.Key = "other"
			return in, nil
		}, state.DeliveryDone, "queued as turn", []string{" in progress", " success", "done: hi"}},
		"not to be known": {func(Intent) (Intent, error) { return Intent{}, errors.New("no such repository " + secret) },
			state.DeliveryDead, "cannot be weighed: no such repository [redacted]", nil},
		"a panic": {func(Intent) (Intent, error) { panic("at " + secret) },
			state.DeliveryDead, "cannot be weighed: Weigh of channel test panicked: at [redacted]", nil},
		"made impossible": {func(Intent) (Intent, error) { return Intent{Action: ActionRun}, nil },
			state.DeliveryDead, "cannot be understood: the channel made an impossible key", nil},
		"two effects of one name": {func(in Intent) (Intent, error) {
			in.Effects = []Effect{say("a", "1"), say("a", "2")}
			return in, nil
		}, state.DeliveryDead, "two of one name", nil},
	} {
		t.Run(name, func(t *testing.T) {
			inHouse(t, func(h *house) {
				h.world.weigh = func(_ context.Context, in Intent) (Intent, error) { return c.weigh(in) }
				id := h.send(asked1("k", "hi"))
				h.wait(2 * time.Second)
				h.wantDelivery(id, c.status, c.decision)
				h.wantSaid(c.said...)
				if name == "of another key" {
					h.wantTurns("other", ":completed")
				}
			})
		})
	}
}

// What was decided about already is known without asking anybody, which matters
// while the platform is out of reach: a duplicate would be put off for hours.
func TestADuplicateIsNotWeighed(t *testing.T) {
	inHouse(t, func(h *house) {
		var weighed int
		down := false
		h.world.weigh = func(_ context.Context, in Intent) (Intent, error) {
			weighed++
			if down {
				return in, &RetryError{Uncounted: true, Err: errors.New("no route")}
			}
			return in, nil
		}
		asked := asked1("k", "hi")
		asked.Fact = "f"
		first := h.send(asked)
		h.wait(2 * time.Second)
		down = true
		twice := h.send(asked)
		h.settle()
		stop := request{Do: "stop", Key: "k", Fact: "f", Weigh: true}
		stopped := h.send(stop)
		h.settle()
		h.wantDelivery(first, state.DeliveryDone, "queued as turn")
		h.wantDelivery(twice, state.DeliveryIgnored, "duplicate of test:"+first)
		h.wantDelivery(stopped, state.DeliveryIgnored, "duplicate of test:"+first)
		if weighed != 1 {
			t.Errorf("the channel was asked %d times, want once", weighed)
		}
		// Of two in one line the second comes after the decision about the first.
		down, asked.Fact = false, "g"
		h.send(asked)
		second := h.send(asked)
		h.wait(2 * time.Second)
		h.wantDelivery(second, state.DeliveryIgnored, "duplicate of test:d4")
		if weighed != 2 {
			t.Errorf("the channel was asked %d times, want twice", weighed)
		}
		h.replay(twice) // a person wants it all the same
		h.wait(2 * time.Second)
		h.wantDelivery(twice, state.DeliveryDone, "replay 1: queued as turn")
		if weighed != 3 {
			t.Errorf("the channel was asked %d times, want three times", weighed)
		}
	})
}

// plain is a channel that can weigh nothing.
type plain struct{ Channel }

func TestAChannelThatCannotWeigh(t *testing.T) {
	inHouseWith(t, func(o *Options) { o.Channels[0] = plain{o.Channels[0]} }, func(h *house) {
		id := h.send(asked1("k", "hi"))
		h.settle()
		h.wantDelivery(id, state.DeliveryDead, `channel "test" cannot say what it is worth`)
	})
}

// Of one key everything is decided in order, also what need not be weighed; other
// keys and stops wait for nobody.
func TestWeighingKeepsTheOrderOfAKey(t *testing.T) {
	inHouse(t, func(h *house) {
		order := h.slowly(10 * time.Second)
		h.send(asked1("k", "first"))
		h.send(asked1("k", "second"))
		plainly := h.send(request{Key: "k", Text: "third", Coalesce: true})
		other := h.send(request{Key: "other", Text: "quick"})
		stop := h.send(request{Do: "stop", Key: "k"})
		h.wait(5 * time.Second)
		h.wantDelivery(other, state.DeliveryDone, "queued")
		h.wantDelivery(stop, state.DeliveryIgnored, "no session to stop")
		h.wantDelivery(plainly, state.DeliveryPending, "")
		h.wait(16 * time.Second)
		h.wantDelivery(plainly, state.DeliveryDone, "queued")
		if got := *order; !slices.Equal(got, []string{"first", "second"}) {
			t.Errorf("weighed in the order %q", got)
		}
		h.wait(10 * time.Second)
		if got := h.runner.prompts(); !slices.Equal(got, []string{"quick", "first", "second", "third"}) {
			t.Errorf("the agents were asked %q", got)
		}
	})
}

// A stop that has to be weighed does not stand in line either.
func TestAStopIsWeighedAtOnce(t *testing.T) {
	inHouse(t, func(h *house) {
		h.slowly(10 * time.Second)
		h.send(request{Key: "k", Text: "long"})
		h.settle()
		later := h.send(asked1("k", "later"))
		h.wait(time.Millisecond)
		stop := h.send(request{Do: "stop", Key: "k", Weigh: true})
		h.wait(10 * time.Second)
		h.wantDelivery(later, state.DeliveryDone, "")
		h.wantDelivery(stop, state.DeliveryDone, "stopped turn")
	})
}

func TestWeighingIsTriedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		err    *RetryError
		within time.Duration
		status state.DeliveryStatus
		says   string
		tries  int
	}{
		"for ever while the platform is out of reach": {&RetryError{Uncounted: true, Err: errors.New("no route")}, 48 * time.Hour, state.DeliveryPending, "put off: no route", 0},
		"for ever while it refuses us":                {&RetryError{Paused: true, Err: errors.New("suspended")}, 48 * time.Hour, state.DeliveryPending, "put off: suspended", 0},
		"for hours while it answers with errors":      {&RetryError{Err: errors.New("502")}, 3 * time.Hour, state.DeliveryPending, "put off: 502", 0},
		"and given up after a day of errors":          {&RetryError{Err: errors.New("502")}, 24 * time.Hour, state.DeliveryDead, "gave up after 40 tries to weigh it: 502", 40},
	} {
		t.Run(name, func(t *testing.T) {
			inHouse(t, func(h *house) {
				tries := 0
				var answers atomic.Bool
				h.world.weigh = func(_ context.Context, in Intent) (Intent, error) {
					if answers.Load() {
						return in, nil
					}
					tries++
					return Intent{}, c.err
				}
				id := h.send(asked1("k", "hi"))
				h.wait(c.within)
				h.wantDelivery(id, c.status, c.says)
				if c.tries > 0 && tries != c.tries || tries < 8 || tries > 500 {
					t.Errorf("weighed %d times", tries)
				}
				if c.tries > 0 {
					return
				}
				h.restart()
				answers.Store(true)
				h.wait(time.Hour)
				h.wantDelivery(id, state.DeliveryDone, "queued")
			})
		})
	}
}

// Somebody who asks while an earlier delivery is put off does not wait for it.
func TestWhatIsPutOffHoldsUpNothing(t *testing.T) {
	inHouse(t, func(h *house) {
		h.world.weigh = func(_ context.Context, in Intent) (Intent, error) {
			if in.Message == "first" && h.engine.now().Before(time.Date(2000, 1, 1, 0, 1, 0, 0, time.UTC)) {
				return in, &RetryError{After: 30 * time.Second, Err: errors.New("wait")}
			}
			return in, nil
		}
		first, second := h.send(asked1("k", "first")), h.send(asked1("k", "second"))
		h.wait(2 * time.Second)
		h.wantDelivery(first, state.DeliveryPending, "put off: wait")
		h.wantDelivery(second, state.DeliveryDone, "queued")
		h.crash()
		h.store = h.store.Reopen()
		h.start()
		h.wait(2 * time.Minute)
		h.wantDelivery(first, state.DeliveryDone, "queued")
	})
}

// A channel that gives no answer is asked again, and the process can stop meanwhile.
func TestWeighingIsBounded(t *testing.T) {
	inHouse(t, func(h *house) {
		release := make(chan struct{})
		defer close(release)
		var answers atomic.Bool
		h.world.weigh = func(_ context.Context, in Intent) (Intent, error) {
			if answers.Load() {
				return in, nil
			}
			<-release // whatever its context says
			return Intent{}, nil
		}
		id := h.send(asked1("k", "hi"))
		waiting := h.send(asked1("k", "behind"))
		h.wait(31 * time.Second)
		h.wantDelivery(id, state.DeliveryPending, "put off: no answer within 30s")
		h.stop() // checks that it keeps its bound
		h.store = h.store.Reopen()
		h.wantDelivery(waiting, state.DeliveryPending, "")
		answers.Store(true)
		h.start()
		h.wait(time.Minute)
		h.wantDelivery(id, state.DeliveryDone, "")
		h.wantDelivery(waiting, state.DeliveryDone, "")
	})
}

// Many that are weighed leave room for those that need not be, and all of them
// get their turn.
func TestManyAreWeighed(t *testing.T) {
	inHouse(t, func(h *house) {
		var mu sync.Mutex
		most, now := 0, 0
		h.world.weigh = func(context.Context, Intent) (Intent, error) {
			mu.Lock()
			now++
			most = max(most, now)
			mu.Unlock()
			defer func() {
				mu.Lock()
				now--
				mu.Unlock()
			}()
			time.Sleep(time.Second)
			return Intent{Action: ActionIgnore, Reason: "weighed"}, nil
		}
		var ids []string
		for i := range 3 * maxDispatching / 2 {
			ids = append(ids, h.send(asked1(fmt.Sprint("k", i%40), "x")))
		}
		quick := h.send(request{Key: "quick", Text: "x"})
		h.settle()
		h.wantDelivery(quick, state.DeliveryDone, "queued")
		for range maxAside {
			ids = append(ids, h.send(asked1("busy", "x")))
		}
		h.wait(10 * time.Minute)
		for _, id := range ids {
			h.wantDelivery(id, state.DeliveryIgnored, "weighed")
		}
		if most != maxWeighing {
			t.Errorf("%d were weighed at once, want %d", most, maxWeighing)
		}
		if n := h.engine.Status().Deciding; n != 0 {
			t.Errorf("%d are in hand", n)
		}
	})
}
