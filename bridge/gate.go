package bridge

import (
	"context"
	"sync"
)

// gate counts what is under way. Once it is closed nothing enters, and who
// closed it can wait for what is inside.
type gate struct {
	mu     sync.Mutex
	inside int
	closed bool
	idle   chan struct{} // set by close, closed when nothing is inside
}

// enter reports whether the caller may go on; it must then leave.
func (g *gate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.inside++
	return true
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside--
	if g.inside == 0 && g.closed {
		close(g.idle)
	}
}

// close lets nothing in any more, waits until nothing is inside or ctx is done,
// and returns how many are still inside.
func (g *gate) close(ctx context.Context) int {
	g.mu.Lock()
	g.closed = true
	g.idle = make(chan struct{})
	if g.inside == 0 {
		close(g.idle)
	}
	g.mu.Unlock()
	select {
	case <-g.idle:
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.inside
}
