package local

import (
	"context"
	"errors"
	"maps"
	"sync"

	"connectrpc.com/connect"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// agent is what is kept of an agent and, when it was created or resumed in
// this process, what is not kept.
type agent struct {
	// changing is the agent's own lock.
	changing sync.Mutex
	// What follows is written with both locks held, so that either is enough to
	// read it.
	loaded   bool
	gone     bool // deleted, or never there
	rec      agentRecord
	attached bool
	offer    offer
}

// lockAgent finds an agent, in the storage if need be, and takes its lock. The
// caller releases it with unlock.
func (r *registry) lockAgent(ctx context.Context, id string) (*agent, error) {
	if err := checkID("agent_id", id); err != nil {
		return nil, err
	}
	a := r.lockPlace(id)
	if a.loaded {
		return a, nil
	}
	rec, err := r.loadAgent(ctx, id)
	if err != nil {
		r.forget(id, a)
		a.unlock()
		return nil, err
	}
	r.set(func() { a.loaded, a.rec = true, rec })
	return a, nil
}

// lockPlace takes the lock of an agent that may not be there.
func (r *registry) lockPlace(id string) *agent {
	for {
		r.mu.Lock()
		a, ok := r.agents[id]
		if !ok {
			a = new(agent)
			r.agents[id] = a
		}
		r.mu.Unlock()
		a.changing.Lock()
		if !a.gone {
			return a
		}
		a.changing.Unlock() // it went while this call waited for it
	}
}

func (a *agent) unlock() { a.changing.Unlock() }

// lockAttached is lockAgent for an agent that was created or resumed in this process.
func (r *registry) lockAttached(ctx context.Context, id string) (*agent, error) {
	a, err := r.lockAgent(ctx, id)
	if err != nil {
		return nil, err
	}
	if !a.attached {
		a.unlock()
		return nil, agentNotAttached(id)
	}
	return a, nil
}

// set changes fields of an agent, whose lock is held too.
func (r *registry) set(fields func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fields()
}

// forget takes an agent whose lock is held out of the map.
func (r *registry) forget(id string, a *agent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a.gone, a.loaded = true, false
	delete(r.agents, id)
	maps.DeleteFunc(r.unsaved, func(_ string, rec runRecord) bool { return rec.AgentID == id })
}

// loadAgent reads an agent from the storage. An active run that had ended when
// the process died between the two writes is forgotten.
func (r *registry) loadAgent(ctx context.Context, id string) (agentRecord, error) {
	rec, err := r.store.agent(ctx, id)
	switch {
	case errors.Is(err, errNotKept):
		return agentRecord{}, agentNotFound(id)
	case errors.Is(err, errNewer), errors.Is(err, errUnreadable):
		return agentRecord{}, notReadable("agent", id, err)
	case err != nil:
		return agentRecord{}, err
	}
	if rec.ActiveRun != "" {
		if ended, err := r.store.run(ctx, rec.ActiveRun); err == nil && ended.Status.ended() {
			rec.ActiveRun, rec.LastStatus = "", ended.Status
		}
	}
	return rec, nil
}

// notReadable is about a record that is there and cannot be used.
func notReadable(what, id string, err error) *fault {
	if errors.Is(err, errNewer) {
		return newFault(connect.CodeFailedPrecondition, sdkv1.SdkErrorCode_SDK_ERROR_CODE_INTERNAL_ERROR,
			"%s %s was written by a newer version of this bridge; start that one, or use another id", what, id)
	}
	return newFault(connect.CodeDataLoss, sdkv1.SdkErrorCode_SDK_ERROR_CODE_INTERNAL_ERROR,
		"what is kept of %s %s is damaged; the bridge's stderr has more", what, id)
}
