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

	mu     sync.Mutex
	events []Event // the unread ones begin at head
	head   int
	bytes  int
	lost   int
	offset string // of the last event that was read and can be resumed after
	closed bool
	wake   chan struct{} // made by a reader that waits
}

func newEventBuffer() *eventBuffer {
	return &eventBuffer{maxEvents: maxBufferedEvents, maxBytes: maxBufferedBytes}
}

func (b *eventBuffer) push(e Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.events) == cap(b.events) && b.head > len(b.events)/2 {
		n := copy(b.events, b.events[b.head:])
		clear(b.events[n:])
		b.events, b.head = b.events[:n], 0
	}
	b.events = append(b.events, e)
	b.bytes += len(e.raw)
	for b.unread() > 1 && (b.unread() > b.maxEvents || b.bytes > b.maxBytes) {
		b.drop()
		b.lost++
	}
	b.signal()
}

func (b *eventBuffer) unread() int { return len(b.events) - b.head }

func (b *eventBuffer) drop() Event {
	e := b.events[b.head]
	b.events[b.head] = Event{} // let its memory go before the slice does
	b.head++
	if b.head == len(b.events) {
		b.events, b.head = b.events[:0], 0
	}
	b.bytes -= len(e.raw)
	return e
}

func (b *eventBuffer) signal() {
	if b.wake != nil {
		close(b.wake)
		b.wake = nil
	}
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
			oldest := b.events[b.head]
			e := Event{AgentID: oldest.AgentID, RunID: oldest.RunID, Payload: Gap{Events: b.lost}}
			b.lost = 0
			b.mu.Unlock()
			return e, true, nil
		case b.unread() > 0:
			e := b.drop()
			if e.replayed && e.Offset != "" {
				b.offset = e.Offset
			}
			b.mu.Unlock()
			return e, true, nil
		case b.closed:
			b.mu.Unlock()
			return Event{}, false, nil
		}
		if b.wake == nil {
			b.wake = make(chan struct{})
		}
		wake := b.wake
		b.mu.Unlock()
		select {
		case <-wake:
		case <-ctx.Done():
			return Event{}, false, ctx.Err()
		}
	}
}

// readUpTo returns where an Observe can go on after what was read.
func (b *eventBuffer) readUpTo() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.offset
}
