package sessions

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/liaison-bot/liaison/state"
)

func TestRestIsInProportionAndBounded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		busyFor time.Duration
		worked  time.Duration
		want    time.Duration
	}{
		"idle":          {0, time.Hour, 0},
		"in proportion": {time.Hour, 20 * time.Millisecond, 180 * time.Millisecond},
		"short work":    {time.Hour, 0, paceLook},
		"long work":     {time.Hour, time.Minute, paceMax},
		"a short burst": {12 * time.Millisecond, 20 * time.Millisecond, 15 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				p := &pacer{now: time.Now, intake: func() int {
					if time.Since(began) < c.busyFor {
						return 3
					}
					return 0
				}}
				p.rest(t.Context(), c.worked)
				if got := time.Since(began); got != c.want {
					t.Errorf("rested for %s, want %s", got, c.want)
				}
			})
		})
	}
}

// slowStore takes some time for each commit, as a disk does.
type slowStore struct {
	state.Store
	takes time.Duration
}

func (s *slowStore) Commit(ctx context.Context, c state.Change) (uint64, error) {
	time.Sleep(s.takes)
	return s.Store.Commit(ctx, c)
}

func TestDecisionsGiveWayToIntakeAndDoNotStarve(t *testing.T) {
	const n = 300
	var busy atomic.Int64
	adjust := func(o *Options) {
		o.Store = &slowStore{o.Store, 10 * time.Millisecond}
		o.Intake = func() int { return int(busy.Load()) }
	}
	took := map[bool]time.Duration{}
	for _, under := range []bool{false, true} {
		inHouseWith(t, adjust, func(h *house) {
			busy.Store(0)
			h.stop()
			h.store = h.store.Reopen()
			for i := range n {
				h.send(request{Do: "ignore", Key: fmt.Sprint(i)})
			}
			if under {
				busy.Store(1)
			}
			h.start()
			began := time.Now()
			for pending := 1; pending > 0; {
				h.wait(time.Millisecond)
				rows, err := h.store.Pending(t.Context(), 0, n)
				if err != nil {
					t.Fatal(err)
				}
				pending = len(rows)
			}
			took[under] = time.Since(began)
			busy.Store(0)
		})
	}
	// A tenth of the time is theirs, less what is rounded.
	if took[true] < 5*took[false] || took[true] > 20*took[false] {
		t.Errorf("decided in %s while intake was busy, and in %s otherwise", took[true], took[false])
	}
}

func TestADeliveryThatIsPendingAgainIsFoundBehindNewOnes(t *testing.T) {
	inHouse(t, func(h *house) {
		first := h.send(request{Do: "error"})
		h.settle()
		h.wantDelivery(first, state.DeliveryDead, "no pull request in it")
		for range 100 {
			h.send(request{Do: "ignore"})
		}
		h.settle()
		h.sendAs(first, request{Do: "ignore"})
		h.wait(2 * lookBehind)
		h.wantDelivery(first, state.DeliveryIgnored, "draft")
	})
}

// countingMetrics remembers what it was told.
type countingMetrics struct {
	mu   sync.Mutex
	seen map[string]int
	ran  time.Duration
}

func (m *countingMetrics) count(n int, parts ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen[fmt.Sprint(parts)] += n
}

func (m *countingMetrics) DeliveryDecided(source, status string, _ time.Duration) {
	m.count(1, "delivery", source, status)
}

func (m *countingMetrics) TurnEnded(channel, status string, _, ran time.Duration) {
	m.count(1, "turn", channel, status)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ran += ran
}

func (m *countingMetrics) EffectSettled(channel, result string, _ time.Duration) {
	m.count(1, "effect", channel, result)
}

func (m *countingMetrics) EventsAppended(n int) { m.count(n, "events") }

func TestMetricsAreToldWhatHappens(t *testing.T) {
	m := &countingMetrics{seen: map[string]int{}}
	inHouseWith(t, func(o *Options) { o.Metrics = m }, func(h *house) {
		failures := 1
		h.world.deliver = func(_ context.Context, item Item) (Receipt, error) {
			if failures--; failures == 0 {
				return Receipt{}, &RetryError{Err: fmt.Errorf("502")}
			}
			return h.world.write(item), nil
		}
		h.send(push("a", "", 1))
		h.send(request{Do: "ignore"})
		h.send(request{Do: "error"})
		h.wait(time.Minute)
		h.send(push("b", "a", 2))
		h.settle()
		h.send(request{Do: "archive", Key: "k", Rev: "b", At: 3})
		h.wait(time.Minute)
		want := map[string]int{
			"[delivery test done]": 3, "[delivery test ignored]": 1, "[delivery test dead]": 1,
			"[turn test completed]": 1, "[turn test interrupted]": 1,
			"[effect test retry]": 1, "[effect test done]": 5,
			"[events]": len(h.events("k")),
		}
		if fmt.Sprint(m.seen) != fmt.Sprint(want) {
			t.Errorf("told\n%v, want\n%v", m.seen, want)
		}
		if m.ran != time.Second {
			t.Errorf("turns ran for %s, want 1s", m.ran)
		}
	})
}
