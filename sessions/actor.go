package sessions

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/liaison-bot/liaison/state"
)

// actor is the one writer of a session. All of its methods run in its own
// goroutine, one after another; none of them waits for an agent or a surface.
// What it knows is in the store too, except for a running turn's goroutine.
type actor struct {
	e  *Engine
	id string

	// Guarded by actors.mu: what is to be done, the keys that shall name the
	// session, whether the goroutine is alive, and the place among those that rest.
	mail     []func(*actor)
	intended []string
	working  bool
	rests    *list.Element

	// stale asks for a reload before the next decision.
	stale bool
	// sess is the session as stored; its Version is 0 before that.
	sess state.Session
	// queued are the turns that wait, in order.
	queued []*queuedTurn
	// running is the turn whose goroutine is alive, also when the turn itself
	// was ended meanwhile; nothing else starts before it is gone.
	running *runningTurn
	// direct is the direct call that has the session for itself.
	direct *directCall
}

// queuedTurn is a turn that has not started, or shall start again.
type queuedTurn struct{ row state.Turn }

// parked reports whether the turn waits for its timer.
func (q *queuedTurn) parked() bool { return !q.row.NotBefore.IsZero() }

// ready brings the actor's picture up to date with the store, and takes back
// turns that are running there but not here.
func (a *actor) ready() error {
	for range maxConflicts {
		if !a.stale {
			return nil
		}
		if err := a.load(); err != nil {
			return err
		}
		if err := a.reclaim(); err != nil && !errors.Is(err, state.ErrConflict) {
			return fmt.Errorf("take back lost turns of session %s: %w", a.id, err)
		}
	}
	return fmt.Errorf("session %s keeps changing: %w", a.id, state.ErrConflict)
}

func (a *actor) load() error {
	ctx := a.e.actors.ctx
	sess, err := read(ctx, a.e, func(ctx context.Context) (state.Session, error) { return a.e.store.Session(ctx, a.id) })
	if errors.Is(err, state.ErrNotFound) {
		a.sess, a.queued, a.stale = state.Session{ID: a.id}, nil, false
		return nil
	}
	if err != nil {
		return fmt.Errorf("read session %s: %w", a.id, err)
	}
	turns, err := read(ctx, a.e, func(ctx context.Context) ([]state.Turn, error) { return a.e.store.Turns(ctx, a.id) })
	if err != nil {
		return fmt.Errorf("read turns of session %s: %w", a.id, err)
	}
	a.adopt(sess, turns)
	return nil
}

// adopt replaces the actor's picture.
func (a *actor) adopt(sess state.Session, turns []state.Turn) {
	a.sess, a.queued, a.stale = sess, nil, false
	for _, t := range turns {
		if a.running != nil && a.running.row.ID == t.ID {
			a.running.row = t
			continue
		}
		if !t.Status.Ended() {
			a.queued = append(a.queued, &queuedTurn{row: t})
		}
	}
}

// next returns the turn that may start next, or nil: the first of those that
// were asked to run before the others, else the first.
func (a *actor) next() *queuedTurn {
	var first *queuedTurn
	for _, q := range a.queued {
		switch {
		case q.parked():
		case q.row.Preempts:
			return q
		case first == nil:
			first = q
		}
	}
	return first
}

// schedule makes the session stand in line when it has a turn to start, and
// leave the line when it has none.
func (a *actor) schedule() {
	switch {
	case a.e.actors.isStopping():
		return
	case a.running == nil && a.direct == nil && a.next() != nil:
		a.e.turns.add(a.id)
		return
	}
	a.e.turns.remove(a.id)
}

// view is a turn as the channel sees it.
func (a *actor) view(t state.Turn) Turn { return viewIn(a.sess, t) }

func viewIn(s state.Session, t state.Turn) Turn {
	v := Turn{
		ID: t.ID, SessionID: s.ID, Key: s.Key, Attempt: max(t.Attempts, 1),
		Message: t.Message, Request: t.Request, Revision: t.Revision,
		Principal: t.Principal, Gathered: slices.Clone(t.Gathered),
		QueuedAt: t.QueuedAt, Mode: s.Mode, SessionChannel: s.Channel, DryRun: s.DryRun,
		Outputs: maps.Clone(t.Outputs), Surface: maps.Clone(s.Surface),
	}
	if s.Channel == ChannelHTTP {
		v.Key = ""
	}
	return v
}

func (a *actor) surface() map[string]string { return maps.Clone(a.sess.Surface) }
