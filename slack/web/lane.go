package web

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// Priority says who goes first in the line of a channel.
type Priority int

// The priorities, the last first.
const (
	// Live is what is shown of a turn while it goes on. It is dropped with
	// [ErrLate] rather than shown late.
	Live Priority = iota
	// Status is what says how things are: reactions, statuses, titles.
	Status
	// Answer is what somebody waits for.
	Answer
)

// channelKey names the line of a channel.
type channelKey struct{ team, channel string }

// write is how something stands in line.
type write struct {
	priority Priority
	// spends is set for messages and their edits, which Slack counts; reactions and
	// statuses only keep the order.
	spends bool
	// about names the message that a write of Live edits: a newer one takes the
	// place of those that wait.
	about string
}

// lanes let one write of a channel go at a time, the most important first, at the
// pace that Slack likes. Nothing runs when nobody writes.
type lanes struct {
	now func() time.Time

	mu    sync.Mutex
	lanes map[channelKey]*lane
}

// lane is the way out into one channel, guarded by the lock of all.
type lane struct {
	busy bool
	line []*ticket // in the order of arrival
	// tokens is how many messages may go at once, as of at.
	tokens float64
	at     time.Time
	// changed is closed when it is worth looking again.
	changed chan struct{}
}

type ticket struct {
	write
	replaced bool
}

func newLanes(now func() time.Time) *lanes {
	return &lanes{now: now, lanes: map[channelKey]*lane{}}
}

// enter waits for the turn of a write, and returns what ends it. The error is
// [ErrLate], one of class [ErrLimited] where the line is too long, or of class
// [ErrUnsent] where ctx ended.
func (s *lanes) enter(ctx context.Context, key channelKey, w write) (leave func(), err error) {
	l, t := s.join(key, w)
	if t == nil {
		return nil, crowded(maxPaceWait)
	}
	patience := maxPaceWait
	if w.priority == Live {
		patience = lateAfter
	}
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for {
		what, soon, changed := s.take(l, t)
		switch what {
		case taken:
			return func() { s.leave(l) }, nil
		case replaced:
			return nil, ErrLate
		}
		if err := attend(ctx, changed, soon, deadline.C); err != nil {
			s.abandon(l, t)
			if errors.Is(err, errImpatient) {
				if w.priority == Live {
					return nil, ErrLate
				}
				return nil, crowded(minWait)
			}
			return nil, err
		}
	}
}

// errImpatient says that a write waited for its turn for as long as it may.
var errImpatient = errors.New("waited for too long")

// attend waits until there is a reason to look again.
func attend(ctx context.Context, changed <-chan struct{}, soon time.Duration, deadline <-chan time.Time) error {
	var token <-chan time.Time
	if soon > 0 {
		timer := time.NewTimer(soon)
		defer timer.Stop()
		token = timer.C
	}
	select {
	case <-changed:
	case <-token:
	case <-ctx.Done():
		return &Error{Class: ErrUnsent, Method: methodLine, Err: ctx.Err()}
	case <-deadline:
		return errImpatient
	}
	return nil
}

// methodLine stands for a method in the errors of a write that was not made.
const methodLine = "wait for a turn to write"

// crowded is the error of a line that is too long.
func crowded(after time.Duration) error {
	return &Error{Class: ErrLimited, Method: methodLine, After: after, Err: errors.New(
		"there is more to write into this channel than Slack takes at once")}
}

// join takes a place in the line, or none where it is full.
func (s *lanes) join(key channelKey, w write) (*lane, *ticket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lanes[key]
	if l == nil {
		s.forget()
		l = &lane{tokens: burst, at: s.now(), changed: make(chan struct{})}
		s.lanes[key] = l
	}
	if w.priority == Live && w.about != "" {
		before := len(l.line)
		l.line = slices.DeleteFunc(l.line, func(other *ticket) bool {
			other.replaced = other.priority == Live && other.about == w.about
			return other.replaced
		})
		if len(l.line) < before {
			l.tell()
		}
	}
	if len(l.line) >= maxLine {
		return l, nil
	}
	t := &ticket{write: w}
	l.line = append(l.line, t)
	return l, t
}

// forget drops the lanes that are as good as new, once there are many.
func (s *lanes) forget() {
	if len(s.lanes) < maxLanes {
		return
	}
	now := s.now()
	for key, l := range s.lanes {
		l.refill(now)
		if !l.busy && len(l.line) == 0 && l.tokens >= burst {
			delete(s.lanes, key)
		}
	}
}

// turn is what a look at the line came to.
type turn int

const (
	waiting turn = iota
	taken
	replaced
)

// take gives the lane to a ticket if it is its turn. Otherwise soon is when there
// may be room for it, if that is known, and changed tells of other reasons to look.
func (s *lanes) take(l *lane, t *ticket) (what turn, soon time.Duration, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.refill(s.now())
	switch {
	case t.replaced:
		return replaced, 0, nil
	case l.busy:
	case t.spends && l.tokens < 1:
		soon = time.Duration((1 - l.tokens) / perSecond * float64(time.Second))
		soon = max(soon, time.Millisecond)
	case l.first() == t:
		l.busy = true
		if t.spends {
			l.tokens--
		}
		l.remove(t)
		return taken, 0, nil
	}
	return waiting, soon, l.changed
}

// first is who goes next of those for whom there is room.
func (l *lane) first() *ticket {
	var best *ticket
	for _, t := range l.line {
		if t.spends && l.tokens < 1 {
			continue
		}
		if best == nil || t.priority > best.priority {
			best = t
		}
	}
	return best
}

func (l *lane) refill(now time.Time) {
	passed := max(now.Sub(l.at), 0) // a clock that is set back costs a wait, not the pace
	l.tokens = min(l.tokens+passed.Seconds()*perSecond, burst)
	l.at = now
}

func (l *lane) remove(t *ticket) {
	l.line = slices.DeleteFunc(l.line, func(other *ticket) bool { return other == t })
}

func (l *lane) tell() {
	close(l.changed)
	l.changed = make(chan struct{})
}

func (s *lanes) leave(l *lane) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.busy = false
	l.tell()
}

func (s *lanes) abandon(l *lane, t *ticket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.remove(t)
	l.tell()
}
