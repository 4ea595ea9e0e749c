package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/state"
)

// letters returns "id: reason" of the outbox's dead letters.
func (h *house) letters() []string {
	h.t.Helper()
	all, err := h.store.DeadLetters(context.Background(), "", 100)
	if err != nil {
		h.t.Fatal(err)
	}
	var out []string
	for _, l := range all {
		out = append(out, l.ID+": "+l.Reason)
	}
	return out
}

func TestEffectIsTriedAgainAndLooksForItsMark(t *testing.T) {
	inHouse(t, func(h *house) {
		h.world.deliver = func(_ context.Context, item Item) (Receipt, error) {
			receipt := h.world.write(item)
			if item.Attempts < 4 { // it happened, but nobody was told
				return Receipt{}, &RetryError{Err: errors.New("502 bad gateway")}
			}
			return receipt, nil
		}
		h.send(push("a", "", 1))
		h.wait(10 * time.Minute)
		h.wantSaid("a in progress", "a success", "done: review a")
		if left, _ := h.store.OutboxItems(context.Background(), h.session("k").ID); len(left) != 0 {
			t.Errorf("still owed: %v", left)
		}
	})
}

func TestEffectWaitsAtLeastAsLongAsItIsTold(t *testing.T) {
	inHouse(t, func(h *house) {
		var at []time.Time
		h.world.deliver = func(_ context.Context, item Item) (Receipt, error) {
			at = append(at, time.Now())
			if item.Attempts == 1 {
				return Receipt{}, &RetryError{After: 90 * time.Second, Err: errors.New("secondary rate limit")}
			}
			return h.world.write(item), nil
		}
		h.send(push("a", "", 1))
		h.wait(2 * time.Minute)
		if len(at) < 2 || at[1].Sub(at[0]) < 90*time.Second || at[1].Sub(at[0]) > 91*time.Second {
			t.Errorf("attempts at %v", at)
		}
	})
}

func TestStuckSessionDelaysNoOther(t *testing.T) {
	inHouse(t, func(h *house) {
		h.world.deliver = func(_ context.Context, item Item) (Receipt, error) {
			if item.Key == "stuck" {
				return Receipt{}, &RetryError{After: time.Hour, Err: errors.New("no")}
			}
			return h.world.write(item), nil
		}
		h.send(request{Key: "stuck", Rev: "s", At: 1})
		h.send(push("a", "", 1))
		h.wait(5 * time.Second)
		h.wantSaid("a in progress", "a success", "done: review a")
	})
}

func TestEffectIsGivenUpVisibly(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		fault  any
		reason string
	}{
		"at once for a refusal": {err: errors.New("422: head is gone " + secret), reason: "422: head is gone [redacted]"},
		"after bounded tries":   {err: &RetryError{Err: errors.New("502")}, reason: "gave up after 24 tries: 502"},
		"after a panic":         {fault: "nil comment", reason: "Deliver of channel test panicked: nil comment"},
		"after calls that hung": {err: context.DeadlineExceeded, reason: "gave up after 24 tries: no answer within 2m0s"},
	} {
		t.Run(name, func(t *testing.T) {
			inHouse(t, func(h *house) {
				h.world.deliver = func(_ context.Context, item Item) (Receipt, error) {
					if strings.HasSuffix(item.ID, "/check") {
						if c.fault != nil {
							panic(c.fault)
						}
						return Receipt{}, c.err
					}
					return h.world.write(item), nil
				}
				h.send(push("a", "", 1))
				h.wait(24 * time.Hour)
				got := h.letters()
				if len(got) != 1 || !strings.HasPrefix(got[0], "outbox:trn_") || !strings.Contains(got[0], c.reason) {
					t.Errorf("dead letters are %q, want %q", got, c.reason)
				}
				h.wantSaid("a success", "done: review a") // what comes after is not held up for ever
			})
		})
	}
}

func TestPauseDoesNotUseUpTheTries(t *testing.T) {
	for _, restart := range []bool{false, true} {
		t.Run(fmt.Sprint("restart=", restart), func(t *testing.T) {
			inHouse(t, func(h *house) {
				var suspended atomic.Bool
				suspended.Store(true)
				tries := 0
				h.world.deliver = func(_ context.Context, item Item) (Receipt, error) {
					if tries++; suspended.Load() {
						return Receipt{}, &RetryError{Paused: true, Err: errors.New("installation suspended")}
					}
					if tries%2 == 0 {
						return Receipt{}, &RetryError{Err: errors.New("502")}
					}
					return h.world.write(item), nil
				}
				h.send(push("a", "", 1))
				h.wait(12 * time.Hour)
				if h.session("k").Paused == "" {
					t.Error("the session does not show the pause")
				}
				if restart {
					h.restart()
				}
				suspended.Store(false)
				h.wait(2 * time.Hour)
				h.wantSaid("a in progress", "a success", "done: review a")
				if got := h.letters(); len(got) != 0 {
					t.Errorf("given up: %q", got)
				}
				if h.session("k").Paused != "" {
					t.Error("the session still shows the pause")
				}
			})
		})
	}
}

