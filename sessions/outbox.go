package sessions

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/liaison-bot/liaison/state"
)

// outbox performs what is owed to the world. The store hands out one item of a
// session at a time, so that order holds and a stuck session delays no other.
type outbox struct {
	e    *Engine
	idle chan struct{}

	claimed time.Time // when something was last claimed

	mu   sync.Mutex
	busy int
	// uncounted holds, by item, the attempts that say nothing about the item,
	// because the surface refused us altogether or was out of reach. They do not
	// count towards giving up.
	uncounted map[string]int
	wg        sync.WaitGroup
}

func newOutbox(e *Engine) *outbox {
	return &outbox{e: e, idle: make(chan struct{}, 1), uncounted: make(map[string]int)}
}

func (o *outbox) underWay() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.busy
}

// run delivers until intake ends. What is under way then may go on for
// stopEffects, and is settled or left to the next process.
func (o *outbox) run(intake, work context.Context) {
	attempts, cut := context.WithCancelCause(work)
	defer cut(errStopped)
	for o.round(intake, work, attempts) {
	}
	timer := time.AfterFunc(stopEffects, func() { cut(errStopped) })
	defer timer.Stop()
	o.wg.Wait()
}

// round claims what is due and waits for more. It reports false when it is time to go.
func (o *outbox) round(intake, work, attempts context.Context) bool {
	o.giveWay(intake)
	free := maxDelivering - o.underWay()
	if free > 0 && intake.Err() == nil {
		items, err := read(work, o.e, func(ctx context.Context) ([]state.OutboxItem, error) {
			return o.e.store.ClaimOutbox(ctx, o.asOf(ctx), free)
		})
		if err != nil {
			o.e.abort(fmt.Errorf("claim what is owed: %w", err))
			return false
		}
		for _, item := range items {
			o.mu.Lock()
			o.busy++
			o.mu.Unlock()
			o.wg.Go(func() { o.perform(work, attempts, item) })
		}
		if len(items) == free {
			return intake.Err() == nil // there may be more, and perhaps room
		}
	}
	var due <-chan time.Time
	if next, ok, err := o.e.store.NextOutbox(work); free > 0 && err == nil && ok {
		timer := time.NewTimer(max(next.Sub(o.e.now()), time.Millisecond))
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-intake.Done():
		return false
	case <-o.e.store.OutboxAdded():
	case <-o.idle:
	case <-due:
	}
	return true
}

// asOf is the time as of which items are due. An item that waits longer than any is
// put off by was put off by a clock that has been set back since; it is due now.
func (o *outbox) asOf(ctx context.Context) time.Time {
	now := o.e.now()
	next, ok, err := o.e.store.NextOutbox(ctx)
	if err != nil || !ok || next.Sub(now) <= maxEffectWait {
		return now
	}
	o.e.logger.Warn("the clock was set back: what is owed to the world is tried now instead of then", "then", next)
	return next
}

// giveWay keeps claims apart while intake is busy.
func (o *outbox) giveWay(intake context.Context) {
	wait := min(paceTurns-o.e.now().Sub(o.claimed), paceTurns)
	if wait > 0 && o.e.pace.busy() {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-intake.Done():
		case <-timer.C:
		}
	}
	o.claimed = o.e.now()
}

// perform makes one attempt and settles it.
func (o *outbox) perform(work, attempts context.Context, item state.OutboxItem) {
	defer func() {
		o.mu.Lock()
		o.busy--
		o.mu.Unlock()
		select {
		case o.idle <- struct{}{}:
		default:
		}
	}()
	sess, err := read(work, o.e, func(ctx context.Context) (state.Session, error) {
		return o.e.store.Session(ctx, item.SessionID)
	})
	if err != nil && !errors.Is(err, state.ErrNotFound) {
		o.e.logger.Error("effect not attempted; it will be at the next start", "effect", item.ID, "error", err)
		return
	}
	o.noteRestart(item)
	if item.Kind == KindApprovalCard {
		o.performCard(work, attempts, item, sess)
		return
	}
	began := o.e.now()
	receipt, err := o.attempt(attempts, item, sess, nil)
	s := o.judge(attempts, item, receipt, err)
	o.e.metrics.EffectSettled(item.Channel, string(s.Result), max(o.e.now().Sub(began), 0))
	o.settle(work, item, sess, receipt, s, err)
}

// noteRestart forgives the attempts of an earlier process: how many of them
// count is not on record.
func (o *outbox) noteRestart(item state.OutboxItem) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, known := o.uncounted[item.ID]; !known {
		o.uncounted[item.ID] = item.Attempts - 1
	}
}

// attempt asks the channel to perform the effect, which is a drawing or nil.
func (o *outbox) attempt(ctx context.Context, item state.OutboxItem, sess state.Session, d *drawing) (receipt Receipt, err error) {
	c, ok := o.e.channels[item.Channel]
	if !ok {
		return receipt, fmt.Errorf("channel %q is not configured", item.Channel)
	}
	ctx, cancel := context.WithTimeout(ctx, deliverTimeout)
	defer cancel()
	owed := Item{
		ID: item.ID, SessionID: item.SessionID, TurnID: item.TurnID, Key: sess.Key,
		Kind: item.Kind, Payload: item.Payload, Attempts: item.Attempts, Surface: maps.Clone(sess.Surface),
	}
	if d != nil {
		owed.Approval, owed.Card = &d.view, &d.card
	}
	err = guard("Deliver of channel "+item.Channel, o.e.redact, func() (err error) {
		receipt, err = c.Deliver(ctx, owed)
		return err
	})
	o.e.logPanic("effect", item.ID, err)
	return receipt, err
}

