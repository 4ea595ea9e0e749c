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
	// rec is guarded by the registry's lock until done is closed; then it is final.
	rec    runRecord
	log    *eventLog
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
func (r *registry) startRun(q runRequest) (runRecord, *run, error) {
	agentID := q.agentID
	r.mu.Lock()
	defer r.mu.Unlock()
	a, err := r.attachedAgent(agentID)
	if err != nil {
		return runRecord{}, nil, err
	}
	eng, modelID, err := q.choose(a.rec.Model)
	if err != nil {
		return runRecord{}, nil, err
	}
	switch {
	case r.draining:
		return runRecord{}, nil, newFault(connect.CodeUnavailable, sdkv1.SdkErrorCode_SDK_ERROR_CODE_UNSPECIFIED, "the bridge is shutting down")
	case a.rec.Archived:
		return runRecord{}, nil, newFault(connect.CodeFailedPrecondition, sdkv1.SdkErrorCode_SDK_ERROR_CODE_AGENT_ARCHIVED, "agent %s is archived; unarchive it first", agentID)
	case a.rec.ActiveRun != "" && !q.force:
		return runRecord{}, nil, agentBusy(agentID, a.rec.ActiveRun)
	case a.rec.ActiveRun != "":
		if err := r.endActive(a, stopForced); err != nil {
			return runRecord{}, nil, err
		}
	}
	if len(r.live) >= r.maxLive {
		limit, none := uint64(r.maxLive), uint64(0)
		f := newFault(connect.CodeResourceExhausted, sdkv1.SdkErrorCode_SDK_ERROR_CODE_RATE_LIMIT_EXCEEDED,
			"%d runs are under way, which is as many as --max-concurrent-agents allows", r.maxLive)
		f.retryAfter, f.limit = busyRetry, &sdkv1.RateLimitInfo{Limit: &limit, Remaining: &none}
		return runRecord{}, nil, f
	}

	id, err := r.ids.next(runPrefix)
	if err != nil {
		return runRecord{}, nil, err
	}
	rec := runRecord{ID: id, AgentID: agentID, Model: modelID, Status: statusRunning, Created: r.now().UTC(),
		Prompt: cut(q.prompt, maxPromptBytes), Images: len(q.images)}
	log, err := createLog(r.store.eventsFile(agentID, id), r.maxLog)
	if err != nil {
		return runRecord{}, nil, err
	}
	err = r.store.saveRun(rec)
	if err == nil {
		err = r.change(a, func(a *agentRecord) { a.ActiveRun, a.Model = id, modelID })
	}
	if err != nil {
		return runRecord{}, nil, errors.Join(err, log.seal(), r.store.dropRun(agentID, id))
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	live := &run{rec: rec, log: log, cancel: cancel, done: make(chan struct{}), memory: &runMemory{store: r.store, agentID: agentID}}
	if q.deltas {
		live.feed = newDeltaFeed()
	}
	a.runs = append(a.runs, id)
	r.owner[id], r.live[id] = a, live
	t := task{
		AgentID: agentID, RunID: id, Model: modelID, Dir: a.rec.Dir, ExtraDirs: a.offer.extraDirs,
		Prompt: q.prompt, Images: q.images, Tools: a.offer.tools.allowed(eng.Tools()),
		Custom: a.offer.customTools(), Subagents: a.offer.subagents, Memory: live.memory,
		Plan: q.mode == sdkv1.AgentModeOption_AGENT_MODE_OPTION_PLAN ||
			q.mode == sdkv1.AgentModeOption_AGENT_MODE_OPTION_UNSPECIFIED && a.offer.plan,
	}
	go r.execute(ctx, live, eng, t)
	return rec, live, nil
}

// finish records the end of a live run; the first end wins. The lock is held.
// The order matters: who sees the result may send again at once.
func (r *registry) finish(live *run, end runRecord) {
	if live.rec.Status.ended() {
		return
	}
	rec := live.rec
	rec.Status, rec.Result, rec.ErrorCode, rec.Reason, rec.Usage = end.Status, end.Result, end.ErrorCode, end.Reason, end.Usage
	rec.Duration = r.now().Sub(rec.Created)
	r.settleMemory(live)
	err := errors.Join(appendEnd(live.log, r.now(), rec), r.store.saveRun(rec))
	if a, ok := r.owner[rec.ID]; ok {
		err = errors.Join(err, r.change(a, func(a *agentRecord) { a.ActiveRun, a.LastStatus = "", rec.Status }))
		// Whatever the disk says, this process knows that the run is over.
		a.rec.ActiveRun, a.rec.LastStatus = "", rec.Status
	}
	live.rec = rec
	delete(r.live, rec.ID)
	if err := errors.Join(err, live.log.seal()); err != nil {
		r.logger.Error("the end of a run could not be recorded whole", "run", rec.ID, "error", err)
	}
	close(live.done)
}

// appendEnd records the status message that ends a run.
func appendEnd(log *eventLog, now time.Time, rec runRecord) error {
	message := map[string]any{"type": "status", "agent_id": rec.AgentID, "run_id": rec.ID, "status": string(rec.Status)}
	if rec.Reason != "" {
		message["message"] = rec.Reason
	}
	return log.append(now.UTC(), "status", message)
}

// endActive ends the active run of an agent, live or left behind by a crash.
// The lock is held.
func (r *registry) endActive(a *agent, why *stop) error {
	id := a.rec.ActiveRun
	if live, ok := r.live[id]; ok {
		live.cancel(why)
		r.finish(live, why.end())
		return nil
	}
	rec, err := r.store.loadRun(a.rec.ID, id)
	if err != nil {
		// The crash was before the run was written: there is nothing to end.
		r.logger.Warn("the active run of an agent has no record", "run", id, "error", err)
		return r.change(a, func(a *agentRecord) { a.ActiveRun = "" })
	}
	if err := r.endLeftBehind(rec, why); err != nil {
		return err
	}
	return r.change(a, func(a *agentRecord) { a.ActiveRun, a.LastStatus = "", why.status })
}

// endLeftBehind records the end of a run that no process runs any more. The
// lock is held.
func (r *registry) endLeftBehind(rec runRecord, why *stop) error {
	rec.Status, rec.ErrorCode, rec.Reason = why.status, why.code, why.reason
	log, err := reopenLog(r.store.eventsFile(rec.AgentID, rec.ID))
	if err != nil {
		return err
	}
	return errors.Join(appendEnd(log, r.now(), rec), log.seal(), r.store.saveRun(rec))
}

func (s *stop) end() runRecord {
	return runRecord{Status: s.status, ErrorCode: s.code, Reason: s.reason}
}

// awaitOrFinish waits for a run that was told to stop, and ends it when its
// engine does not return in time.
func (r *registry) awaitOrFinish(live *run, why *stop) {
	timer := time.NewTimer(cancelGrace)
	defer timer.Stop()
	select {
	case <-live.done:
	case <-timer.C:
		r.mu.Lock()
		defer r.mu.Unlock()
		r.finish(live, why.end())
	}
}
