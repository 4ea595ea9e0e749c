package sessions

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/bridge"
	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/memstore"
	"github.com/liaison-bot/liaison/tools"
)

// TestSimulationOfApprovals has people decide, stop and talk at random about calls of
// agents, while surfaces fail and the process dies before or after any commit. Once
// that stops every call must have come to one end: made at most once, on record, seen
// on every card, and told to the agent that asked.
func TestSimulationOfApprovals(t *testing.T) {
	t.Parallel()
	for seed := range max(*seeds/6, 1) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) { simulateApprovals(t, dir, uint64(seed)) })
		})
	}
}

// bureau is a run of that simulation.
type bureau struct {
	t     *testing.T
	dir   string
	store *mortalStore
	log   *lossyLog
	desk  *desk

	runner *scriptedRunner
	mu     sync.Mutex
	rng    *rand.Rand // guarded by mu, with all that is below it
	calm   bool
	// made counts how often the tool ran for an approval, and told how often an
	// agent was told what became of it.
	made, told map[string]int
	lives      int
	stopped    map[string]bool
	next       int
}

func (b *bureau) pick(n int) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rng.IntN(n)
}

func (b *bureau) chance(percent int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rng.IntN(100) < percent && !b.calm
}

func simulateApprovals(t *testing.T, dir string, seed uint64) {
	b := &bureau{
		t: t, dir: dir, store: &mortalStore{Store: memstore.New(memstore.Options{}), left: -1}, log: newLossyLog(),
		desk: newDesk(newWorld(), "test", "thread", "home"), runner: &scriptedRunner{}, rng: rand.New(rand.NewPCG(seed, 7)),
		made: map[string]int{}, told: map[string]int{}, stopped: map[string]bool{},
	}
	b.desk.fails = func(Item) error {
		if b.chance(15) {
			return &RetryError{Err: errors.New("502")}
		}
		return nil
	}
	b.runner.run = b.agent
	for range 2 + b.pick(4) {
		if b.chance(80) {
			b.store.left, b.store.applies = 1+b.pick(60), b.pick(2) == 0
		}
		b.life(10 + b.pick(20))
	}
	b.calm = true
	end, _ := b.start()
	time.Sleep(96 * time.Hour)
	end()
	b.check()
	if t.Failed() {
		t.Logf("seed %d", seed)
	}
}

// start begins a process and returns what ends it.
func (b *bureau) start() (end func(), e *Engine) {
	registry, err := tools.New(b.tool())
	if err != nil {
		b.t.Fatal(err)
	}
	e, err = New(Options{
		Store: b.store, Log: b.log, Channels: []Channel{b.desk, direct{}}, Runner: b.runner, Dir: b.dir,
		MaxRunningTurns: 2, Rand: func() float64 { return 0.5 }, Agent: func() Agent { return Agent{Tools: registry} },
	})
	if err != nil {
		b.t.Fatal(err)
	}
	b.lives++
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }()
	return func() {
		cancel()
		if err := <-ended; err != nil && !b.store.isDead() {
			b.t.Errorf("Run returned %v", err)
		}
		if b.store.isDead() {
			b.log.crash(b.pick)
		}
		b.store = &mortalStore{Store: b.store.Reopen(), left: -1}
	}, e
}

// life is one process, in which some things happen.
func (b *bureau) life(events int) {
	end, e := b.start()
	for range events {
		if b.store.isDead() {
			break
		}
		b.something(e)
		time.Sleep([]time.Duration{time.Second, 10 * time.Second, 2 * time.Minute, 5 * time.Hour}[b.pick(4)])
	}
	end()
}