// judge decides what follows from an attempt.
func (o *outbox) judge(attempts context.Context, item state.OutboxItem, r Receipt, err error) state.OutboxSettlement {
	s := state.OutboxSettlement{ID: item.ID}
	note := func(text string) string { return clip(o.e.redact(text), maxReasonText) }
	var retry *RetryError
	switch {
	case err == nil:
		s.Result, s.Note = state.OutboxDone, note(r.Note)
	case attempts.Err() != nil:
		s.Result, s.RetryAt, s.Note = state.OutboxRetry, o.e.now(), "cut short: the service stopped"
	case errors.Is(err, context.DeadlineExceeded) && !errors.As(err, &retry):
		// The call hung. Whether it took effect is for the next attempt to find out.
		retry = &RetryError{Err: fmt.Errorf("no answer within %s: %w", deliverTimeout, err)}
		fallthrough
	case errors.As(err, &retry):
		uncounted := retry.Paused || retry.Uncounted
		failures := o.failures(item, uncounted)
		wait := max(retry.After, backoff(effectRetryBase, effectRetryMax, failures, o.e.rand))
		switch {
		case retry.Paused:
			wait = max(retry.After, pausedRetry)
		case uncounted:
			wait = max(retry.After, outwait(effectRetryBase, pausedRetry, o.e.now().Sub(item.CreatedAt), o.e.rand))
		case failures >= maxFailures(item):
			s.Result, s.Note = state.OutboxDead, note(fmt.Sprintf("gave up after %d tries: %v", failures, retry.Err))
			return s
		}
		s.Result, s.RetryAt, s.Note = state.OutboxRetry, o.e.now().Add(wait), note(retry.Error())
	default:
		s.Result, s.Note = state.OutboxDead, note(err.Error())
	}
	return s
}

// maxFailures is how often an item may fail before it is given up.
func maxFailures(item state.OutboxItem) int {
	if item.Kind == KindApprovalCard {
		return maxCardFailures
	}
	return maxEffectFailures
}

// failures returns how many attempts at an item count as failed, of which the
// last may not.
func (o *outbox) failures(item state.OutboxItem, uncounted bool) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	if uncounted {
		o.uncounted[item.ID]++
	}
	return item.Attempts - o.uncounted[item.ID]
}

// paused returns the reason if the surface refuses us altogether.
func paused(err error) string {
	var retry *RetryError
	if errors.As(err, &retry) && retry.Paused {
		return retry.Err.Error()
	}
	return ""
}

// outwaited reports whether an attempt failed for a reason that is not its own.
func outwaited(err error) bool {
	var retry *RetryError
	return errors.As(err, &retry) && retry.Uncounted
}

// settle commits the end of an attempt. What changes the session with it goes
// through the session's actor, its only writer.
func (o *outbox) settle(ctx context.Context, item state.OutboxItem, sess state.Session, r Receipt, s state.OutboxSettlement, cause error) {
	pause := paused(cause)
	o.forget(s)
	var err error
	answered := s.Result == state.OutboxDone
	if sess.Version > 0 && (len(r.Remember) > 0 && answered || pause != "" || answered && sess.Paused != "") {
		done := make(chan error, 1)
		o.e.actors.post(sess.ID, func(a *actor) {
			err := errors.New("the session's actor panicked")
			defer func() { done <- err }()
			err = a.settleEffect(s, r.Remember, pause)
		})
		err = <-done
	} else {
		_, err = o.e.commit(ctx, state.Change{Settle: []state.OutboxSettlement{s}})
	}
	o.noteSettled(item, s, err, cause)
}

// forget lets go of what is known of the attempts at an item that is settled.
func (o *outbox) forget(s state.OutboxSettlement) {
	if s.Result == state.OutboxRetry {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.uncounted, s.ID)
}

// noteSettled logs the end of an attempt; err says why it is not stored, and cause
// why it failed.
func (o *outbox) noteSettled(item state.OutboxItem, s state.OutboxSettlement, err, cause error) {
	pause := paused(cause)
	log := o.e.logger.With("effect", item.ID, "session", item.SessionID, "note", s.Note)
	switch {
	case err != nil:
		log.Error("effect not settled; the next start will look whether it happened", "error", err)
	case s.Result == state.OutboxDead:
		log.Error("effect given up")
	case s.Result == state.OutboxRetry && outwaited(cause) && item.Attempts > 1:
		log.Debug("effect waits on", "at", s.RetryAt) // that it waits was said at its first attempt
	case s.Result == state.OutboxRetry && pause == "":
		log.Warn("effect will be tried again", "at", s.RetryAt)
	case s.Result == state.OutboxDone:
		log.Info("effect delivered")
	}
}

// settleEffect commits the end of an attempt together with what the channel
// wants to remember.
func (a *actor) settleEffect(s state.OutboxSettlement, remember map[string]string, pause string) error {
	return a.decide(func(d *draft) error {
		d.change.Settle = []state.OutboxSettlement{s}
		if s.Result == state.OutboxDone && len(remember) > 0 {
			d.remember(remember)
		}
		if pause != "" {
			d.pause(pause)
		} else {
			d.unpause()
		}
		return nil
	})
}
