package sessions

import (
	"sync"
	"time"
)

// turnQueue shares the places for running turns fairly: sessions, not turns,
// stand in line, so that one busy session cannot keep the others out. It knows
// nothing of them but their ids, so that many may wait.
type turnQueue struct {
	limit int
	// grant is told, without the lock, that a session may start a turn. The
	// session gives the place back by release.
	grant func(sessionID string)
	pace  *pacer

	mu      sync.Mutex
	started bool
	// line has the waiting sessions in order, with holes where one has left;
	// gone is how many have been taken off its front since the beginning. places
	// says where a session stands, counted from the beginning.
	line    []string
	gone    int
	places  map[string]int
	running int
	// granted is when the last place was granted; later tries again while intake
	// is given way to.
	granted time.Time
	later   *time.Timer
}

func newTurnQueue(limit int, grant func(string), pace *pacer) *turnQueue {
	return &turnQueue{limit: limit, grant: grant, pace: pace, places: make(map[string]int)}
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
	if q.later != nil {
		q.later.Stop()
	}
}

// add puts a session at the end of the line. It stands there at most once.
func (q *turnQueue) add(sessionID string) {
	q.mu.Lock()
	if _, waits := q.places[sessionID]; !waits {
		if len(q.line) > 2*len(q.places)+maxHoles {
			q.closeUp()
		}
		q.places[sessionID] = q.gone + len(q.line)
		q.line = append(q.line, sessionID)
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
		q.line[place-q.gone] = ""
		delete(q.places, sessionID)
		q.trim()
	}
	return waits
}

// waits reports whether a session stands in line.
func (q *turnQueue) waits(sessionID string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	_, waits := q.places[sessionID]
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
	n := len(q.places)
	if place, waits := q.places[sessionID]; waits {
		n = 0
		for _, other := range q.line[:place-q.gone] {
			if other != "" {
				n++
			}
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
	return q.running, len(q.places)
}

// fill grants the places that are free, one at a time while intake is busy.
func (q *turnQueue) fill() {
	for {
		busy := q.pace.busy()
		q.mu.Lock()
		if !q.started || q.running >= q.limit || len(q.places) == 0 {
			q.mu.Unlock()
			return
		}
		if busy {
			if wait := paceTurns - q.pace.now().Sub(q.granted); wait > 0 {
				q.again(min(wait, paceTurns))
				q.mu.Unlock()
				return
			}
		}
		next := q.take()
		q.running++
		q.granted = q.pace.now()
		q.mu.Unlock()
		q.grant(next)
	}
}

// again has the line looked at later, also if intake is idle before. mu is held.
func (q *turnQueue) again(wait time.Duration) {
	if q.later == nil {
		q.later = time.AfterFunc(wait, q.fill)
		return
	}
	q.later.Reset(wait)
}

// take returns the first session in line, which is not empty. mu is held.
func (q *turnQueue) take() string {
	q.trim()
	first := q.line[0]
	q.line[0] = ""
	delete(q.places, first)
	q.trim()
	return first
}

// trim drops the holes at the front. mu is held.
func (q *turnQueue) trim() {
	holes := 0
	for holes < len(q.line) && q.line[holes] == "" {
		holes++
	}
	q.line, q.gone = q.line[holes:], q.gone+holes
	if len(q.places) == 0 {
		q.line = nil // also gives room back that many needed
	}
}

// maxHoles is how many holes may be left in a line that nobody else stands in.
const maxHoles = 1024

// closeUp drops all holes: sessions that come and go behind one that waits for
// long must not make the line longer and longer. mu is held.
func (q *turnQueue) closeUp() {
	line := make([]string, 0, len(q.places)+1)
	for _, id := range q.line {
		if id != "" {
			q.places[id] = q.gone + len(line)
			line = append(line, id)
		}
	}
	q.line = line
}
