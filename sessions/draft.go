package sessions

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/liaison-bot/liaison/internal/failpoint"
	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/tools"
)

// draft gathers what one decision of an actor changes, on copies. Nothing of it
// is seen before commit, and commit shows all of it or nothing.
type draft struct {
	a      *actor
	change state.Change
	sess   *state.Session
	turns  []*state.Turn
	held   []*held
	// result is what a tool answered that an approval is about, for whoever waits.
	result *tools.Result
	// after is done once the draft is stored, in order, and points are the names of
	// its steps, for tests that end the process at one.
	after  []func()
	points []string
	// unclaimed is set when the delivery's meaning is still open.
	unclaimed bool
	// atOnce is set when somebody waits who rather hears that nothing can be
	// stored than waits for it.
	atOnce bool
}

func (a *actor) draft() *draft { return &draft{a: a} }

// session returns the session's row to be changed.
func (d *draft) session() *state.Session {
	if d.sess == nil {
		row := d.a.sess
		row.Surface = maps.Clone(row.Surface)
		row.UpdatedAt = d.a.e.now()
		d.sess = &row
	}
	return d.sess
}

// turn returns a row to be changed, begun from t.
func (d *draft) turn(t state.Turn) *state.Turn {
	row := &t
	d.turns = append(d.turns, row)
	return row
}

// event records something that this decision decided.
func (d *draft) event(typ, turnID string, data any) {
	d.change.Lifecycle = append(d.change.Lifecycle, state.LifecycleEvent{
		Event:   newEvent(typ, d.a.id, turnID, d.a.e.now(), data),
		Ordinal: len(d.change.Lifecycle),
	})
}

// owe adds what the turn's channel wants the world to be told.
func (d *draft) owe(t state.Turn, r Report) error {
	sess := d.a.sess
	if d.sess != nil {
		sess = *d.sess // which may be new
	}
	effects, err := d.a.effects(viewIn(sess, t), cmp.Or(t.Channel, sess.Channel), r)
	if err != nil {
		return err
	}
	channel := cmp.Or(t.Channel, sess.Channel)
	for _, f := range effects {
		d.change.Outbox = append(d.change.Outbox, d.a.e.owedItem(t.ID+"/"+f.Name, channel, d.a.id, t.ID, f))
	}
	return nil
}

// effects asks a turn's channel, which may be broken.
func (a *actor) effects(t Turn, channel string, r Report) (effects []Effect, err error) {
	c, ok := a.e.channels[channel]
	if !ok {
		return nil, fmt.Errorf("channel %q is not configured", channel)
	}
	r.Text, r.Reason = a.e.redact(r.Text), clip(a.e.redact(r.Reason), maxReasonText)
	err = guard("Effects of channel "+channel, a.e.redact, func() (err error) {
		effects, err = c.Effects(t, r)
		return err
	})
	for _, f := range effects {
		if err == nil && (f.Name == "" || len(f.Payload) > 0 && !json.Valid(f.Payload)) {
			err = fmt.Errorf("channel %s made an effect that cannot be stored: %q", channel, f.Name)
		}
	}
	return effects, err
}

// commit applies the draft and, once it holds, makes it the actor's picture and
// records its events.
func (d *draft) commit() error {
	a := d.a
	if d.sess != nil {
		d.change.Sessions = append(d.change.Sessions, *d.sess)
	}
	for _, t := range d.turns {
		d.change.Turns = append(d.change.Turns, *t)
	}
	if err := d.holdings(); err != nil {
		return err
	}
	for _, point := range d.points {
		failpoint.At(point + ".storing")
	}
	commit := a.e.commit
	if d.atOnce {
		commit = a.e.store.Commit
	}
	id, err := commit(a.e.actors.ctx, d.change)
	if err != nil {
		// What was stored is uncertain, for example after a conflict.
		a.stale = true
		return err
	}
	for _, point := range d.points {
		failpoint.At(point + ".stored")
	}
	if len(d.change.Timers) > 0 {
		a.e.nudgeTimers()
	}
	if d.sess != nil {
		a.noticePause(d.sess.Paused)
		a.sess = *d.sess
		a.sess.Version++
	}
	over := false
	for _, t := range d.turns {
		t.Version++
		if a.place(*t) {
			a.noteTurn(*t)
			over = over || t.Status.Ended()
		}
	}
	a.silence()
	a.e.records.decided(a.id, id, d.change.Lifecycle, !d.leavesOpen())
	for _, f := range d.after {
		f()
	}
	if over {
		a.e.actors.post(a.id, (*actor).tellAll)
	}
	return nil
}

