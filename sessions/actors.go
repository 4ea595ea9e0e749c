package sessions

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/liaison-bot/liaison/state"
)

// actors finds the actor of a session. One is in memory while it decides or its
// turn runs; a few more are remembered. All others, also those whose turns wait
// for a place or a time, are in the store alone and come back from there.
type actors struct {
	e *Engine
	// ctx bounds every decision, turns every turn; both are set once, before the
	// first post. handOver ends turns, whatever their actors are waiting for.
	ctx, turns context.Context
	handOver   context.CancelCauseFunc

	mu       sync.Mutex
	live     map[string]*actor // by session id
	resting  *list.List        // of those with nothing to do, beginning with the latest
	intended map[string]string // continuation key → id of a session that is not stored yet
	stopping bool
	// working counts the goroutines of actors and turns; gone, if somebody waits
	// for it, is closed when there is none.
	working int
	gone    chan struct{}
}

func newActors(e *Engine) *actors {
	return &actors{e: e, live: make(map[string]*actor), resting: list.New(), intended: make(map[string]string)}
}

// route hands work to the actor of the session that a key names, giving the key
// a session id if it has none yet. Until that session is stored, the same key
// gives the same id.
func (as *actors) route(ctx context.Context, key string, work func(*actor)) error {
	_, err := read(ctx, as.e, func(ctx context.Context) (struct{}, error) {
		// The lookup is under the lock, so that the session cannot be stored and
		// its intention forgotten between the answer and the post.
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

// post hands work to a session's actor, which is fetched from the store if need
// be. Work posted by one goroutine is done in order. It never waits.
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
		a = &actor{e: as.e, id: sessionID, stale: true}
		as.live[sessionID] = a
	}
	if a.rests != nil {
		as.resting.Remove(a.rests)
		a.rests = nil
	}
	a.mail = append(a.mail, work)
	if !a.working {
		a.working = true
		as.working++
		go as.loop(a)
	}
	return a
}

// loop does an actor's work until it has none.
func (as *actors) loop(a *actor) {
	defer as.done()
	for work := as.next(a); work != nil; work = as.next(a) {
		as.do(a, work)
	}
}

// next takes the next piece of work. Without one it lets the actor rest.
func (as *actors) next(a *actor) func(*actor) {
	as.mu.Lock()
	defer as.mu.Unlock()
	if len(a.mail) > 0 {
		work := a.mail[0]
		a.mail = a.mail[1:]
		return work
	}
	a.working, a.mail = false, nil
	for _, key := range a.intended {
		delete(as.intended, key)
	}
	a.intended = nil
	if a.running == nil && a.direct == nil {
		as.rest(a)
	}
	return nil
}

// rest remembers an actor that has nothing to do, in the place of the one that
// rests longest. A picture that has to be read again is not worth keeping.
func (as *actors) rest(a *actor) {
	if a.stale {
		delete(as.live, a.id)
		return
	}
	a.rests = as.resting.PushFront(a)
	if as.resting.Len() > maxResting {
		oldest := as.resting.Remove(as.resting.Back()).(*actor)
		delete(as.live, oldest.id)
	}
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

// run has a turn's goroutine waited for at the end, as actors are.
func (as *actors) run(turn func()) {
	as.mu.Lock()
	defer as.mu.Unlock()
	as.working++
	go func() {
		defer as.done()
		turn()
	}()
}

// done ends a goroutine that was counted.
func (as *actors) done() {
	as.mu.Lock()
	defer as.mu.Unlock()
	if as.working--; as.working == 0 && as.gone != nil {
		close(as.gone)
		as.gone = nil
	}
}

// begin sets the bound of all that actors do.
func (as *actors) begin(ctx context.Context) {
	as.ctx = ctx
	as.turns, as.handOver = context.WithCancelCause(ctx)
}

// stop asks running turns to end.
func (as *actors) stop() {
	as.mu.Lock()
	defer as.mu.Unlock()
	as.stopping = true
	as.handOver(errHandOver)
}

// wait reports whether no actor works and no turn runs any more, within d.
func (as *actors) wait(d time.Duration) bool {
	as.mu.Lock()
	if as.working == 0 {
		as.mu.Unlock()
		return true
	}
	if as.gone == nil {
		as.gone = make(chan struct{})
	}
	gone := as.gone
	as.mu.Unlock()
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

// count returns how many sessions have something to do or stand in line.
func (as *actors) count() int {
	as.mu.Lock()
	defer as.mu.Unlock()
	_, n := as.e.turns.counts()
	for id, a := range as.live {
		if a.rests == nil && !as.e.turns.waits(id) {
			n++
		}
	}
	return n
}

// grant tells a session that it may start a turn.
func (e *Engine) grant(sessionID string) {
	e.actors.post(sessionID, (*actor).start)
}
