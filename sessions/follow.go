package sessions

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"time"

	"github.com/liaison-bot/liaison/state"
)

// MaxQuiet bounds how long [Intent.Quiet] can put a turn off, however much is said.
const MaxQuiet = 10 * time.Minute

// Follower is implemented by channels that show a turn while it goes on.
type Follower interface {
	// Follow shows the progress of one attempt at a turn. It begins before the
	// evidence is prepared and is called in a goroutine of its own. ctx ends with
	// the attempt, however that ended, and when the service stops; what Follow
	// clears up then may take [FollowGrace] and needs a context of its own. Nothing
	// that it fails at concerns the turn.
	Follow(ctx context.Context, p Progress)
}

// FollowGrace is how long a follower may take once its turn is over.
const FollowGrace = 5 * time.Second

// Progress is what a follower learns of an attempt.
type Progress struct {
	Turn Turn
	// Events yields what is recorded in the session from the start of this attempt
	// on, as it comes, until ctx of Follow ends.
	Events iter.Seq2[state.Event, error]
	// Remember adds to what the channel remembers of the session, as
	// [Receipt.Remember] does, and returns once that is durable.
	Remember func(ctx context.Context, values map[string]string) error
}

// show has a channel show an attempt at a turn, if it can.
func (a *actor) show(ctx context.Context, channel string, t Turn) {
	f, ok := a.e.channels[channel].(Follower)
	if !ok {
		return
	}
	from, err := a.e.LastIndex(ctx, a.id)
	if err != nil {
		a.e.logger.Warn("a turn is not shown while it goes on", "session", a.id, "turn", t.ID, "error", err)
		return
	}
	p := Progress{
		Turn:   t,
		Events: a.e.Events(ctx, a.id, from+1, true),
		Remember: func(ctx context.Context, values map[string]string) error {
			return a.e.remember(ctx, t.SessionID, values)
		},
	}
	a.e.actors.run(func() { a.e.runFollower(ctx, f, channel, p) })
}

// runFollower returns when the follower does, or some time after the attempt ended.
func (e *Engine) runFollower(ctx context.Context, f Follower, channel string, p Progress) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		err := guard("Follow of channel "+channel, e.redact, func() error {
			f.Follow(ctx, p)
			return nil
		})
		e.logPanic("turn", p.Turn.ID, err)
	}()
	select {
	case <-done:
		return
	case <-ctx.Done():
	}
	grace := time.NewTimer(FollowGrace)
	defer grace.Stop()
	select {
	case <-done:
	case <-grace.C:
		e.logger.Warn("what was shown of a turn is not cleared up in time", "session", p.Turn.SessionID, "turn", p.Turn.ID)
	}
}

// remember adds to what the session's channel remembers of it.
func (e *Engine) remember(ctx context.Context, sessionID string, values map[string]string) error {
	_, err := ask(ctx, e, sessionID, func(a *actor) (struct{}, error) {
		return struct{}{}, a.decide(func(d *draft) error {
			if a.sess.Version == 0 {
				return state.ErrNotFound
			}
			d.remember(values)
			return nil
		})
	})
	if err != nil {
		return fmt.Errorf("remember of session %s: %w", sessionID, err)
	}
	return nil
}

// remember drafts additions to the session's surface; an empty value removes its key.
func (d *draft) remember(values map[string]string) {
	row := d.session()
	if row.Surface == nil {
		row.Surface = make(map[string]string, len(values))
	}
	maps.Copy(row.Surface, values)
	maps.DeleteFunc(row.Surface, func(_, v string) bool { return v == "" })
}
