package sessions

import (
	"context"
	"fmt"
	"strings"

	"github.com/liaison-bot/liaison/state"
)

// weighty adds deliveries that are answered without a turn, that wake, that are
// bounded by a budget, and that archive many sessions.
func (s *simulation) weighty(add func(request)) {
	for i := range 2 + s.rng.IntN(4) {
		fact := fmt.Sprint("help ", i)
		add(request{Do: "ignore", Key: fmt.Sprint("k", i%2), Fact: fact, Weigh: s.rng.IntN(2) == 0, Say: []string{"help"}})
		add(request{Do: "wake", Key: fmt.Sprint("k", i%2), Weigh: s.rng.IntN(2) == 0})
		add(request{
			Key: fmt.Sprintf("swept:%d", i%3), Fact: fmt.Sprint("swept ", i), Text: fmt.Sprint("swept ", i),
			Weigh: s.rng.IntN(2) == 0, Coalesce: true, Budget: "swept", Say: []string{"heard"},
		})
	}
	for i := range s.rng.IntN(3) {
		add(request{Do: "archive", Prefixes: []string{"swept:"}, Fact: fmt.Sprint("sweep ", i), Say: []string{"gone"}})
	}
}

// answers notes what an acknowledged delivery has to be answered with.
func (s *simulation) answers(d simulated) {
	for _, name := range d.Say {
		s.owed["fact:"+d.Fact+"/"+name] = true
	}
}

func (s *simulation) checkWeighty(ctx context.Context) {
	for id := range s.owed {
		if s.world.writes[id] != 1 {
			s.t.Errorf("effect %s happened %d times", id, s.world.writes[id])
		}
	}
	if left, err := s.store.OutboxItems(ctx, ""); err != nil || len(left) > 0 {
		s.t.Errorf("nobody's effects are still owed: %v, %v", left, err)
	}
	if n, err := s.store.Counted(ctx, "swept"); err != nil || n > 2 {
		s.t.Errorf("%d were counted, %v", n, err)
	}
	swept, err := s.store.SessionKeys(ctx, "swept:", "", 9)
	if err != nil {
		s.t.Error(err)
	}
	for _, key := range swept {
		turns, err := s.store.Turns(ctx, key.SessionID)
		if err != nil {
			s.t.Error(err)
		}
		for _, t := range turns {
			if !t.Status.Ended() {
				s.t.Errorf("turn %s of %s is %s", t.ID, key.Key, t.Status)
			}
		}
	}
	over := 0
	for id := range s.world.writes {
		if strings.HasPrefix(id, "budget:") {
			over++
		}
	}
	refused := 0
	for _, id := range s.acked {
		if d, err := s.store.Delivery(ctx, "test", id); err == nil && d.Status == state.DeliveryIgnored && strings.Contains(d.Decision, "budget reached") {
			refused++
		}
	}
	// A replay can be taken up in place of what was refused, which stays said.
	if over > 1 || refused > 0 && over == 0 {
		s.t.Errorf("%d deliveries were refused by a budget, which was told %d times", refused, over)
	}
}
