package github

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/liaison-bot/liaison/sessions"
)

// pacer lets the writes of one installation go one at a time, with a pause
// between two: "make requests serially" and "wait at least one second between
// each request" that changes something.
// https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api#pause-between-mutative-requests
// Reads and other installations are not held up. A review has about five writes,
// and most of the pauses between them pass while the agent works.
type pacer struct {
	pause time.Duration
	now   func() time.Time

	mu    sync.Mutex
	lanes map[int64]*lane
}

// lane is the way out for one installation's writes.
type lane struct {
	// turn holds one value while a write is under way.
	turn chan struct{}
	// waiting counts those that stand in line, and is guarded by the pacer's lock.
	waiting int
	// free is when the next write may begin; only who has the turn touches it.
	free time.Time
}

func newPacer(pause time.Duration, now func() time.Time) *pacer {
	return &pacer{pause: pause, now: now, lanes: map[int64]*lane{}}
}

// enter waits for an installation's turn to write, and returns what gives it
// back. Where that would take longer than maxPaceWait it returns an error which
// asks to come back later: the line is long, and that is nobody's failed attempt.
func (p *pacer) enter(ctx context.Context, installation int64) (leave func(), err error) {
	l, ahead := p.join(installation)
	defer p.left(l)
	if line := time.Duration(ahead) * p.pause; line > maxPaceWait {
		return nil, p.full(installation, line)
	}
	deadline := time.NewTimer(maxPaceWait)
	defer deadline.Stop()
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-deadline.C:
		return nil, p.full(installation, p.pause)
	}
	if left := l.free.Sub(p.now()); left > 0 {
		pause := time.NewTimer(min(left, p.pause)) // a clock that is set back holds nobody up
		defer pause.Stop()
		select {
		case <-pause.C:
		case <-ctx.Done():
			<-l.turn
			return nil, ctx.Err()
		}
	}
	return func() {
		l.free = p.now().Add(p.pause)
		<-l.turn
	}, nil
}

// join takes a place in an installation's line and says how many are ahead.
func (p *pacer) join(installation int64) (l *lane, ahead int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l = p.lanes[installation]
	if l == nil {
		l = &lane{turn: make(chan struct{}, 1)}
		p.lanes[installation] = l
	}
	ahead = l.waiting
	l.waiting++
	return l, ahead
}

func (p *pacer) left(l *lane) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l.waiting--
}

func (p *pacer) full(installation int64, after time.Duration) error {
	return &sessions.RetryError{After: after, Uncounted: true, Err: fmt.Errorf(
		"installation %d has more to write than GitHub likes to take at once; this waits for its turn", installation)}
}

// paced puts a client's writes into its installation's line. It is outside of
// the time limit of a request, which begins when it is a request's turn.
type paced struct {
	next         http.RoundTripper
	pacer        *pacer
	installation int64
}

// RoundTrip implements http.RoundTripper.
func (t paced) RoundTrip(req *http.Request) (*http.Response, error) {
	if reads(req.Method) {
		return t.next.RoundTrip(req)
	}
	leave, err := t.pacer.enter(req.Context(), t.installation)
	if err != nil {
		if req.Body != nil {
			_ = req.Body.Close()
		}
		return nil, err
	}
	defer leave()
	return t.next.RoundTrip(req)
}

func reads(method string) bool { return method == http.MethodGet || method == http.MethodHead }
