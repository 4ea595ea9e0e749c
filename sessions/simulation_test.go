package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/liaison-bot/liaison/bridge"
	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/memstore"
)

var seeds = flag.Int("seeds", 60, "how many simulations TestSimulation runs")

// TestSimulation lets the world misbehave at random: deliveries come twice and
// out of order, surfaces fail before and after they took effect, agents fail,
// and the process dies before or after any commit, losing what was not synced.
// Once that stops, everything that was acknowledged must have come to one
// visible end. A failing seed is run alone with -run 'TestSimulation/seed=N'.
func TestSimulation(t *testing.T) {
	dir := t.TempDir()
	for seed := range *seeds {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { simulate(t, dir, uint64(seed)) })
		})
	}
}

// subject is something that people push to, and what was said about it.
type subject struct {
	key    string
	newest string
	closed bool
}

type simulation struct {
	t *testing.T
	// bridge runs the agents instead of runner, if there is one.
	bridge *liveBridge
	rng    *rand.Rand
	// pick takes from rng while the engine may do so too.
	pick     func(int) int
	dir      string
	store    *mortalStore
	log      *lossyLog
	world    *world
	runner   *scriptedRunner
	calm     bool
	acked    []string
	broken   map[string]bool
	subjects []*subject
	talk     talking
	// owed are the effects of deliveries that were acknowledged.
	owed   map[string]bool
	engine *Engine
}

func simulate(t *testing.T, dir string, seed uint64) { simulateWith(t, dir, seed, nil) }

func simulateWith(t *testing.T, dir string, seed uint64, b *liveBridge) {
	rng := rand.New(rand.NewPCG(seed, 1))
	s := &simulation{
		t: t, rng: rng, dir: dir, log: newLossyLog(), world: newWorld(), runner: &scriptedRunner{}, bridge: b,
		store: &mortalStore{Store: memstore.New(memstore.Options{})}, broken: map[string]bool{},
		talk: talking{heard: map[string]string{}}, owed: map[string]bool{},
	}
	var mu sync.Mutex
	chance := func(percent int) bool {
		mu.Lock()
		defer mu.Unlock()
		return rng.IntN(100) < percent && !s.calm
	}
	pick := func(n int) int {
		mu.Lock()
		defer mu.Unlock()
		return rng.IntN(n)
	}
	s.pick = pick
	s.misbehave(chance, pick)
	if b != nil {
		b.takes = func() time.Duration { return time.Duration(pick(10_000)) * time.Millisecond }
		b.deaf = func() bool { return s.store.isDead() }
		b.lose = func() string {
			switch {
			case chance(5):
				return "before"
			case chance(5):
				return "after"
			}
			return ""
		}
	}

	todo := s.script()
	for len(todo) > 0 {
		if chance(70) {
			s.store.left, s.store.applies = 1+pick(40), pick(2) == 0
		} else {
			s.store.left = -1
		}
		todo = s.life(todo, chance, pick)
	}
	s.calm = true
	s.store.left = -1
	s.finalLife()
	s.check()
	if t.Failed() {
		t.Logf("seed %d; the world was told %q", seed, s.world.said())
	}
}

// misbehave makes surfaces and agents unreliable until s.calm.
func (s *simulation) misbehave(chance func(int) bool, pick func(int) int) {
	s.world.prepare = func(ctx context.Context, t Turn, _ string) (Brief, error) {
		select {
		case <-ctx.Done():
			return Brief{}, ctx.Err()
		case <-time.After(time.Duration(pick(3000)) * time.Millisecond):
		}
		if chance(10) {
			return Brief{}, &RetryError{Paused: chance(30), Err: errors.New("rate limited")}
		}
		return Brief{Prompt: strings.Join(t.Messages(), "\n")}, nil
	}
	s.world.weigh = func(ctx context.Context, in Intent) (Intent, error) {
		select {
		case <-ctx.Done():
			return in, ctx.Err()
		case <-time.After(time.Duration(pick(5000)) * time.Millisecond):
		}
		if chance(20) {
			return in, &RetryError{Paused: chance(20), Uncounted: chance(20), Err: errors.New("who may is not known")}
		}
		return in, nil
	}
	s.world.deliver = func(_ context.Context, item Item) (Receipt, error) {
		if chance(10) {
			return Receipt{}, &RetryError{Paused: chance(30), Err: errors.New("502 before the effect")}
		}
		receipt := s.world.write(item)
		if chance(10) {
			return Receipt{}, &RetryError{Err: errors.New("502 after the effect")}
		}
		return receipt, nil
	}
	s.runner.run = func(ctx context.Context, r RunRequest, observe func(bridge.Event)) (bridge.Result, error) {
		observe(bridge.Event{Payload: bridge.Assistant{Text: "working on it"}})
		if chance(5) {
			return bridge.Result{Status: bridge.RunError, Reason: "the model is tired"}, nil
		}
		if chance(5) {
			panic("bridge")
		}
		return think(ctx, r, time.Duration(pick(10_000))*time.Millisecond)
	}
}

