package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

const (
	// maxUnsent is how many messages of a run may wait for the caller's store
	// before the run waits for it too.
	maxUnsent = 256
	// sealTimeout is how long the end of a run waits for the caller's store to
	// take what the run said.
	sealTimeout = 15 * time.Second
)

// errSpoolDamaged is why the store cannot be given a message that was recorded.
var errSpoolDamaged = errors.New("the spool is damaged")

// forwardedLog is the record of a live run whose keeper is the caller's store.
// Messages go to a spool file, which the run's streams read, and from there one
// by one, in order, to the store. The spool is gone when the run is over.
type forwardedLog struct {
	*eventLog

	send    func(ctx context.Context, e entry) error
	failed  func(error)
	unsent  int           // most messages that may wait
	timeout time.Duration // of seal
	cancel  context.CancelFunc
	done    chan struct{} // closed when the forwarding has ended

	mu     sync.Mutex
	sent   int           // messages that the store has taken
	lost   error         // why it takes no more
	moved  chan struct{} // closed and replaced when sent or lost changes
	called bool          // failed was
}

// forwardLog begins to send what spool gets.
func forwardLog(spool *eventLog, send func(context.Context, entry) error, failed func(error)) *forwardedLog {
	ctx, cancel := context.WithCancel(context.Background())
	l := &forwardedLog{
		eventLog: spool, send: send, failed: failed, unsent: maxUnsent, timeout: sealTimeout,
		cancel: cancel, done: make(chan struct{}), moved: make(chan struct{}),
	}
	go l.forward(ctx)
	return l
}

// append waits while too many messages are on their way.
func (l *forwardedLog) append(ctx context.Context, at time.Time, kind string, message map[string]any) error {
	for ctx.Err() == nil {
		sent, moved, lost := l.progress()
		if lost != nil || l.written()-sent < l.unsent {
			break
		}
		select {
		case <-moved:
		case <-ctx.Done():
		}
	}
	return l.eventLog.append(ctx, at, kind, message)
}

// progress says how many messages the store has taken, and why it takes no more
// if it does not. The channel is closed when either changes.
func (l *forwardedLog) progress() (sent int, moved <-chan struct{}, lost error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sent, l.moved, l.lost
}

// advance notes that one more message was taken, or why it was not.
func (l *forwardedLog) advance(err error) {
	l.mu.Lock()
	if err == nil {
		l.sent++
	}
	l.lost = err
	close(l.moved)
	l.moved = make(chan struct{})
	tell := err != nil && !l.called
	l.called = l.called || tell
	l.mu.Unlock()
	if tell {
		l.failed(err)
	}
}

// forward sends the spool's messages until it is sealed and all are taken. When
// the store does not take one, it is offered once more at the end of the run.
func (l *forwardedLog) forward(ctx context.Context) {
	defer close(l.done)
	reader, err := l.reader()
	if err != nil {
		l.advance(err)
		return
	}
	defer func() { _ = reader.close() }() // opened for reading only
	for {
		size, sealed, changed := l.state()
		err := reader.upTo(size, func(e entry) error {
			err := l.send(ctx, e)
			if err == nil {
				l.advance(nil)
			}
			return err
		})
		if err == nil && reader.bad > 0 {
			err = errSpoolDamaged
		}
		if err != nil {
			l.advance(err)
		}
		if sealed {
			return
		}
		for waiting := true; waiting; {
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
			_, sealed, changed = l.state()
			waiting = err != nil && !sealed
		}
	}
}

// seal waits until the store has everything.
func (l *forwardedLog) seal() error {
	err := l.eventLog.seal()
	timer := time.NewTimer(l.timeout)
	defer timer.Stop()
	select {
	case <-l.done:
	case <-timer.C:
		l.cancel()
		<-l.done
	}
	l.cancel()
	if sent, _, lost := l.progress(); lost != nil || sent < l.written() {
		err = errors.Join(err, fmt.Errorf("the store took %d of the %d messages of a run: %w", sent, l.written(), lost))
	}
	// Streams that have it open read on where the system lets them; elsewhere it
	// is removed at the next start.
	_ = os.Remove(l.path)
	return err
}
