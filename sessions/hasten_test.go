package sessions

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/state"
)

// What somebody waits for at a screen is weighed and decided before all that
// stands in line, also while intake is busy and everything else is slow.
func TestWhatIsHastenedComesFirst(t *testing.T) {
	var busy atomic.Bool
	inHouseWith(t, func(o *Options) {
		o.Intake = func() int {
			if busy.Load() {
				return 1
			}
			return 0
		}
	}, func(h *house) {
		order := h.slowly(10 * time.Second)
		busy.Store(true)
		for range 3 * maxWeighing {
			h.send(request{Key: "k", Text: "slow", Weigh: true, Coalesce: true})
		}
		h.wait(time.Second)
		click := h.send(request{Do: "stop", Key: "k", Text: "click", Weigh: true, Urgent: true})
		h.engine.Hasten("test", click)
		h.wait(11 * time.Second)
		if !slices.Contains(*order, "click") {
			t.Errorf("weighed so far: %q", *order)
		}
		busy.Store(false)
	})
}

// Hastened once or often, early or late, a delivery is decided once.
func TestHasteningDecidesOnce(t *testing.T) {
	inHouse(t, func(h *house) {
		h.engine.Hasten("test", "nobody")
		for range 50 {
			id := h.send(request{Key: "k", Text: "hi", Coalesce: true})
			for range 3 {
				h.engine.Hasten("test", id)
			}
		}
		h.settle()
		for id := range 50 {
			h.engine.Hasten("test", "d"+string(rune('0'+id%10)))
		}
		h.wait(time.Minute)
		n := 0
		turns, err := h.store.Turns(context.Background(), h.session("k").ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, turn := range turns {
			n += 1 + len(turn.Gathered)
		}
		if n != 50 {
			t.Errorf("50 messages were taken up %d times", n)
		}
	})
}

// A channel may be flooded with more than can be hastened.
func TestMoreThanCanBeHastened(t *testing.T) {
	inHouse(t, func(h *house) {
		var ids []string
		for range 2 * maxHastened {
			ids = append(ids, h.send(request{Do: "ignore"}))
		}
		for _, id := range ids {
			h.engine.Hasten("test", id)
		}
		h.wait(time.Minute)
		for _, id := range ids {
			h.wantDelivery(id, state.DeliveryIgnored, "draft")
		}
	})
}
