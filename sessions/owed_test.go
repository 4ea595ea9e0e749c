package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/state"
)

// What is owed for a delivery is owed whatever is decided, once for each meaning.
func TestEffectsOfADelivery(t *testing.T) {
	inHouse(t, func(h *house) {
		h.send(request{Do: "ignore", Say: []string{"help of nobody"}})
		h.send(request{Do: "ignore", Key: "new", Fact: "f", Say: []string{"help"}})
		h.settle() // which of two is decided first is left to chance
		twice := h.send(request{Do: "ignore", Key: "new", Fact: "f", Say: []string{"help"}})
		h.send(request{Do: "stop", Key: "new", Say: []string{"nothing to stop"}})
		h.send(request{Do: "archive", Key: "new", Say: []string{"nothing to archive"}})
		h.send(request{Do: "wake", Key: "new", Say: []string{"nothing to wake"}})
		h.settle()
		h.wantDelivery(twice, state.DeliveryIgnored, "duplicate of test:d2")
		for _, id := range []string{"delivery:test:d1/help of nobody", "fact:f/help", "delivery:test:d4/nothing to stop",
			"delivery:test:d5/nothing to archive", "delivery:test:d6/nothing to wake"} {
			if h.world.writes[id] != 1 {
				t.Errorf("effect %s happened %d times", id, h.world.writes[id])
			}
		}
		if n := len(h.world.order); n != 5 {
			t.Errorf("%d effects: %q", n, h.world.order)
		}

		// One of a session that exists stands in its line and sees its surface.
		h.send(push("a", "", 1))
		h.wait(2 * time.Second)
		h.send(request{Do: "ignore", Key: "k", Say: []string{"aside"}})
		h.send(request{Key: "k", Rev: "a", Say: []string{"known already"}})
		h.settle()
		for _, name := range []string{"d8/aside", "d9/known already"} {
			if got := h.world.surfaces["delivery:test:"+name]; got["conclusion"] == "" {
				t.Errorf("%s came with the surface %v", name, got)
			}
		}
	})
}

// One that cannot be delivered holds up no other where there is no session.
func TestEffectsOfNoSessionAreApart(t *testing.T) {
	inHouse(t, func(h *house) {
		h.world.deliver = func(_ context.Context, item Item) (Receipt, error) {
			if strings.Contains(item.ID, "stuck") {
				return Receipt{}, &RetryError{Paused: true, Err: errors.New("suspended")}
			}
			return h.world.write(item), nil
		}
		h.send(request{Do: "ignore", Say: []string{"stuck"}})
		h.settle()
		h.send(request{Do: "ignore", Say: []string{"free"}})
		h.settle()
		h.wantSaid("free")
		h.world.deliver = nil
		h.restart()
		h.wait(time.Hour)
		h.wantSaid("free", "stuck")
	})
}

// A replay is a wish of its own, so it is answered again.
func TestAReplayIsOwedAgain(t *testing.T) {
	inHouse(t, func(h *house) {
		id := h.send(request{Do: "ignore", Fact: "f", Say: []string{"help"}})
		h.settle()
		for range 2 {
			replay := state.Change{Deliveries: []state.DeliveryUpdate{{Seq: h.delivery(id).Seq, Status: state.DeliveryPending, Replay: true}}}
			if _, err := h.store.Commit(context.Background(), replay); err != nil {
				t.Fatal(err)
			}
			h.wait(2 * time.Second)
		}
		h.wantDelivery(id, state.DeliveryIgnored, "replay 2: draft")
		h.wantSaid("help", "help", "help")
	})
}

func TestEffectsWithLongNames(t *testing.T) {
	inHouse(t, func(h *house) {
		fact := strings.Repeat("f", state.MaxID)
		for range 2 {
			h.send(request{Do: "ignore", Fact: fact, Say: []string{"help"}})
			h.settle()
		}
		h.wantSaid("help")
	})
}

func TestABudgetIsReached(t *testing.T) {
	inHouse(t, func(h *house) {
		var ids []string
		for i := range 4 {
			ids = append(ids, h.send(request{Key: fmt.Sprint("k", i), Fact: fmt.Sprint("f", i), Text: "x", Budget: "day 1", Say: []string{fmt.Sprint("eyes ", i)}}))
			h.wait(2 * time.Second)
		}
		for i, id := range ids {
			if i < 2 {
				h.wantDelivery(id, state.DeliveryDone, "queued")
				continue
			}
			h.wantDelivery(id, state.DeliveryIgnored, "budget reached: reviews: because of "+id)
			if _, err := h.store.SessionByKey(t.Context(), fmt.Sprint("k", i)); !errors.Is(err, state.ErrNotFound) {
				t.Errorf("a session was made: %v", err)
			}
		}
		over := 0
		for _, text := range h.world.said() {
			if text == "day 1 is used up" {
				over++
			}
		}
		if over != 1 || h.world.writes["budget:day 1/over"] != 1 || h.world.writes["fact:f3/eyes 3"] != 1 {
			t.Errorf("the world was told %q", h.world.said())
		}

		// A person's replay is not counted.
		replay := state.Change{Deliveries: []state.DeliveryUpdate{{Seq: h.delivery(ids[3]).Seq, Status: state.DeliveryPending, Replay: true}}}
		if _, err := h.store.Commit(context.Background(), replay); err != nil {
			t.Fatal(err)
		}
		h.wait(2 * time.Second)
		h.wantDelivery(ids[3], state.DeliveryDone, "replay 1: queued")
		if n, err := h.store.Counted(t.Context(), "day 1"); n != 2 || err != nil {
			t.Errorf("%d were counted, %v", n, err)
		}
		// What is not taken up is not counted either.
		h.send(request{Key: "k0", Rev: "r", At: 1, Budget: "day 2"})
		h.wait(2 * time.Second)
		h.send(request{Key: "k0", Rev: "r", At: 1, Budget: "day 2"})
		h.settle()
		if n, err := h.store.Counted(t.Context(), "day 2"); n != 1 || err != nil {
			t.Errorf("%d were counted, %v", n, err)
		}
	})
}

// A message is acknowledged when it is taken up, also one that is gathered.
func TestMessagesAreAcknowledged(t *testing.T) {
	inHouse(t, func(h *house) {
		h.world.effects = func(turn Turn, r Report) ([]Effect, error) {
			if r.Moment != MomentAccepted {
				return nil, nil
			}
			var req struct{ Rev string }
			if err := json.Unmarshal(r.Request, &req); err != nil {
				return nil, err
			}
			if turn.Key != "k" || turn.SessionID == "" || turn.SessionChannel != "test" {
				t.Errorf("the turn is %+v", turn)
			}
			return []Effect{say("eyes-"+req.Rev, fmt.Sprintf("%s, behind %t", req.Rev, r.Behind))}, nil
		}
		h.world.weigh = func(_ context.Context, in Intent) (Intent, error) {
			in.Request = json.RawMessage(fmt.Sprintf(`{"rev":%q}`, in.Message))
			return in, nil
		}
		for _, m := range []request{
			{Key: "k", Text: "one", Weigh: true}, {Key: "k", Text: "two", Weigh: true, Coalesce: true},
			{Key: "k", Text: "three", Weigh: true, Coalesce: true}, {Key: "k", Text: "four", Weigh: true},
		} {
			h.send(m)
			h.settle()
		}
		h.wantSaid("one, behind false", "two, behind true", "three, behind true", "four, behind false")
	})
}