func TestWhatIsRememberedReachesTheNextEffectAndTurn(t *testing.T) {
	inHouse(t, func(h *house) {
		var seen map[string]string
		h.world.prepare = func(_ context.Context, turn Turn, _ string) (Brief, error) {
			seen = turn.Surface
			return Brief{Prompt: turn.Message}, nil
		}
		h.send(push("a", "", 1))
		h.wait(3 * time.Second)
		first := h.lastTurn("k").ID
		if got := h.world.surfaces[first+"/conclusion"]["check"]; got != first {
			t.Errorf("the conclusion did not see the check: %q", got)
		}
		h.world.deliver = func(_ context.Context, item Item) (Receipt, error) {
			h.world.write(item)
			return Receipt{Remember: map[string]string{"comment": ""}}, nil
		}
		h.send(push("b", "a", 2))
		h.wait(3 * time.Second)
		if seen["comment"] != first {
			t.Errorf("the second turn saw %v", seen)
		}
		if _, still := h.session("k").Surface["comment"]; still {
			t.Error("an emptied key is still remembered")
		}
	})
}

// A burst on one part of a surface, which takes its writes one by one, leaves
// room for the other parts.
func TestABurstHoldsUpNobodyElse(t *testing.T) {
	inHouseWith(t, func(o *Options) { o.MaxRunningTurns = 100 }, func(h *house) {
		line := make(chan struct{}, 1)
		h.world.deliver = func(_ context.Context, item Item) (Receipt, error) {
			if item.Key != "alone" {
				line <- struct{}{}
				time.Sleep(time.Second)
				<-line
			}
			return h.world.write(item), nil
		}
		for i := range 30 {
			h.send(request{Key: fmt.Sprint("s", i), Rev: "r", At: 1})
		}
		h.wait(2 * time.Second)
		h.send(request{Key: "alone", Text: "hi"})
		h.wait(3 * time.Second)
		if said := h.world.said(); !slices.Contains(said, "done: hi") {
			t.Errorf("only these were told: %q", said)
		}
		h.wait(3 * time.Minute)
	})
}

// What waits for the end of an outage is told of once, however often it is tried.
func TestAnOutageIsLoggedOnceForEachEffect(t *testing.T) {
	inHouse(t, func(h *house) {
		began := time.Now()
		h.world.deliver = func(_ context.Context, item Item) (Receipt, error) {
			if item.Attempts < 10 {
				return Receipt{}, &RetryError{Uncounted: true, Err: errors.New("no route to the host")}
			}
			return h.world.write(item), nil
		}
		h.world.weigh = func(_ context.Context, in Intent) (Intent, error) {
			if time.Since(began) < time.Hour {
				return in, &RetryError{Uncounted: true, Err: errors.New("no route to the host")}
			}
			return in, nil
		}
		h.send(push("a", "", 1))
		asked := h.send(asked1("k", "hi"))
		h.wait(3 * time.Hour)
		h.wantDelivery(asked, state.DeliveryDone, "queued")
		for line, want := range map[string]int{"effect will be tried again": len(h.world.said()), "delivery put off": 1} {
			if n := strings.Count(h.logs.String(), line); n != want {
				t.Errorf("%d lines %q, want %d", n, line, want)
			}
		}
	})
}

func TestManyEffectsRunSideBySideWithinABound(t *testing.T) {
	inHouseWith(t, func(o *Options) { o.MaxRunningTurns = 100 }, func(h *house) {
		running, most := make(chan int, 1), 0
		running <- 0
		h.world.deliver = func(_ context.Context, item Item) (Receipt, error) {
			n := <-running + 1
			most = max(most, n)
			running <- n
			time.Sleep(time.Second)
			running <- <-running - 1
			return h.world.write(item), nil
		}
		for i := range 2 * maxDelivering {
			h.send(request{Key: fmt.Sprint("s", i), Rev: "r", At: 1})
		}
		h.wait(time.Minute)
		if most != maxDelivering {
			t.Errorf("%d effects were under way at once, want %d", most, maxDelivering)
		}
		if n := len(h.world.said()); n != 6*maxDelivering {
			t.Errorf("%d effects happened", n)
		}
	})
}

func TestEffectOfAStoppingServiceIsFinishedOrLeftToTheNext(t *testing.T) {
	for name, c := range map[string]struct {
		takes time.Duration
		said  int
	}{
		"soon enough": {3 * time.Second, 1},
		"too long":    {time.Minute, 0},
	} {
		t.Run(name, func(t *testing.T) {
			inHouse(t, func(h *house) {
				h.world.deliver = func(ctx context.Context, item Item) (Receipt, error) {
					select {
					case <-ctx.Done():
						return Receipt{}, ctx.Err()
					case <-time.After(c.takes):
						return h.world.write(item), nil
					}
				}
				h.send(push("a", "", 1))
				h.wait(100 * time.Millisecond)
				h.stop()
				if got := len(h.world.said()); got != c.said {
					t.Errorf("the world was told %d things, want %d", got, c.said)
				}
				h.world.deliver = nil
				h.store = h.store.Reopen()
				h.start()
				h.wait(time.Minute)
				h.wantSaid("a in progress", "a success", "done: review a")
				if d, _ := h.store.DeadLetters(context.Background(), "", 1); len(d) > 0 {
					t.Errorf("given up: %v", d)
				}
			})
		})
	}
}

func TestUnknownChannelOfAnItem(t *testing.T) {
	inHouse(t, func(h *house) {
		ctx := context.Background()
		if _, err := h.store.Commit(ctx, state.Change{Outbox: []state.OutboxItem{{ID: "x", SessionID: "ses_none", Channel: "gone"}}}); err != nil {
			t.Fatal(err)
		}
		h.settle()
		if got := h.letters(); len(got) != 1 || !strings.Contains(got[0], `channel "gone" is not configured`) {
			t.Errorf("dead letters are %q", got)
		}
	})
}
