package bridge

import (
	"context"
	"sync"
)

const (
	// A run's unread events are bounded both ways. A thousand events is minutes
	// of a busy agent; a reader that is further behind loses the oldest.
	maxBufferedEvents = 8192
	maxBufferedBytes  = 32 << 20
)

// eventBuffer lies between the stream and its reader. Pushing never waits: a
// bridge cuts a stream that is read slowly.
type eventBuffer struct {
	maxEvents, maxBytes int

	mu      sync.Mutex
	events  []Event
	bytes   int
	lost    int
	closed  bool
	changed chan struct{} // closed and replaced at every change
}

func newEventBuffer() *eventBuffer {
	return &eventBuffer{maxEvents: maxBufferedEvents, maxBytes: maxBufferedBytes, changed: make(chan struct{})}
}

func (b *eventBuffer) push(e Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events = append(b.events, e)
	b.bytes += len(e.Raw)
	for len(b.events) > 1 && (len(b.events) > b.maxEvents || b.bytes > b.maxBytes) {
		b.drop()
		b.lost++
	}
	b.signal()
}

func (b *eventBuffer) drop() Event {
	e := b.events[0]
	b.events[0] = Event{} // let its memory go before the slice does
	b.events = b.events[1:]
	b.bytes -= len(e.Raw)
	return e
}

func (b *eventBuffer) signal() {
	close(b.changed)
	b.changed = make(chan struct{})
}

// close says that no event will follow.
func (b *eventBuffer) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.signal()
}

// next returns the oldest event, a [Gap] first if some were lost, or false when
// the run has ended and all are read.
func (b *eventBuffer) next(ctx context.Context) (Event, bool, error) {
	for {
		b.mu.Lock()
		switch {
		case b.lost > 0:
			e := Event{AgentID: b.events[0].AgentID, RunID: b.events[0].RunID, Payload: Gap{Events: b.lost}}
			b.lost = 0
			b.mu.Unlock()
			return e, true, nil
		case len(b.events) > 0:
			e := b.drop()
			b.mu.Unlock()
			return e, true, nil
		case b.closed:
			b.mu.Unlock()
			return Event{}, false, nil
		}
		changed := b.changed
		b.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return Event{}, false, ctx.Err()
		}
	}
}