type simulated struct {
	id string
	request
}

// script makes up what is delivered, already out of order and doubled.
func (s *simulation) script() []simulated {
	var all []simulated
	add := func(r request) {
		d := simulated{fmt.Sprintf("d%d", len(all)), r}
		all = append(all, d)
		if s.rng.IntN(4) == 0 { // the same delivery again
			all = append(all, d)
		}
		if s.rng.IntN(4) == 0 { // the same fact under another id
			all = append(all, simulated{d.id + "-other", r})
		}
	}
	for i := range 1 + s.rng.IntN(4) {
		sub := &subject{key: fmt.Sprintf("k%d", i)}
		s.subjects = append(s.subjects, sub)
		for at := 1; at <= 2+s.rng.IntN(6); at++ {
			if sub.newest != "" && s.rng.IntN(6) == 0 {
				sub.closed = true
				add(request{Do: "archive", Key: sub.key, Rev: sub.newest, At: at, Fact: fmt.Sprint(sub.key, "closed", at)})
				continue
			}
			rev := fmt.Sprintf("%s.r%d", sub.key, at)
			add(request{Key: sub.key, Rev: rev, Prev: sub.newest, At: at, Fact: sub.key + rev, Text: rev,
				Weigh: s.rng.IntN(2) == 0, Say: []string{"heard"}})
			sub.newest, sub.closed = rev, false
		}
	}
	s.thread(add)
	s.weighty(add)
	for _, do := range []string{"error", "panic", "ignore"} {
		add(request{Do: do})
	}
	for range all { // neighbours change places; a few go far
		i, j := s.rng.IntN(len(all)), s.rng.IntN(len(all))
		if i-j > 3 || j-i > 3 {
			j = min(i+1, len(all)-1)
		}
		all[i], all[j] = all[j], all[i]
	}
	return all
}

// life is one process: it ends when it dies, or at some point by itself. It
// returns what was not delivered.
func (s *simulation) life(todo []simulated, chance func(int) bool, pick func(int) int) []simulated {
	end := s.startEngine()
	stopAt := len(todo) - 1 - pick(len(todo))
	for len(todo) > stopAt && !s.store.isDead() {
		d := todo[0]
		body, err := json.Marshal(d.request)
		if err != nil {
			s.t.Fatal(err)
		}
		if before, _ := s.store.gone(); before {
			break // not acknowledged: the sender brings it again
		}
		if _, err := s.store.Accept(context.Background(), state.Delivery{Source: "test", ID: d.id, Body: body}); err != nil {
			break
		}
		todo = todo[1:]
		s.acked = append(s.acked, d.id)
		s.answers(d)
		s.broken[d.id] = d.Do == "error" || d.Do == "panic"
		time.Sleep(time.Duration(pick(4000)) * time.Millisecond)
		s.chatter(s.engine, chance, pick)
	}
	end()
	return todo
}

// startEngine returns what ends the process and opens the store anew.
func (s *simulation) startEngine() (end func()) {
	o := Options{
		Store: s.store, Log: s.log, Channels: []Channel{s.world, direct{}}, Runner: s.runner, Dir: s.dir,
		MaxRunningTurns: 2, Rand: func() float64 { return 0.5 },
	}
	if s.bridge != nil {
		s.bridge.behind(&o)
	}
	e, err := New(o)
	if err != nil {
		s.t.Fatal(err)
	}
	s.engine = e
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }()
	return func() {
		cancel()
		if err := <-ended; err != nil && !s.store.isDead() {
			s.t.Errorf("Run returned %v", err)
		}
		if s.store.isDead() {
			s.log.crash(s.pick)
			if s.bridge != nil && !s.bridge.outlives {
				s.bridge.dies()
			}
		}
		s.store = &mortalStore{Store: s.store.Reopen(), left: -1}
	}
}

