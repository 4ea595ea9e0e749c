package sessions

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/liaison-bot/liaison/state"
)

// actors keeps one actor for each session that has something to do. An actor
// goes when it has nothing left, and comes back from the store.
type actors struct {
	e *Engine
	// ctx bounds every decision, turns every turn; both are set once, before the
	// first post. handOver ends turns, whatever their actors are waiting for.
	ctx, turns context.Context
	handOver   context.CancelCauseFunc

	mu       sync.Mutex
	live     map[string]*actor // by session id
	intended map[string]string // continuation key → id of a session that is not stored yet
	stopping bool
	wg       sync.WaitGroup
}

func newActors(e *Engine) *actors {
	return &actors{e: e, live: make(map[string]*actor), intended: make(map[string]string)}
}

// route hands work to the actor of the session that a key names, giving the key
// a session id if it has none yet. Until that session is stored, the same key
// gives the same id.
func (as *actors) route(ctx context.Context, key string, work func(*actor)) error {
	_, err := read(ctx, as.e, func(ctx context.Context) (struct{}, error) {
		// The lookup is under the lock, so that the session cannot be stored and
		// its actor leave between the answer and the post.
		as.mu.Lock()
		defer as.mu.Unlock()
		id, known := as.intended[key]
		if !known {
			s, err := as.e.store.SessionByKey(ctx, key)
			switch {
			case err == nil:
				id = s.ID
			case errors.Is(err, state.ErrNotFound):
				id = sessionPrefix + as.e.newID()
				as.intended[key] = id
			default:
				return struct{}{}, fmt.Errorf("find the session of %s: %w", key, err)
			}
		}
		a := as.postLocked(id, work)
		if as.intended[key] == id {
			a.intended = append(a.intended, key)
		}
		return struct{}{}, nil
	})
	return err
}

// post hands work to a session's actor, starting it if need be. Work posted by
// one goroutine is done in order. It never waits.
func (as *actors) post(sessionID string, work func(*actor)) {
	as.mu.Lock()
	defer as.mu.Unlock()
	as.postLocked(sessionID, work)
}

// offer is post for work that somebody waits for. It reports false, and leaves the
// work, when the engine is stopping.
func (as *actors) offer(sessionID string, work func(*actor)) bool {
	as.mu.Lock()
	defer as.mu.Unlock()
	if as.stopping {
		return false
	}
	as.postLocked(sessionID, work)
	return true
}

func (as *actors) postLocked(sessionID string, work func(*actor)) *actor {
	a, ok := as.live[sessionID]
	if !ok {
		a = &actor{e: as.e, id: sessionID, wake: make(chan struct{}, 1), stale: true}
		as.live[sessionID] = a
		as.wg.Go(func() { as.loop(a) })
	}
	a.mail = append(a.mail, work)
	a.nudge()
	return a
}

// loop does an actor's work until it has nothing left.
func (as *actors) loop(a *actor) {
	for {
		work, gone := as.next(a)
		if gone {
			return
		}
		if work == nil {
			<-a.wake
			continue
		}
		as.do(a, work)
	}
}

// next takes the next piece of work, or lets the actor go if it is idle.
func (as *actors) next(a *actor) (work func(*actor), gone bool) {
	as.mu.Lock()
	defer as.mu.Unlock()
	if len(a.mail) > 0 {
		work = a.mail[0]
		a.mail = a.mail[1:]
		return work, false
	}
	if a.running == nil && (as.stopping || a.idle()) {
		delete(as.live, a.id)
		for _, key := range a.intended {
			delete(as.intended, key)
		}
		return nil, true
	}
	return nil, false
}

// do keeps a fault in one session's decision from ending the others.
func (as *actors) do(a *actor, work func(*actor)) {
	defer func() {
		if p := recover(); p != nil {
			as.e.logger.Error("panic in a session's actor", "session", a.id,
				"panic", as.e.redact(fmt.Sprint(p)), "stack", string(debug.Stack()))
			a.stale = true
		}
	}()
	work(a)
}

// begin sets the bound of all that actors do.
func (as *actors) begin(ctx context.Context) {
	as.ctx = ctx
	as.turns, as.handOver = context.WithCancelCause(ctx)
}

// stop asks running turns to end and lets actors go that have none.
func (as *actors) stop() {
	as.mu.Lock()
	defer as.mu.Unlock()
	as.stopping = true
	as.handOver(errHandOver)
	for _, a := range as.live {
		a.nudge()
	}
}

// wait reports whether all actors are gone within d.
func (as *actors) wait(d time.Duration) bool {
	gone := make(chan struct{})
	go func() {
		as.wg.Wait()
		close(gone)
	}()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-gone:
		return true
	case <-timer.C:
		return false
	}
}

func (as *actors) isStopping() bool {
	as.mu.Lock()
	defer as.mu.Unlock()
	return as.stopping
}

func (as *actors) count() int {
	as.mu.Lock()
	defer as.mu.Unlock()
	return len(as.live)
}

// grant tells a session that it may start a turn.
func (e *Engine) grant(sessionID string) {
	e.actors.post(sessionID, (*actor).start)
}
