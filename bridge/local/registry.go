package local

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// registry is what the bridge knows: every kept agent, and the runs under way
// in this process. One lock guards it all, the small files too; calls are few
// and streams do not take it.
type registry struct {
	store  *store
	ids    *idSource
	now    func() time.Time
	logger *slog.Logger
	tools  *toolCaller
	// maxLive bounds the runs under way, maxLog the bytes that one may say.
	maxLive int
	maxLog  int64

	mu       sync.Mutex
	agents   map[string]*agent
	owner    map[string]*agent // of a run, by the run's id
	live     map[string]*run
	draining bool
}

// agent is what is kept of an agent and, when it was created or resumed in
// this process, what is not kept. The registry's lock guards it.
type agent struct {
	rec      agentRecord
	runs     []string // oldest first
	attached bool
	offer    offer
}

// toolPolicy is which built-in tools an agent may use.
type toolPolicy struct {
	// restricted is true when only holds all there are.
	restricted bool
	only       []string
	never      []string
}

// allowed are those of the engine's tools that the policy leaves.
func (p toolPolicy) allowed(tools []string) []string {
	var out []string
	for _, t := range tools {
		if (!p.restricted || slices.Contains(p.only, t)) && !slices.Contains(p.never, t) {
			out = append(out, t)
		}
	}
	return out
}

// newRegistry loads what is kept.
func newRegistry(st *store, ids *idSource, now func() time.Time, logger *slog.Logger, tools *toolCaller, maxLive int, maxLog int64) (*registry, error) {
	agents, err := st.loadAgents(func(err error) {
		logger.Error("an agent is left out because its files cannot be read", "error", err)
	})
	if err != nil {
		return nil, err
	}
	r := &registry{
		store: st, ids: ids, now: now, logger: logger, tools: tools, maxLive: maxLive, maxLog: maxLog,
		agents: agents, owner: make(map[string]*agent), live: make(map[string]*run),
	}
	for _, a := range agents {
		for _, id := range a.runs {
			r.owner[id] = a
		}
		r.settleActive(a)
	}
	return r, nil
}

// settleActive forgets an active run that had already ended when the process
// died between the two writes.
func (r *registry) settleActive(a *agent) {
	if a.rec.ActiveRun == "" {
		return
	}
	rec, err := r.store.loadRun(a.rec.ID, a.rec.ActiveRun)
	if err == nil && rec.Status.ended() {
		a.rec.ActiveRun, a.rec.LastStatus = "", rec.Status
	}
}

// agentByID finds an agent; the lock is held.
func (r *registry) agentByID(id string) (*agent, error) {
	if err := checkID("agent_id", id); err != nil {
		return nil, err
	}
	a, ok := r.agents[id]
	if !ok {
		return nil, agentNotFound(id)
	}
	return a, nil
}

// attachedAgent finds an agent that was created or resumed in this process;
// the lock is held.
func (r *registry) attachedAgent(id string) (*agent, error) {
	a, err := r.agentByID(id)
	if err != nil {
		return nil, err
	}
	if !a.attached {
		return nil, agentNotAttached(id)
	}
	return a, nil
}

// change stores an agent after edit has changed it; nothing is changed when
// either fails. The lock is held.
func (r *registry) change(a *agent, edit func(*agentRecord)) error {
	rec := a.rec
	edit(&rec)
	rec.Modified = r.now().UTC()
	if err := r.store.saveAgent(rec); err != nil {
		return err
	}
	a.rec = rec
	return nil
}

// findRun gives a run's record, and the live run when it is one.
func (r *registry) findRun(id string) (runRecord, *run, error) {
	if err := checkID("run_id", id); err != nil {
		return runRecord{}, nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if live, ok := r.live[id]; ok {
		return live.rec, live, nil
	}
	a, ok := r.owner[id]
	if !ok {
		return runRecord{}, nil, runNotFound(id)
	}
	rec, err := r.store.loadRun(a.rec.ID, id)
	return rec, nil, err
}

// drain refuses new runs from now on, gives those under way until ctx is done,
// then cancels them and waits for their ends to be recorded.
func (r *registry) drain(ctx context.Context) {
	r.mu.Lock()
	r.draining = true
	runs := make([]*run, 0, len(r.live))
	for _, live := range r.live {
		runs = append(runs, live)
	}
	r.mu.Unlock()
	for _, live := range runs {
		select {
		case <-live.done:
		case <-ctx.Done():
			live.cancel(stopShutdown)
		}
	}
	for _, live := range runs {
		r.awaitOrFinish(live, stopShutdown)
	}
}
