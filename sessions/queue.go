package sessions

import (
	"container/list"
	"sync"
)

// turnQueue shares the places for running turns fairly: sessions, not turns,
// stand in line, so that one busy session cannot keep the others out.
type turnQueue struct {
	limit int
	// grant is told, without the lock, that a session may start a turn. The
	// session gives the place back by release.
	grant func(sessionID string)

	mu      sync.Mutex
	started bool
	line    *list.List // of session ids
	places  map[string]*list.Element
	running int
}

func newTurnQueue(limit int, grant func(string)) *turnQueue {
	return &turnQueue{limit: limit, grant: grant, line: list.New(), places: make(map[string]*list.Element)}
}

// open lets turns start; close stops that. Places are given back all the same.
func (q *turnQueue) open() {
	q.mu.Lock()
	q.started = true
	q.mu.Unlock()
	q.fill()
}

func (q *turnQueue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.started = false
}

// add puts a session at the end of the line. It stands there at most once.
func (q *turnQueue) add(sessionID string) {
	q.mu.Lock()
	if _, waits := q.places[sessionID]; !waits {
		q.places[sessionID] = q.line.PushBack(sessionID)
	}
	q.mu.Unlock()
	q.fill()
}

// remove takes a session out of the line. It reports false when the session was
// not in it, because it has been granted a place or never asked for one.
func (q *turnQueue) remove(sessionID string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	place, waits := q.places[sessionID]
	if waits {
		q.take(place)
	}
	return waits
}

// release gives a granted place back.
func (q *turnQueue) release() {
	q.mu.Lock()
	q.running--
	q.mu.Unlock()
	q.fill()
}

// ahead returns how many sessions a session that joins now, or stands in line
// already, has to wait for; 0 when a place is free.
func (q *turnQueue) ahead(sessionID string) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := q.line.Len()
	if place, waits := q.places[sessionID]; waits {
		n = 0
		for at := q.line.Front(); at != place; at = at.Next() {
			n++
		}
	}
	if n == 0 && q.running < q.limit {
		return 0
	}
	return n + 1
}

func (q *turnQueue) counts() (running, waiting int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.running, q.line.Len()
}

func (q *turnQueue) fill() {
	for {
		q.mu.Lock()
		if !q.started || q.running >= q.limit || q.line.Len() == 0 {
			q.mu.Unlock()
			return
		}
		next := q.take(q.line.Front())
		q.running++
		q.mu.Unlock()
		q.grant(next)
	}
}

func (q *turnQueue) take(place *list.Element) string {
	id := q.line.Remove(place).(string)
	delete(q.places, id)
	return id
}
