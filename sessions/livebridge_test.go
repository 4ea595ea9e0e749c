package sessions

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"sync"
	"time"

	"github.com/liaison-bot/liaison/bridge"
)

// liveBridge is a bridge whose runs go on while the host is dead. Attached to, it
// outlives the host; otherwise its death is dies.
type liveBridge struct {
	outlives bool
	// takes is how long a run takes.
	takes func() time.Duration
	// lose, when set, breaks a Send: "before" it is a run or "after".
	lose func() string

	mu     sync.Mutex
	agents map[string]bool
	runs   []*liveRun
	sends  int
	forced int
	// deaf has it hear no cancellation: a killed process sends none.
	deaf func() bool
}

type liveRun struct {
	b       *liveBridge
	id      string
	agentID string
	prompt  string
	created time.Time
	// dead is set when the bridge died under the run: its record says running for ever.
	dead   bool
	status bridge.RunStatus
	end    *time.Timer
	done   chan struct{}
}

func newLiveBridge(outlives bool, takes time.Duration) *liveBridge {
	return &liveBridge{outlives: outlives, agents: map[string]bool{}, takes: func() time.Duration { return takes }}
}

// behind has an engine run its agents at this bridge.
func (b *liveBridge) behind(o *Options) { o.Runner = newBridgeRunner(b, slog.New(slog.DiscardHandler)) }

func (b *liveBridge) Attached() bool { return b.outlives }

func (b *liveBridge) Models(context.Context) ([]bridge.Model, error) {
	return []bridge.Model{{ID: "m"}}, nil
}

func (b *liveBridge) Create(_ context.Context, o bridge.AgentOptions) (agent, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.agents[o.ID] {
		return nil, &bridge.Error{Code: "internal", Message: "the agent exists"}
	}
	b.agents[o.ID] = true
	return liveAgent{b, o.ID}, nil
}

func (b *liveBridge) Resume(_ context.Context, id string, _ bridge.AgentOptions) (agent, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.agents[id] {
		return nil, &bridge.Error{Code: "not_found"}
	}
	return liveAgent{b, id}, nil
}

func (b *liveBridge) Runs(_ context.Context, agentID string) iter.Seq2[bridge.RunSnapshot, error] {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []bridge.RunSnapshot
	for _, r := range b.runs {
		if r.agentID == agentID {
			all = append(all, bridge.RunSnapshot{ID: r.id, AgentID: agentID, Status: r.status, Created: r.created})
		}
	}
	return func(yield func(bridge.RunSnapshot, error) bool) {
		for _, s := range all {
			if !yield(s, nil) {
				return
			}
		}
	}
}

func (b *liveBridge) Attach(_ context.Context, _, runID string) (run, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.runs {
		if r.id == runID {
			return r, nil
		}
	}
	return nil, &bridge.Error{Code: "not_found"}
}

// dies is the death of a bridge with its host. The next one has the record.
func (b *liveBridge) dies() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.runs {
		if !r.status.Ended() && r.end.Stop() {
			r.dead = true
		}
	}
}

func (b *liveBridge) setDeaf(deaf func() bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.deaf = deaf
}

// ofTurn returns how the runs of a prompt ended, in order.
func (b *liveBridge) ofTurn(prompt string) []bridge.RunStatus {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []bridge.RunStatus
	for _, r := range b.runs {
		if r.prompt == prompt {
			all = append(all, r.status)
		}
	}
	return all
}

type liveAgent struct {
	b  *liveBridge
	id string
}

func (a liveAgent) Close(context.Context) error { return nil }

func (a liveAgent) ID() string { return a.id }

func (a liveAgent) Send(ctx context.Context, m bridge.Message, o bridge.SendOptions) (run, error) {
	b := a.b
	lose := ""
	if b.lose != nil {
		lose = b.lose()
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	lost := fmt.Errorf("connection reset: %w", bridge.ErrUnknownOutcome)
	if lose == "before" {
		return nil, lost
	}
	for _, r := range b.runs {
		if r.agentID != a.id || r.status.Ended() {
			continue
		}
		if !o.Force {
			return nil, &bridge.Error{SDKCode: "AGENT_BUSY"}
		}
		b.forced++
		r.finish(bridge.RunExpired)
	}
	b.sends++
	r := &liveRun{
		b: b, id: fmt.Sprint("run-", len(b.runs)+1), agentID: a.id, prompt: m.Text,
		created: time.Now(), status: bridge.RunRunning, done: make(chan struct{}),
	}
	r.end = time.AfterFunc(b.takes(), func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		r.finish(bridge.RunFinished)
	})
	b.runs = append(b.runs, r)
	if lose == "after" {
		return nil, lost
	}
	return r, nil
}

// finish ends a run, with b.mu held.
func (r *liveRun) finish(status bridge.RunStatus) {
	if !r.status.Ended() {
		r.status = status
		r.end.Stop()
		close(r.done)
	}
}

func (r *liveRun) ID() string { return r.id }

func (r *liveRun) Events(context.Context) iter.Seq2[bridge.Event, error] {
	return func(yield func(bridge.Event, error) bool) {
		yield(bridge.Event{Payload: bridge.Assistant{Text: "working on " + r.prompt}}, nil)
	}
}

func (r *liveRun) Wait(ctx context.Context) (bridge.Result, error) {
	r.b.mu.Lock()
	dead := r.dead && !r.status.Ended()
	r.b.mu.Unlock()
	if dead {
		return bridge.Result{}, &bridge.Error{SDKCode: "RUN_NOT_FOUND"}
	}
	select {
	case <-r.done:
		r.b.mu.Lock()
		defer r.b.mu.Unlock()
		return bridge.Result{RunID: r.id, AgentID: r.agentID, Status: r.status, Text: "done: " + r.prompt, Model: "m"}, nil
	case <-ctx.Done():
		return bridge.Result{}, ctx.Err()
	}
}

func (r *liveRun) Cancel(context.Context) error {
	r.b.mu.Lock()
	defer r.b.mu.Unlock()
	if r.b.deaf == nil || !r.b.deaf() {
		r.finish(bridge.RunCancelled)
	}
	return nil
}
