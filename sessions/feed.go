package sessions

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"sync"

	"github.com/liaison-bot/liaison/state"
)

// feed wakes those who follow sessions. It keeps no events: a follower that is
// woken reads on from the record, so that a slow one costs nothing and nobody
// who appends ever waits for it.
type feed struct {
	mu       sync.Mutex
	followed map[string]*followed
}

// followed is a session with at least one follower.
type followed struct {
	followers int
	more      chan struct{} // closed when there are more events than before
}

func newFeed() *feed { return &feed{followed: make(map[string]*followed)} }

// follow registers a follower until leave is called.
func (f *feed) follow(sessionID string) (leave func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, ok := f.followed[sessionID]
	if !ok {
		at = &followed{more: make(chan struct{})}
		f.followed[sessionID] = at
	}
	at.followers++
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if at.followers--; at.followers == 0 {
			delete(f.followed, sessionID)
		}
	}
}

// more returns what is closed once something is appended after this call. The
// caller follows the session.
func (f *feed) more(sessionID string) <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.followed[sessionID].more
}

// wake tells a session's followers that something was appended.
func (f *feed) wake(sessionID string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if at, ok := f.followed[sessionID]; ok {
		close(at.more)
		at.more = make(chan struct{})
	}
}

// Events yields the events of a session's record with an index of at least from:
// each one once, in order and without a gap. With follow it then waits for more,
// also in a session that has none yet, until ctx ends, which ends the sequence
// with ctx's error. A task's record has an end, so that following one stops by
// itself behind its last event; a chat's has none. Any other error comes last
// too, and the caller may go on from the index behind the last event.
//
// The caller makes sure that the session exists: an unknown one has no events,
// and following it waits for the first. Whoever is slow to take an event holds
// up nobody and keeps no file open.
func (e *Engine) Events(ctx context.Context, sessionID string, from int64, follow bool) iter.Seq2[state.Event, error] {
	next := max(from, 0)
	if !follow {
		return e.log.Read(ctx, sessionID, next)
	}
	return func(yield func(state.Event, error) bool) {
		leave := e.feed.follow(sessionID)
		defer leave()
		for next := next; ; {
			// Taken before the reading: what comes meanwhile wakes us again.
			more := e.feed.more(sessionID)
			for ev, err := range e.log.Read(ctx, sessionID, next) {
				if !yield(ev, err) || err != nil || EndsRecord(ev) {
					return
				}
				next = ev.Index + 1
			}
			select {
			case <-ctx.Done():
				yield(state.Event{}, fmt.Errorf("follow session %q: %w", sessionID, context.Cause(ctx)))
				return
			case <-more:
			}
		}
	}
}

// EndsRecord reports whether nothing can follow an event: a task is over. An
// archived session may be opened again.
func EndsRecord(ev state.Event) bool {
	if ev.Type != EventSessionCompleted && ev.Type != EventSessionFailed {
		return false
	}
	var end sessionEnded
	return json.Unmarshal(ev.Data, &end) == nil && !end.Archived
}

// LastIndex returns the index of the last event of a session's record, and -1
// when it has none. It costs the same however long the record is.
func (e *Engine) LastIndex(ctx context.Context, sessionID string) (int64, error) {
	n, err := e.log.Len(ctx, sessionID)
	return n - 1, err
}