func (b *bureau) something(e *Engine) {
	key := fmt.Sprintf("k%d", b.pick(3))
	switch n := b.pick(20); {
	case n < 4:
		b.next++
		b.deliver(fmt.Sprintf(`{"key":%q,"rev":"r%d","at":%d,"text":"review"}`, key, b.next, b.next))
	case n < 6:
		b.deliver(fmt.Sprintf(`{"key":%q,"text":"go on","existing":true,"coalesce":%v}`, key, b.pick(2) == 0))
	case n == 6:
		b.stopped[key] = true
		b.deliver(fmt.Sprintf(`{"do":"stop","key":%q}`, key))
	default:
		all, err := e.Approvals(context.Background(), ApprovalFilter{}, 100)
		if err != nil || len(all) == 0 {
			return
		}
		v := all[b.pick(min(len(all), 6))]
		who := person(fmt.Sprintf("U%d", 1+b.pick(4))) // of whom one may not
		verdict := []approvals.Verdict{approvals.Approve, approvals.Approve, approvals.Deny}[b.pick(3)]
		if b.pick(2) == 0 {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // a dead store never answers
			defer cancel()
			_, _ = e.Decide(ctx, approvals.Ballot{ApprovalID: v.ID, Verdict: verdict, By: who, Place: "http"})
			return
		}
		b.deliver(fmt.Sprintf(`{"ApprovalID":%q,"Verdict":%q,"Place":"slack","By":{"principal":%q,"slack":%q,"Standing":"member"}}`,
			v.ID, verdict, who.Principal, who.Slack))
	}
}

func (b *bureau) deliver(body string) {
	if before, _ := b.store.gone(); before {
		return
	}
	b.next++
	_, _ = b.store.Accept(context.Background(), state.Delivery{Source: "test", ID: fmt.Sprint("d", b.next), Body: []byte(body)})
}

func (b *bureau) tool() tools.Tool {
	return tools.Tool{
		Name: "set_labels",
		Gate: &tools.Gate{
			Needs: func(tools.Call) (bool, error) { return true, nil },
			Policy: func(tools.Call) approvals.Policy {
				return approvals.Policy{
					Approvers: approvals.Approvers{Slack: []string{"U1", "U2", "U3"}}, MinApprovals: 1 + b.pick(2),
					OperatorMayDecide: true, ExpiresAfter: time.Duration(1+b.pick(30)) * time.Hour,
				}
			},
		},
		Run: func(ctx context.Context, c tools.Call) (tools.Result, error) {
			if b.store.isDead() {
				return tools.Result{}, errDead
			}
			b.mu.Lock()
			b.made[c.ApprovalID]++
			b.mu.Unlock()
			return slow(time.Duration(b.pick(3))*time.Second)(ctx, c)
		},
	}
}

var approvalID = regexp.MustCompile(`apr_[0-9a-f]{32}`)

// hear notes that an agent was told of approvals.
func (b *bureau) hear(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	seen := map[string]bool{}
	for _, id := range approvalID.FindAllString(text, -1) {
		if !seen[id] {
			b.told[id]++
		}
		seen[id] = true
	}
}

// agent asks for one to three things, and goes on when it is told to.
func (b *bureau) agent(ctx context.Context, r RunRequest, _ func(bridge.Event)) (bridge.Result, error) {
	if b.chance(5) {
		return bridge.Result{Status: bridge.RunError, Reason: "the model is tired"}, nil
	}
	b.hear(r.Prompt)
	if strings.Contains(r.Prompt, "set_labels") {
		return think(ctx, r, time.Second)
	}
	for i := range 1 + b.pick(3) {
		input := fmt.Sprintf(`{"turn":%q,"n":%d}`, r.TurnID, i)
		result, err := callHost(ctx, r, "set_labels", fmt.Sprint("call-", r.TurnID, i), input)
		switch {
		case err != nil:
			return bridge.Result{Status: bridge.RunCancelled}, ctx.Err()
		case strings.Contains(result.Content[0].Text, `"pending"`):
		case strings.Contains(result.Content[0].Text, "labelled at last"):
			b.hearDone(r.TurnID, input)
		default:
			b.hear(result.Content[0].Text)
		}
	}
	return think(ctx, r, time.Second)
}

