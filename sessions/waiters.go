package sessions

import (
	"sync"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/tools"
)

// waiters are the calls of agents that wait for people, while they are alive.
type waiters struct {
	mu   sync.Mutex
	byID map[string]*waiter // by approval id
}

// waiter is one of them.
type waiter struct {
	// id is the approval's, set once in its session's actor.
	id string
	// heard receives the answer, once.
	heard chan heard
}

// heard is what a call is told: what the approval came to, and what the tool
// itself answered if it ran just now.
type heard struct {
	view   approvals.View
	result *tools.Result
	// final asks for the end of the turn.
	final bool
}

func newWaiters() *waiters { return &waiters{byID: make(map[string]*waiter)} }

// add lets a call wait, in the place of one that waited for the same.
func (ws *waiters) add(w *waiter) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.byID[w.id] = w
}

// has reports whether a call waits for an approval.
func (ws *waiters) has(id string) bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	return ws.byID[id] != nil
}

// remove ends the wait of a call. It reports false when another waits in its place.
func (ws *waiters) remove(w *waiter) bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.byID[w.id] != w {
		return false
	}
	delete(ws.byID, w.id)
	return true
}

// tell answers the call that waits for an approval, if one does.
func (ws *waiters) tell(id string, h heard) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	w := ws.byID[id]
	if w == nil {
		return
	}
	select {
	case w.heard <- h:
	default: // it was told before
	}
}
