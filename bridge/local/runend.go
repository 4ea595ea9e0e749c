package local

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// recordFailed ends a run whose messages cannot be kept.
func (r *registry) recordFailed(live *run, err error) {
	r.logger.Error("a run's message could not be recorded", "run", live.rec.ID, "error", err)
	reason := "the bridge could not record what the run said; is its disk full, or its store down?"
	if errors.Is(err, errTooLong) {
		reason = fmt.Sprintf("the run said more at once than the %d KiB that one message may have", maxEventBytes>>10)
	}
	live.cancel(&stop{statusError, "record_failed", reason})
}

// finish records the end of a live run, whose agent's lock is held; the first
// end wins. The order matters: who sees the result may send again at once.
func (r *registry) finish(live *run, end runRecord) {
	if live.rec.Status.ended() {
		return
	}
	ctx, a := context.Background(), live.agent
	rec := live.rec
	rec.Status, rec.Result, rec.ErrorCode, rec.Reason, rec.Usage = end.Status, cut(end.Result, maxResultBytes), end.ErrorCode, end.Reason, end.Usage
	rec.Duration = r.now().Sub(rec.Created)
	r.settleMemory(live)
	kind, message := endMessage(rec)
	err := errors.Join(live.log.append(ctx, r.now().UTC(), kind, message), live.log.seal())
	saved := r.store.saveRun(ctx, rec)
	err = errors.Join(err, saved, r.change(ctx, a, func(a *agentRecord) { a.ActiveRun, a.LastStatus = "", rec.Status }))
	if err != nil {
		r.logger.Error("the end of a run could not be recorded whole", "run", rec.ID, "error", err)
	}
	r.mu.Lock()
	// Whatever the storage says, this process knows that the run is over.
	a.rec.ActiveRun, a.rec.LastStatus = "", rec.Status
	live.rec = rec
	delete(r.live, rec.ID)
	if err != nil {
		r.unsaved[rec.ID] = rec
	}
	r.mu.Unlock()
	close(live.done)
}

// unsavedOf are the ends of an agent's runs that are not stored; of all agents
// when id is empty.
func (r *registry) unsavedOf(id string) []runRecord {
	r.mu.Lock()
	defer r.mu.Unlock()
	var recs []runRecord
	for _, rec := range r.unsaved {
		if id == "" || rec.AgentID == id {
			recs = append(recs, rec)
		}
	}
	return recs
}

// saveEnds offers the storage again what it did not take at the ends of an
// agent's runs. The agent's lock is held.
func (r *registry) saveEnds(ctx context.Context, a *agent) {
	for _, rec := range r.unsavedOf(a.rec.ID) {
		if err := r.saveEnd(ctx, a, rec); err != nil {
			r.logger.Error("the end of a run is still not stored", "run", rec.ID, "error", err)
		}
	}
}

// saveAllEnds is saveEnds for every agent.
func (r *registry) saveAllEnds(ctx context.Context) {
	for _, rec := range r.unsavedOf("") {
		a, err := r.lockAgent(ctx, rec.AgentID)
		if err != nil {
			r.logger.Error("the end of a run is still not stored", "run", rec.ID, "error", err)
			continue
		}
		r.saveEnds(ctx, a)
		a.unlock()
	}
}

// saveEnd stores the end of a run and that its agent, whose lock is held, is free.
func (r *registry) saveEnd(ctx context.Context, a *agent, rec runRecord) error {
	err := r.store.saveRun(ctx, rec)
	if err == nil {
		err = r.change(ctx, a, func(*agentRecord) {})
	}
	if err == nil {
		r.mu.Lock()
		delete(r.unsaved, rec.ID)
		r.mu.Unlock()
	}
	return err
}

// endMessage is the status message that ends a run.
func endMessage(rec runRecord) (kind string, message map[string]any) {
	message = map[string]any{"type": "status", "agent_id": rec.AgentID, "run_id": rec.ID, "status": string(rec.Status)}
	if rec.Reason != "" {
		message["message"] = rec.Reason
	}
	return "status", message
}

// endActive ends the active run of an agent whose lock is held, live or left
// behind by a crash.
func (r *registry) endActive(ctx context.Context, a *agent, why *stop) error {
	id := a.rec.ActiveRun
	r.mu.Lock()
	live, ok := r.live[id]
	r.mu.Unlock()
	if ok {
		live.cancel(why)
		r.finish(live, why.end())
		return nil
	}
	rec, err := r.store.run(ctx, id)
	switch {
	case errors.Is(err, errNotKept), errors.Is(err, errUnreadable), errors.Is(err, errNewer):
		// The crash was before the run was written, or its record is damaged:
		// there is nothing to end, and the agent must not stay busy for it.
		r.logger.Warn("the active run of an agent has no record", "run", id, "error", err)
		return r.change(ctx, a, func(a *agentRecord) { a.ActiveRun = "" })
	case err != nil:
		return err
	}
	if err := r.endLeftBehind(ctx, rec, why); err != nil {
		return err
	}
	return r.change(ctx, a, func(a *agentRecord) { a.ActiveRun, a.LastStatus = "", why.status })
}

// endLeftBehind records the end of a run that no process runs any more. The
// lock of its agent is held.
func (r *registry) endLeftBehind(ctx context.Context, rec runRecord, why *stop) error {
	rec.Status, rec.ErrorCode, rec.Reason = why.status, why.code, why.reason
	kind, message := endMessage(rec)
	if err := r.store.appendEvent(ctx, rec, r.now().UTC(), kind, message); err != nil {
		return err
	}
	return r.store.saveRun(ctx, rec)
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
		live.agent.changing.Lock()
		defer live.agent.unlock()
		r.finish(live, why.end())
	}
}
