package sessions

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/state"
)

// While deliveries are being received they are weighed one after the other, and a
// stop waits for none of that; afterwards many are weighed at once.
func TestWeighingGivesWayToIntake(t *testing.T) {
	var receiving atomic.Int64
	busy := func(o *Options) { o.Intake = func() int { return int(receiving.Load()) } }
	inHouseWith(t, busy, func(h *house) {
		var at, most atomic.Int64
		h.world.weigh = func(_ context.Context, in Intent) (Intent, error) {
			most.Store(max(most.Load(), at.Add(1)))
			defer at.Add(-1)
			time.Sleep(time.Second)
			return in, nil
		}
		receiving.Store(1)
		var ids []string
		for i := range 20 {
			ids = append(ids, h.send(asked1(fmt.Sprint("k", i), "hi")))
		}
		h.wait(30 * time.Second)
		if most.Load() != 1 {
			t.Errorf("%d were weighed at once", most.Load())
		}
		receiving.Store(0)
		h.wait(5 * time.Second)
		for _, id := range ids {
			h.wantDelivery(id, state.DeliveryDone, "queued")
		}
		if most.Load() < 2 {
			t.Error("nothing was weighed at once when intake was idle")
		}
	})
}