// leavesOpen reports whether the session has a turn to go on with after this.
func (d *draft) leavesOpen() bool {
	a := d.a
	return len(a.queued) > 0 || a.running != nil && !a.running.row.Status.Ended() ||
		slices.ContainsFunc(d.turns, func(t *state.Turn) bool { return !t.Status.Ended() })
}

// place puts a turn's new row where the actor keeps it. It reports whether the
// turn has come to another state.
func (a *actor) place(t state.Turn) bool {
	if a.running != nil && a.running.row.ID == t.ID {
		moved := a.running.row.Status != t.Status
		a.running.row = t
		return moved
	}
	i := slices.IndexFunc(a.queued, func(q *queuedTurn) bool { return q.row.ID == t.ID })
	switch {
	case i < 0 && t.Status == state.TurnQueued:
		a.queued = append(a.queued, &queuedTurn{row: t})
	case i < 0:
	case t.Status == state.TurnQueued:
		moved := a.queued[i].row.Status != t.Status
		a.queued[i].row = t
		return moved
	default:
		a.queued = slices.Delete(a.queued, i, i+1)
	}
	return true
}

// noteTurn logs a step in the life of a turn. That it was queued for the first
// time stands with its delivery.
func (a *actor) noteTurn(t state.Turn) {
	if t.Status.Ended() {
		began, ran := t.StartedAt, time.Duration(0)
		if began.IsZero() {
			began = t.EndedAt
		} else {
			ran = t.EndedAt.Sub(began)
		}
		a.e.metrics.TurnEnded(a.channelOf(t), string(t.Status), max(began.Sub(t.QueuedAt), 0), max(ran, 0))
	}
	log := a.e.logger.With("session", a.id, "turn", t.ID)
	if t.Reason != "" {
		log = log.With("reason", t.Reason)
	}
	switch {
	case t.Status == state.TurnFailed:
		log.Warn("turn failed")
	case t.Status != state.TurnQueued:
		log.Info("turn " + string(t.Status))
	case t.Attempts > 0:
		log.Info("turn queued again")
	}
}

// decide takes a decision, anew if a row changed meanwhile. build works on the
// actor's current picture and says nothing else.
func (a *actor) decide(build func(*draft) error) error { return a.decideWith(build, false) }

// decideAtOnce is decide for somebody who waits: a store that cannot take
// anything now is not waited for.
func (a *actor) decideAtOnce(build func(*draft) error) error { return a.decideWith(build, true) }

func (a *actor) decideWith(build func(*draft) error, atOnce bool) error {
	for range maxConflicts {
		if err := a.ready(); err != nil {
			return err
		}
		d := a.draft()
		d.atOnce = atOnce
		if err := build(d); err != nil {
			return err
		}
		err := d.commit()
		if !errors.Is(err, state.ErrConflict) {
			return err
		}
	}
	return fmt.Errorf("gave up after %d tries: %w", maxConflicts, state.ErrConflict)
}

// newEvent makes an event of our own types, which always marshal.
func newEvent(typ, sessionID, turnID string, at time.Time, data any) state.Event {
	raw, err := json.Marshal(data)
	if err != nil {
		raw = json.RawMessage(`{}`)
	}
	return state.Event{Type: typ, SessionID: sessionID, TurnID: turnID, At: at, Data: raw}
}
