package sessions

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/liaison-bot/liaison/state"
)

// workLine works on a line from its first delivery to its last.
func (d *dispatcher) workLine(name string, w *inHand) {
	for ; w != nil; w = d.lines.next(name) {
		d.workOn(name, w)
	}
}

// workOn weighs a delivery, if that has to be done, and has it decided. It returns
// once that is done, so that the next one of the line comes after it.
func (d *dispatcher) workOn(name string, w *inHand) {
	if w.in.Weigh && !d.weigh(w) {
		return
	}
	if d.stopping() {
		w.settled() // nothing may overtake what was not weighed any more
		return
	}
	d.mark(w.del.Seq, weighed)
	if w.in.Action == ActionStop {
		d.decide(w) // its channel may be asked too, and nothing waits for that
		return
	}
	if len(w.in.KeyPrefixes) > 0 {
		d.lines.hold(name, w.in.KeyPrefixes)
	}
	decided := make(chan struct{})
	settled := w.settled
	w.settled = func() {
		settled()
		close(decided)
	}
	d.decide(w)
	<-decided
}

// overtakes reports whether an intent waits for no other.
func (in Intent) overtakes() bool { return in.Action == ActionStop || in.Urgent }

// weighApart weighs what waits for nobody.
func (d *dispatcher) weighApart(w *inHand) {
	if d.weigh(w) {
		d.decide(w)
	}
}

// stopping reports whether nothing more is begun.
func (d *dispatcher) stopping() bool { return d.e.actors.turns.Err() != nil }

// weigh asks the channel what a delivery is worth. It reports false when the
// delivery was put off, given up or left to the next process.
func (d *dispatcher) weigh(w *inHand) bool {
	if by, known := d.e.dealtWith(w.del, w.in); known {
		d.e.settleDelivery(w.del, state.DeliveryIgnored, "duplicate of "+by)
		w.settled()
		return false
	}
	if w.in.Existing && d.homeless(w) {
		return false
	}
	if !w.in.overtakes() {
		defer d.slowly()()
	}
	if !w.in.Urgent { // for which somebody waits who would be too late otherwise
		select {
		case d.places <- struct{}{}:
		case <-d.e.actors.turns.Done():
			w.settled()
			return false
		}
		defer func() { <-d.places }()
	}
	d.mark(w.del.Seq, weighed)
	in, err := d.e.weigh(w.del, w.in)
	var retry *RetryError
	switch {
	case d.stopping():
		d.e.logger.Info("a delivery is not weighed; it will be at the next start", "delivery", ref(w.del))
	case err == nil:
		w.in = in
		return true
	case errors.As(err, &retry):
		d.e.putOff(w.del, retry)
	default:
		d.e.settleDelivery(w.del, state.DeliveryDead, err.Error())
	}
	w.settled()
	return false
}

// dealtWith reports whether the meaning of a delivery was decided about already,
// and for whom, so that nobody is asked what it is worth. The commit of a decision
// has the last word.
func (e *Engine) dealtWith(del state.StoredDelivery, in Intent) (by string, known bool) {
	if in.Fact == "" || del.Replays > 0 {
		return "", false
	}
	by, known, err := e.store.FactBy(e.actors.ctx, in.Fact)
	return by, known && err == nil
}

// homeless settles a delivery that is only for a session which does not exist:
// nobody need be asked what it is worth.
func (d *dispatcher) homeless(w *inHand) bool {
	_, err := read(d.work, d.e, func(ctx context.Context) (state.Session, error) {
		return d.e.store.SessionByKey(ctx, w.in.Key)
	})
	if !errors.Is(err, state.ErrNotFound) {
		return false // whatever else it is, the decision finds out
	}
	d.e.settleDelivery(w.del, state.DeliveryIgnored, noSuchSession+w.in.Reason)
	w.settled()
	return true
}

// noSuchSession begins the decision about what is for a session that does not exist.
const noSuchSession = "there is no such session: "