func (s *simulation) finalLife() {
	end := s.startEngine()
	time.Sleep(72 * time.Hour)
	end()
}

func (s *simulation) check() {
	ctx := context.Background()
	if s.runner.overlap {
		s.t.Error("two runs of one session overlapped")
	}
	for id, n := range s.world.writes {
		if n != 1 {
			s.t.Errorf("effect %s happened %d times", id, n)
		}
	}
	for _, id := range s.acked {
		d, err := s.store.Delivery(ctx, "test", id)
		if err != nil || d.Status == state.DeliveryPending || d.Decision == "" {
			s.t.Errorf("delivery %s is %s (%q), %v", id, d.Status, d.Decision, err)
		}
		if dead := d.Status == state.DeliveryDead; dead != s.broken[id] {
			s.t.Errorf("delivery %s is %s: %s", id, d.Status, d.Decision)
		}
	}
	letters, _ := s.store.DeadLetters(ctx, "", 1000)
	for _, l := range letters {
		if l.Kind != "delivery" {
			s.t.Errorf("dead letter %s: %s", l.ID, l.Reason)
		}
	}
	if pending, _ := s.store.PendingLifecycle(ctx); len(pending) != 0 {
		s.t.Errorf("%d events are not known to be recorded", len(pending))
	}
	for _, sub := range s.subjects {
		s.checkSubject(ctx, sub)
	}
	s.checkTalk(ctx)
	s.checkThread(ctx)
	s.checkWeighty(ctx)
}

func (s *simulation) checkSubject(ctx context.Context, sub *subject) {
	sess, err := s.store.SessionByKey(ctx, sub.key)
	if err != nil {
		s.t.Errorf("subject %s: %v", sub.key, err)
		return
	}
	if sess.Revision.ID != sub.newest {
		s.t.Errorf("session of %s is about %s, want %s", sub.key, sess.Revision.ID, sub.newest)
	}
	if sess.Paused != "" {
		s.t.Errorf("session of %s is still paused: %s", sub.key, sess.Paused)
	}
	if left, _ := s.store.OutboxItems(ctx, sess.ID); len(left) > 0 {
		s.t.Errorf("session of %s still owes %v", sub.key, left)
	}
	turns, _ := s.store.Turns(ctx, sess.ID)
	reviewed := false
	for _, t := range turns {
		_, told := s.world.text[t.ID+"/check"]
		_, ended := s.world.text[t.ID+"/conclusion"]
		if !t.Status.Ended() || told != (t.Attempts > 0) || told != ended {
			s.t.Errorf("turn %s about %s is %s after %d attempts; check %v, conclusion %v",
				t.ID, t.Revision.ID, t.Status, t.Attempts, told, ended)
		}
		if t.Revision.ID == sub.newest && t.Status != state.TurnInterrupted {
			reviewed = true
		}
	}
	if !sub.closed && !reviewed {
		s.t.Errorf("the newest revision of %s was never reviewed: %v", sub.key, turns)
	}
	s.checkRecord(sess, turns)
	if s.bridge != nil {
		s.checkRuns(turns)
	}
}

// checkRecord compares the record that people read with the decisions.
func (s *simulation) checkRecord(sess state.Session, turns []state.Turn) {
	seen := map[eventKey]bool{}
	ends := map[string][]string{}
	for i, ev := range s.log.events[sess.ID] {
		if ev.Index != int64(i) {
			s.t.Errorf("event %d of %s has index %d", i, sess.Key, ev.Index)
		}
		if ev.Type == EventTurnCompleted || ev.Type == EventTurnFailed {
			ends[ev.TurnID] = append(ends[ev.TurnID], ev.Type)
		}
		if ev.Commit == 0 {
			continue
		}
		if seen[keyOf(ev)] {
			s.t.Errorf("%s of commit %d is recorded twice in %s", ev.Type, ev.Commit, sess.Key)
		}
		seen[keyOf(ev)] = true
	}
	for _, t := range turns {
		want := EventTurnFailed
		if t.Status == state.TurnCompleted {
			want = EventTurnCompleted
		}
		if got := strings.Join(ends[t.ID], ","); got != want {
			s.t.Errorf("turn %s is %s, its record says %q", t.ID, t.Status, got)
		}
	}
}
