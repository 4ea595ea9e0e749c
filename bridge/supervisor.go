package bridge

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

const (
	// A first crash is answered by a start at once; from the second on the next
	// use waits, twice as long each time.
	firstBackoff = 250 * time.Millisecond
	maxBackoff   = 15 * time.Second
	// steadyAfter forgets earlier crashes.
	steadyAfter = time.Minute
)

// supervisor keeps at most one generation alive and starts it when it is needed.
type supervisor struct {
	open   func(ctx context.Context, generation uint64) (*connection, error)
	logger *slog.Logger

	ctx    context.Context // ends with the client
	cancel context.CancelCauseFunc

	mu         sync.Mutex
	current    *connection // the last generation, dead or alive
	openedAt   time.Time
	attempt    *attempt // a start under way
	generation uint64
	failures   int
	notBefore  time.Time
	closed     bool
}

// attempt is one start that any number of callers wait for.
type attempt struct {
	done chan struct{}
	conn *connection
	err  error
}

func newSupervisor(open func(context.Context, uint64) (*connection, error), logger *slog.Logger) *supervisor {
	s := &supervisor{open: open, logger: logger}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	return s
}

// connection returns the live generation and starts one if there is none. The
// start goes on for others when ctx ends.
func (s *supervisor) connection(ctx context.Context) (*connection, error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil, ErrClosed
	}
	before := s.current
	if before != nil {
		if before.alive() {
			defer s.mu.Unlock()
			return before, nil
		}
		if s.attempt == nil {
			s.countExit()
		}
	}
	a := s.attempt
	if a == nil {
		a = &attempt{done: make(chan struct{})}
		s.attempt = a
		s.generation++
		go s.run(a, before, s.generation, s.notBefore)
	}
	s.mu.Unlock()

	select {
	case <-a.done:
		return a.conn, a.err
	case <-ctx.Done():
		return nil, fmt.Errorf("bridge: wait for the bridge to start: %w", ctx.Err())
	}
}

// countExit notes that the current generation has died.
func (s *supervisor) countExit() {
	s.logger.Warn("the bridge has ended", "generation", s.current.generation, "error", context.Cause(s.current.ctx))
	if time.Since(s.openedAt) >= steadyAfter {
		s.failures = 0
	}
	s.current = nil
	s.delay()
}

// delay counts one failure and sets when the next start may be.
func (s *supervisor) delay() {
	s.failures++
	var wait time.Duration
	if s.failures > 1 {
		wait = maxBackoff
		if shift := s.failures - 2; shift < 10 {
			wait = min(firstBackoff<<shift, maxBackoff)
		}
	}
	s.notBefore = time.Now().Add(wait)
}

// run makes the attempt once nothing is left of the generation before: one that
// is killed because it hangs counts as dead a little earlier, and what belongs
// to it is removed from where the next one will be.
func (s *supervisor) run(a *attempt, before *connection, generation uint64, notBefore time.Time) {
	defer close(a.done)
	if before != nil && before.process != nil {
		<-before.gone
	}
	conn, err := s.start(generation, notBefore)

	s.mu.Lock()
	defer s.mu.Unlock()
	s.attempt = nil
	a.conn, a.err = conn, err
	if err != nil {
		s.delay()
		return
	}
	s.current, s.openedAt = conn, time.Now()
}

func (s *supervisor) start(generation uint64, notBefore time.Time) (*connection, error) {
	if wait := time.Until(notBefore); wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-s.ctx.Done():
			return nil, context.Cause(s.ctx)
		}
	}
	return s.open(s.ctx, generation)
}

// last returns the current generation, dead or alive, or nil.
func (s *supervisor) last() *connection {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}

// close refuses further use and returns the generation that is left to stop.
func (s *supervisor) close() *connection {
	s.mu.Lock()
	s.closed = true
	a := s.attempt
	s.mu.Unlock()
	s.cancel(ErrClosed)
	if a != nil {
		<-a.done
	}
	return s.last()
}
