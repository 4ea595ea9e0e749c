package local

import (
	"context"
	"errors"
	"time"

	"connectrpc.com/connect"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

const (
	// cancelGrace is how long an engine may take to return once it is told to
	// stop. After that the run ends without it.
	cancelGrace = 2 * time.Second
	// busyRetry is the advice to a caller that found every place taken.
	busyRetry = 5 * time.Second
)

// run is a run under way in this process.
type run struct {
	agent *agent
	// rec is written with the registry's lock and the agent's until done is closed;
	// then it is final.
	rec    runRecord
	log    runLog
	ctx    context.Context // of the run, ended by cancel
	cancel context.CancelCauseFunc
	// feed is nil unless the caller of Send asked for deltas.
	feed   *deltaFeed
	memory *runMemory
	// done is closed when the end is recorded.
	done chan struct{}
}

// stop is why a run is told to end: a cause of its context.
type stop struct {
	status runStatus
	code   string
	reason string
}

func (s *stop) Error() string { return s.reason }

// The reasons that do not come from the engine.
var (
	stopCancelled = &stop{statusCancelled, "", "the run was cancelled"}
	stopForced    = &stop{statusExpired, "force_send", "the run was expired by a later message that was sent with force"}
	stopShutdown  = &stop{statusCancelled, "bridge_shutdown", "the bridge was shut down"}
)

// runRequest is a checked Send.
type runRequest struct {
	agentID string
	prompt  string
	images  []image
	force   bool
	mode    sdkv1.AgentModeOption
	deltas  bool
	// choose finds the engine and the model's id.
	choose func(agentModel string) (engine, string, error)
}

// startRun begins a run of an attached agent and returns at once. The run
// belongs to the bridge, not to the call that started it.
func (r *registry) startRun(ctx context.Context, q runRequest) (runRecord, *run, error) {
	if err := r.admit(); err != nil {
		return runRecord{}, nil, err
	}
	defer r.started.Done()
	a, err := r.lockAttached(ctx, q.agentID)
	if err != nil {
		return runRecord{}, nil, err
	}
	defer a.unlock()
	eng, modelID, err := q.choose(a.rec.Model)
	if err != nil {
		return runRecord{}, nil, err
	}
	// From here on it happens whole, whether or not the caller stays to see it.
	ctx = context.WithoutCancel(ctx)
	switch {
	case a.rec.Archived:
		return runRecord{}, nil, newFault(connect.CodeFailedPrecondition, sdkv1.SdkErrorCode_SDK_ERROR_CODE_AGENT_ARCHIVED, "agent %s is archived; unarchive it first", q.agentID)
	case a.rec.ActiveRun != "" && !q.force:
		return runRecord{}, nil, agentBusy(q.agentID, a.rec.ActiveRun)
	case a.rec.ActiveRun != "":
		if err := r.endActive(ctx, a, stopForced); err != nil {
			return runRecord{}, nil, err
		}
	}
	r.saveEnds(ctx, a)
	if err := r.takePlace(); err != nil {
		return runRecord{}, nil, err
	}
	live, err := r.beginRun(ctx, a, q, modelID)
	r.mu.Lock()
	r.starting--
	if err == nil {
		r.live[live.rec.ID] = live
	}
	r.mu.Unlock()
	if err != nil {
		return runRecord{}, nil, err
	}
	rec := live.rec
	t := task{
		AgentID: rec.AgentID, RunID: rec.ID, Model: modelID, Dir: a.rec.Dir, ExtraDirs: a.offer.extraDirs,
		Prompt: q.prompt, Images: q.images, Tools: a.offer.tools.allowed(eng.Tools()),
		Custom: a.offer.customTools(), Servers: a.offer.toolServers(), Subagents: a.offer.subagents, Memory: live.memory,
		Plan: q.mode == sdkv1.AgentModeOption_AGENT_MODE_OPTION_PLAN ||
			q.mode == sdkv1.AgentModeOption_AGENT_MODE_OPTION_UNSPECIFIED && a.offer.plan,
	}
	go r.execute(live, eng, t)
	return rec, live, nil
}

// admit lets a run be started, unless the bridge is stopping. Who was admitted
// calls r.started.Done.
func (r *registry) admit() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.draining {
		return newFault(connect.CodeUnavailable, sdkv1.SdkErrorCode_SDK_ERROR_CODE_UNSPECIFIED, "the bridge is shutting down")
	}
	r.started.Add(1)
	return nil
}

// takePlace counts a run that is being started, unless there are too many.
func (r *registry) takePlace() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.live)+r.starting < r.maxLive {
		r.starting++
		return nil
	}
	limit, none := uint64(r.maxLive), uint64(0)
	f := newFault(connect.CodeResourceExhausted, sdkv1.SdkErrorCode_SDK_ERROR_CODE_RATE_LIMIT_EXCEEDED,
		"%d runs are under way, which is as many as --max-concurrent-agents allows", r.maxLive)
	f.retryAfter, f.limit = busyRetry, &sdkv1.RateLimitInfo{Limit: &limit, Remaining: &none}
	return f
}

// beginRun keeps a new run and makes it the active one of its agent, whose lock is held.
func (r *registry) beginRun(ctx context.Context, a *agent, q runRequest, modelID string) (*run, error) {
	id, err := r.ids.next(runPrefix)
	if err != nil {
		return nil, err
	}
	rec := runRecord{ID: id, AgentID: q.agentID, Model: modelID, Status: statusRunning, Created: r.now().UTC(),
		Prompt: cut(q.prompt, maxPromptBytes), Images: len(q.images)}
	if err := r.store.createRun(ctx, rec); err != nil {
		return nil, err
	}
	live := &run{agent: a, rec: rec, done: make(chan struct{}), memory: &runMemory{store: r.store, agentID: q.agentID}}
	live.ctx, live.cancel = context.WithCancelCause(context.Background())
	if q.deltas {
		live.feed = newDeltaFeed()
	}
	live.log, err = r.store.beginLog(rec, r.maxLog, func(err error) { r.recordFailed(live, err) })
	if err == nil {
		if err = r.change(ctx, a, func(a *agentRecord) { a.ActiveRun, a.Model = id, modelID }); err == nil {
			return live, nil
		}
		err = errors.Join(err, live.log.seal())
	}
	live.cancel(nil)
	return nil, errors.Join(err, r.store.dropRun(ctx, rec))
}
