package local

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// registry is what the bridge knows: the agents that were asked for in this
// process, and the runs under way. The rest is in the storage.
//
// There are two kinds of locks. An agent's own serialises what is done with it,
// calls of the storage included, so that a slow storage holds up one agent and
// not the bridge. The registry's guards the maps and fields and is never held
// during such a call. Who needs both takes the agent's first.
type registry struct {
	store  storage
	ids    *idSource
	now    func() time.Time
	logger *slog.Logger
	tools  *toolCaller
	// maxLive bounds the runs under way, maxLog the bytes that one may say.
	maxLive int
	maxLog  int64

	mu     sync.Mutex
	agents map[string]*agent
	live   map[string]*run
	// unsaved are runs that have ended and whose end the storage did not take. It
	// is offered again with the agent's next run and when the bridge stops.
	unsaved  map[string]runRecord
	draining bool
	// starting counts the runs between their admission and their place in live.
	starting int
	started  sync.WaitGroup
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

func newRegistry(st storage, ids *idSource, now func() time.Time, logger *slog.Logger, tools *toolCaller, maxLive int, maxLog int64) *registry {
	return &registry{
		store: st, ids: ids, now: now, logger: logger, tools: tools, maxLive: maxLive, maxLog: maxLog,
		agents: make(map[string]*agent), live: make(map[string]*run), unsaved: make(map[string]runRecord),
	}
}

// agentInfo is what is known of an agent, without waiting for a change of it
// that is under way.
func (r *registry) agentInfo(ctx context.Context, id string) (agentRecord, error) {
	r.mu.Lock()
	if a, ok := r.agents[id]; ok && a.loaded {
		defer r.mu.Unlock()
		return a.rec, nil
	}
	r.mu.Unlock()
	a, err := r.lockAgent(ctx, id)
	if err != nil {
		return agentRecord{}, err
	}
	defer a.unlock()
	return a.rec, nil
}

// allAgents is what is known of every agent, in no order.
func (r *registry) allAgents(ctx context.Context) ([]agentRecord, error) {
	recs, err := r.store.agents(ctx)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, rec := range recs {
		if a, ok := r.agents[rec.ID]; ok && a.loaded {
			recs[i] = a.rec
		}
	}
	return recs, nil
}

// change stores an agent, whose lock is held, after edit has changed it;
// nothing is changed when the storage does not take it.
func (r *registry) change(ctx context.Context, a *agent, edit func(*agentRecord)) error {
	rec := a.rec
	edit(&rec)
	rec.Modified = r.now().UTC()
	// A caller that goes away must not leave it open whether that happened.
	if err := r.store.saveAgent(context.WithoutCancel(ctx), rec); err != nil {
		return err
	}
	r.set(func() { a.rec = rec })
	return nil
}

// findRun gives a run's record, and the live run when it is one.
func (r *registry) findRun(ctx context.Context, id string) (runRecord, *run, error) {
	if err := checkID("run_id", id); err != nil {
		return runRecord{}, nil, err
	}
	if rec, live, ok := r.knownRun(id); ok {
		return rec, live, nil
	}
	rec, err := r.store.run(ctx, id)
	switch {
	case errors.Is(err, errNotKept):
		return runRecord{}, nil, runNotFound(id)
	case errors.Is(err, errNewer), errors.Is(err, errUnreadable):
		r.logger.Error("a run cannot be read", "run", id, "error", err)
		return runRecord{}, nil, notReadable("run", id, err)
	case err != nil:
		return runRecord{}, nil, err
	}
	// It may have ended while the storage was asked.
	if now, live, ok := r.knownRun(id); ok {
		return now, live, nil
	}
	return rec, nil, nil
}

// knownRun finds a run of which this process knows more than the storage.
func (r *registry) knownRun(id string) (rec runRecord, live *run, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if live, ok := r.live[id]; ok {
		return live.rec, live, true
	}
	rec, ok = r.unsaved[id]
	return rec, nil, ok
}

func (r *registry) isLive(runID string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.live[runID]
	return ok
}

// listRuns lists an agent's runs, the newest first, from the one after before.
func (r *registry) listRuns(ctx context.Context, agentID, before string, limit int) (recs []runRecord, more bool, err error) {
	if _, err := r.agentInfo(ctx, agentID); err != nil {
		return nil, false, err
	}
	recs, more, err = r.store.runs(ctx, agentID, before, limit)
	for i, rec := range recs {
		if now, _, ok := r.knownRun(rec.ID); ok {
			recs[i] = now
		}
	}
	return recs, more, err
}

// drain refuses new runs from now on, gives those under way until ctx is done,
// then cancels them and waits for their ends to be recorded.
func (r *registry) drain(ctx context.Context) {
	r.mu.Lock()
	r.draining = true
	r.mu.Unlock()
	r.started.Wait()
	r.mu.Lock()
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
	r.saveAllEnds(context.Background())
}
