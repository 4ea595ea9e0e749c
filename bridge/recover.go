package bridge

import (
	"context"
	"errors"
	"time"

	"connectrpc.com/connect"
)

const (
	// A run's record is observed so many times in a row without anything new
	// before the follower only waits for the end: for half a minute if the bridge
	// refuses at once.
	maxObservations  = 8
	firstObserveWait = 250 * time.Millisecond
	maxObserveWait   = 10 * time.Second
	// A run whose end cannot be waited for is looked at so often.
	firstPollWait = time.Second
	maxPollWait   = 15 * time.Second
)

// run follows a run from a stream that starts it, or from its record if open is
// nil, until its result is known, and returns why it is not.
//
// A broken stream does not end a run. Its record is observed in place of the
// stream, again and again; when that does not work, its end is waited for; when
// that does not either, its record is asked how it stands. What each of them
// brings is in f.view.
func (f *follower) run(open opener, begin func(opener) error) error {
	var lost error
	op := "observe run"
	if open != nil {
		op = "send"
		if lost = begin(open); lost == nil || f.runID == "" {
			return lost
		}
		if f.wantsMore {
			f.gap(0) // no record has deltas and steps
		}
	}
	broken := lost
	if stalled(broken) {
		broken = f.watch.stalled(broken)
	}
	end, lost := f.observe(lost)
	switch {
	case lost == nil:
		return nil
	case f.ctx.Err() != nil:
		return context.Cause(f.ctx)
	case broken == nil:
		broken = lost
	}
	if !end.Status.Ended() {
		if errors.Is(lost, ErrStalled) {
			if !errors.Is(lost, ErrUnavailable) { // who answers nothing cancels nothing
				f.giveUp()
			}
			return lost
		}
		var err error
		if end, err = f.outcome(); err != nil {
			if f.ctx.Err() != nil {
				return context.Cause(f.ctx)
			}
			f.giveUp()
			return f.calls.explain(op, broken)
		}
	}
	f.gap(f.replay.missing()) // what the run said at its end is not known
	f.view.adopt(end)
	return nil
}

// observe reads the run's record until it ends (nil), over as many streams as it
// takes. lost is why the last stream ended, nil when there was none. Otherwise it
// returns why it gave up, with the result if the run is known to have ended.
func (f *follower) observe(lost error) (end Result, err error) {
	for tries := 0; ; tries++ {
		if f.ctx.Err() != nil {
			return end, context.Cause(f.ctx)
		}
		if why := lost; stalled(why) {
			if end, lost = f.probe(why); lost != nil {
				return end, lost
			}
			if lost = f.watch.stalled(why); !end.Status.Ended() && errors.Is(why, errEventless) {
				return end, lost // it is alive, but its budget is used up
			}
		}
		if tries == maxObservations || tries > 0 && end.Status.Ended() {
			return end, lost
		}
		if err := f.pause(tries, lost); err != nil {
			return end, err
		}
		if f.after == f.base {
			f.replay.restart()
		}
		lost = f.read(func(ctx context.Context) (frames, error) {
			return f.calls.observe(ctx, f.runID, f.after)
		}, true)
		if lost == nil {
			return end, nil
		}
		if f.fresh {
			tries = 0
		}
		why := f.calls.explain("observe run", lost)
		switch {
		case abandoned(why), hopeless(why) && f.after == f.base:
			return end, why
		case hopeless(why):
			f.after = f.base // an offset that the bridge no longer takes
		}
	}
}

// pause waits before the record is observed once more. The first time it is at
// once; after that it is also found out whether the bridge is still there.
func (f *follower) pause(tries int, lost error) error {
	if tries == 0 {
		return nil
	}
	wait := backoff(firstObserveWait, maxObserveWait, tries-1, f.jitter)
	if !errors.Is(lost, ErrStalled) {
		var e *Error
		if errors.As(f.calls.failure(f.ctx, "observe run", lost), &e) && e.RetryAfter > wait {
			wait = min(e.RetryAfter, maxObserveWait)
		}
	}
	return sleep(f.ctx, wait)
}

// sleep returns early with why ctx has ended.
func sleep(ctx context.Context, wait time.Duration) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// abandoned reports whether the bridge has said all of a run's record and that it
// does not run it any more.
func abandoned(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.answered && e.Code == connect.CodeFailedPrecondition.String()
}

// hopeless reports whether the same call would be refused again.
func hopeless(err error) bool {
	for _, kind := range []error{ErrInvalid, ErrNotFound, ErrFeatureUnavailable, ErrUnauthenticated, ErrForbidden} {
		if errors.Is(err, kind) {
			var e *Error
			return errors.As(err, &e) && e.answered
		}
	}
	return false
}

// probe finds out what a stream that stalled is a sign of. The result says how
// the run stands, if the bridge is alive and knows.
func (f *follower) probe(why error) (Result, error) {
	if err := f.calls.ping(f.ctx); err != nil {
		if f.ctx.Err() != nil {
			return Result{}, context.Cause(f.ctx)
		}
		f.calls.condemn(err)
		if f.ctx.Err() != nil {
			return Result{}, context.Cause(f.ctx)
		}
		e := f.watch.stalled(why)
		e.SDKCode = sdkUnresponsive
		e.Message += ", and the bridge does not answer"
		return Result{}, e
	}
	result, err := f.calls.getRun(f.ctx, f.agentID, f.runID)
	if err != nil {
		if f.ctx.Err() != nil {
			return Result{}, context.Cause(f.ctx)
		}
		return Result{}, f.watch.stalled(why)
	}
	if result.Status.Ended() {
		f.watch.forgive() // what it said last is still to be read
	}
	return result, nil
}

// outcome waits for the end of a run whose record cannot be observed, at most as
// long as a run may bring no event.
func (f *follower) outcome() (Result, error) {
	ctx, cancel := context.WithTimeout(f.ctx, f.watch.eventless)
	defer cancel()
	for step := 0; ; step++ {
		result, waitErr := f.calls.waitRun(ctx, f.runID)
		if waitErr == nil && result.Status.Ended() {
			return result, nil
		}
		result, err := f.calls.getRun(ctx, f.agentID, f.runID)
		switch {
		case err == nil && result.Status.Ended():
			return result, nil
		case err != nil && hopeless(err):
			return Result{}, err
		case hopeless(waitErr) && !isCloudID(f.agentID):
			// Nobody works at it: a run that a dead bridge has left behind.
			return Result{}, refuse("get run", connect.CodeFailedPrecondition, "", "run %s has not ended, and the bridge does not run it", f.runID)
		}
		if err := sleep(ctx, backoff(firstPollWait, maxPollWait, step, f.jitter)); err != nil {
			return Result{}, err
		}
	}
}

// giveUp cancels a run that nobody follows any more.
func (f *follower) giveUp() {
	_ = f.calls.cancelRun(f.ctx, f.agentID, f.runID) // best effort: its end is not known either way
}