// hearDone notes that an agent was answered by the tool itself, which does not know
// the approval.
func (b *bureau) hearDone(turnID, input string) {
	all, _ := b.store.ListApprovals(context.Background(), state.ApprovalFilter{}, 1000)
	for _, row := range all {
		if h, err := readHeld(row); err == nil && h.rec.TurnID == turnID && string(h.rec.Input) == input {
			b.hear(row.ID)
		}
	}
}

func (b *bureau) check() {
	ctx := context.Background()
	all, err := b.store.ListApprovals(ctx, state.ApprovalFilter{}, 10_000)
	if err != nil {
		b.t.Fatal(err)
	}
	decisions := b.decisions(ctx)
	for _, row := range all {
		h, err := readHeld(row)
		if err != nil {
			b.t.Error(err)
			continue
		}
		b.checkOne(ctx, h, decisions[row.ID])
	}
	if pending, _ := b.store.PendingLifecycle(ctx); len(pending) != 0 {
		b.t.Errorf("%d events are not known to be recorded", len(pending))
	}
}

func (b *bureau) checkOne(ctx context.Context, h *held, decisions int) {
	r := h.rec
	if !r.State.Ended() || !h.row.Ended {
		b.t.Errorf("%s is %s at the end; parked %v, over %v", r.ID, r.State, r.Parked, h.row.Ended)
	}
	made := b.made[r.ID]
	switch r.State {
	case approvals.Done:
		if made != 1 {
			b.t.Errorf("%s is done and was made %d times", r.ID, made)
		}
	case approvals.Unknown, approvals.Failed:
		if made > 1 {
			b.t.Errorf("%s is %s and was made %d times", r.ID, r.State, made)
		}
	default:
		if made != 0 {
			b.t.Errorf("%s is %s and was made %d times", r.ID, r.State, made)
		}
	}
	if decisions != 1 {
		b.t.Errorf("%s was decided %d times", r.ID, decisions)
	}
	for _, c := range r.Cards {
		if got, want := b.desk.card(c.Place, r.ID), fmt.Sprintf("%s v%d", r.State, r.Version); got != want || c.Drawn != r.Version {
			b.t.Errorf("the card of %s in %s says %q, want %q; it is %+v", r.ID, c.Place, got, want, c)
		}
	}
	if left, _ := b.store.OutboxItems(ctx, h.row.SessionID); len(left) > 0 {
		b.t.Errorf("the session of %s still owes %d effects", r.ID, len(left))
	}
	sess, err := b.store.Session(ctx, h.row.SessionID)
	if err != nil || b.stopped[sess.Key] || r.State == approvals.Cancelled || r.State == approvals.Superseded {
		return
	}
	told := b.told[r.ID]
	if told == 0 && !b.lost(ctx, h) {
		b.t.Errorf("the agent of %s is not told that it is %s", r.ID, r.State)
	}
	if told > b.lives+1 {
		b.t.Errorf("the agent of %s is told %d times in %d lives", r.ID, told, b.lives)
	}
}

// lost reports whether the turn that was to tell an agent failed before it could.
func (b *bureau) lost(ctx context.Context, h *held) bool {
	turns, _ := b.store.Turns(ctx, h.row.SessionID)
	for _, t := range turns {
		text := t.Message
		for _, g := range t.Gathered {
			text += g.Message
		}
		if strings.Contains(text, h.rec.ID) && t.Status == state.TurnFailed {
			return true
		}
	}
	return false
}

// decisions counts for each approval how often the audit log says that it was settled.
func (b *bureau) decisions(ctx context.Context) map[string]int {
	lines, err := b.store.AuditEntries(ctx, time.Time{}, 0, 100_000)
	if err != nil {
		b.t.Fatal(err)
	}
	n := map[string]int{}
	for _, l := range lines {
		e := entryOf(b.t, l)
		switch e.Action {
		case approvals.ActionApproved, approvals.ActionDenied, string(approvals.Expired), string(approvals.Cancelled), string(approvals.Superseded):
			n[e.ApprovalID]++
		}
	}
	return n
}