// slowly has one delivery weighed after the other, each with a rest behind it,
// while intake is busy: a platform that is out of reach is asked in vain for each
// of them, which can cost more than to take one in. It returns what ends the turn.
func (d *dispatcher) slowly() (done func()) {
	ctx, look := d.e.actors.turns, time.NewTicker(paceTurns)
	defer look.Stop()
	for d.e.pace.busy() && ctx.Err() == nil {
		select {
		case d.slow <- struct{}{}:
			began := d.e.now()
			return func() {
				d.e.pace.rest(ctx, d.e.now().Sub(began))
				<-d.slow
			}
		case <-look.C:
		case <-ctx.Done():
		}
	}
	return func() {}
}

// weigh asks the delivery's channel, at most until the engine stops. An error
// that is no [*RetryError] says why the delivery is given up.
func (e *Engine) weigh(del state.StoredDelivery, in Intent) (Intent, error) {
	c, ok := e.channels[del.Source].(Weigher)
	if !ok {
		return in, fmt.Errorf("cannot be weighed: channel %q cannot say what it is worth", del.Source)
	}
	ctx, cancel := context.WithTimeout(e.actors.turns, weighTimeout)
	defer cancel()
	type verdict struct {
		in  Intent
		err error
	}
	judged := make(chan verdict, 1)
	go func() {
		var v verdict
		v.err = guard("Weigh of channel "+del.Source, e.redact, func() (err error) {
			v.in, err = c.Weigh(ctx, in)
			return err
		})
		judged <- v
	}()
	var v verdict
	select {
	case v = <-judged:
	case <-ctx.Done():
		v.err = ctx.Err()
	}
	var retry *RetryError
	switch {
	case v.err == nil:
		v.in.Weigh = false
		return understood(v.in)
	case errors.As(v.err, &retry):
		return in, v.err
	case errors.Is(v.err, context.DeadlineExceeded):
		return in, &RetryError{Err: fmt.Errorf("no answer within %s: %w", weighTimeout, v.err)}
	}
	e.logPanic("delivery", ref(del), v.err)
	return in, fmt.Errorf("cannot be weighed: %w", v.err)
}

// putOff leaves a delivery pending until it may be weighed again, or gives it up
// after enough tries. Until then others of its key may overtake it: somebody who
// asks meanwhile must not wait for something that may never be known.
func (e *Engine) putOff(del state.StoredDelivery, retry *RetryError) {
	wait := max(retry.After, backoff(weighRetryBase, weighRetryMax, del.Retries+1, e.rand))
	switch {
	case retry.Paused:
		wait = max(retry.After, pausedRetry)
	case retry.Uncounted:
		wait = max(retry.After, outwait(weighRetryBase, pausedRetry, e.now().Sub(del.ReceivedAt), e.rand))
	default:
		del.Retries++
	}
	if del.Retries >= maxWeighings {
		e.settleDelivery(del, state.DeliveryDead, fmt.Sprintf("gave up after %d tries to weigh it: %v", del.Retries, retry.Err))
		return
	}
	u := state.DeliveryUpdate{
		Seq: del.Seq, Status: state.DeliveryPending, Attempts: del.Attempts, Retries: del.Retries,
		NotBefore: e.now().Add(wait), Decision: e.decisionText(del, fmt.Sprintf("put off: %v", retry.Err)),
	}
	if _, err := e.commit(e.actors.ctx, state.Change{Deliveries: []state.DeliveryUpdate{u}}); err != nil {
		e.logger.Error("delivery not put off; it will be weighed again at the next start", "delivery", ref(del), "error", err)
		return
	}
	level := slog.LevelInfo
	if (retry.Paused || retry.Uncounted) && !del.NotBefore.IsZero() {
		level = slog.LevelDebug // an outage is told of once for each delivery that waits for its end
	}
	e.logger.Log(e.actors.ctx, level, "delivery put off", "delivery", ref(del), "event", del.Event,
		"until", u.NotBefore.Format(time.RFC3339), "reason", u.Decision)
}
