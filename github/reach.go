package github

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

const (
	// unreachedFor is how long GitHub is taken to be out of reach after no
	// connection came about; it doubles up to maxUnreached while that goes on.
	unreachedFor = time.Second
	maxUnreached = 4 * time.Second
)

// reach remembers that no connection to GitHub came about, so that those who
// would try within the same moment are told so at once: each would make and sign
// a token's request first, which costs more than to take in a delivery.
type reach struct {
	now func() time.Time
	log *slog.Logger

	mu sync.Mutex
	// err is why the last try failed, until when that holds, and wait how long it
	// was to hold. It is nil while GitHub is in reach.
	err   error
	until time.Time
	wait  time.Duration
}

// check returns why GitHub cannot be reached now. Once it may be worth a try
// again, one caller is let through, and its luck decides for the others.
func (r *reach) check() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		return nil
	}
	now := r.now()
	if !now.Before(r.until) {
		r.wait = min(2*r.wait, maxUnreached)
		r.until = now.Add(r.wait)
		return nil
	}
	return fmt.Errorf("not tried, since GitHub could not be reached a moment ago: %w", r.err)
}

// note records how a try ended: nil means that GitHub answered.
func (r *reach) note(err error) {
	if err != nil && (!unreachable(err) || errors.Is(err, context.Canceled)) {
		return // it was cut off, which says nothing of the next
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err == nil && r.err == nil:
		return
	case err == nil:
		r.err = nil
		r.log.Info("GitHub is in reach again")
		return
	case r.err == nil:
		r.wait = unreachedFor
		r.log.Warn("GitHub cannot be reached; it is tried again all the time", "reason", err)
	}
	r.err, r.until = err, r.now().Add(r.wait)
}

// refused returns why a call for an installation need not be made: GitHub would
// refuse it, or could not be reached.
func (a *app) refused(installation int64) error {
	if err := a.circuit.check(installation); err != nil {
		return err
	}
	return a.wire.reach.check()
}
