package github

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/liaison-bot/liaison/state"
)

// SweepOptions is what a [Sweeper] needs of the rest of the process.
type SweepOptions struct {
	// Inbox takes what is recovered, as it takes webhooks.
	Inbox state.Inbox
	// Ledger knows the deliveries that came.
	Ledger Ledger
	// Dir is the directory in which it is kept how far the sweeps came.
	Dir string
	// Metrics is told what was missed. Nil counts nothing.
	Metrics SweepMetrics
}

// Ledger knows which deliveries came.
type Ledger interface {
	// Delivery returns a stored delivery, or [state.ErrNotFound].
	Delivery(ctx context.Context, source, id string) (state.StoredDelivery, error)
}

// SweepMetrics is told what sweeps find.
type SweepMetrics interface {
	// DeliveriesMissed counts deliveries that did not arrive.
	DeliveriesMissed(source string, n int)
	// DeliveriesRecovered counts those that were recovered: how is "fetched" or
	// "redelivered".
	DeliveriesRecovered(source, how string, n int)
}

// Sweeper finds the deliveries that did not arrive. GitHub sends each once, and
// keeps a record of what it sent for three days: a sweep compares that record
// with what came, and takes in what is missing. A delivery that timed out at
// GitHub may have arrived all the same; its id is the same, and taking it twice
// does nothing.
type Sweeper struct {
	SweepOptions

	hooks hooks
	quota *quota
	log   *slog.Logger
	now   func() time.Time
	// troubled is set while sweeps fail, so that a stretch is logged once.
	troubled bool
	// once is closed after the first sweep, successful or not.
	once chan struct{}
	told sync.Once
	// away is set once it was said that the service was away for too long.
	away bool
}

// NewSweeper returns a sweeper of the App's deliveries.
func (c *Channel) NewSweeper(o SweepOptions) *Sweeper {
	return &Sweeper{SweepOptions: o, hooks: c.app.hooks(), quota: c.app.quota, log: c.app.log, now: c.app.now, once: make(chan struct{})}
}

// Swept is closed once [Sweeper.Run] has made its first sweep.
func (s *Sweeper) Swept() <-chan struct{} { return s.once }

// Run sweeps at once and then every so often, until ctx ends.
func (s *Sweeper) Run(ctx context.Context, every time.Duration) {
	regularly(ctx, every, func() {
		switch err := s.Sweep(ctx); {
		case ctx.Err() != nil:
		case err != nil && !s.troubled:
			s.troubled = true
			s.log.Warn("deliveries that did not arrive cannot be looked for; this goes on by itself", "error", err)
		case err == nil && s.troubled:
			s.troubled = false
			s.log.Info("deliveries that did not arrive can be looked for again")
		}
		s.told.Do(func() { close(s.once) })
	})
}

// Sweep goes through what GitHub delivered since the last sweep, as far as one
// sweep may, and takes in what is missing.
func (s *Sweeper) Sweep(ctx context.Context) error {
	if !s.quota.spare(appQuota) {
		return nil // the next sweep takes it up
	}
	mark, err := readMark(s.Dir)
	if err != nil {
		return err
	}
	mark.forget(s.now().Add(-hookWindow))
	w := &sweep{Sweeper: s, mark: mark, first: mark.Through.IsZero(), seen: map[string]bool{}}
	if w.since = s.now().Add(-hookWindow); w.first {
		// As far back as GitHub remembers.
	} else if mark.Through.Before(w.since) {
		s.tell(s.now().Sub(mark.Through))
	} else {
		w.since = mark.Through.Add(-sweepOverlap)
	}
	if mark.Cursor == "" {
		w.mark.Until = s.now().Add(-hookSettles)
	}
	walked := w.walk(ctx)
	recovered := w.recover(ctx)
	w.report()
	if err := errors.Join(walked, recovered); err != nil {
		// What was recovered is known now; the rest is looked for from the beginning.
		w.mark.Cursor, w.mark.Until = "", time.Time{}
		return errors.Join(err, w.mark.write(s.Dir))
	}
	if w.mark.Cursor == "" {
		w.mark.Through, w.mark.Until = w.mark.Until, time.Time{}
	}
	return w.mark.write(s.Dir)
}

// tell says once that the service was away for longer than GitHub remembers.
func (s *Sweeper) tell(away time.Duration) {
	if !s.away {
		s.away = true
		s.log.Warn("this service was away for longer than GitHub remembers deliveries: those before are lost; "+
			"open sessions are compared with their pull requests all the same", "away", away.Round(time.Minute), "remembered", hookWindow)
	}
}

// sweep is one sweep.
type sweep struct {
	*Sweeper
	mark sweepMark
	// first is set when nothing says where an earlier sweep ended. Then only what
	// failed is missing: what was answered well before may have been another
	// service's, or this one's with a store that is gone.
	first bool
	since time.Time
	// seen has the deliveries of which a newer attempt was looked at.
	seen    map[string]bool
	missing []HookDelivery

	fetched, redelivered, lost int
}

// walk gathers what is missing, the newest first.
func (w *sweep) walk(ctx context.Context) error {
	for range maxSweepPages {
		page, next, err := w.hooks.list(ctx, w.mark.Cursor)
		if err != nil {
			return fmt.Errorf("list the deliveries: %w", err)
		}
		for _, d := range page {
			if d.At.Before(w.since) {
				w.mark.Cursor = ""
				return nil
			}
			missing, err := w.isMissing(ctx, d)
			if err != nil {
				return err
			}
			if missing {
				w.missing = append(w.missing, d)
			}
		}
		if w.mark.Cursor = next; next == "" || len(w.missing) >= maxSweepRecoveries {
			return nil
		}
	}
	return nil
}

// isMissing reports whether an attempt is the newest of a delivery that did not come.
func (w *sweep) isMissing(ctx context.Context, d HookDelivery) (bool, error) {
	if d.GUID == "" || w.seen[d.GUID] {
		return false, nil
	}
	w.seen[d.GUID] = true
	_, asked := w.mark.Asked[d.GUID]
	// What was tried a moment ago may be on its way into the store.
	if asked || d.At.After(w.mark.Until) || w.first && d.Status >= 200 && d.Status < 300 {
		return false, nil
	}
	switch _, err := w.Ledger.Delivery(ctx, Name, d.GUID); {
	case errors.Is(err, state.ErrNotFound):
		return true, nil
	case err != nil && !errors.Is(err, state.ErrInvalid):
		return false, fmt.Errorf("look for delivery %s in the store: %w", d.GUID, err)
	}
	return false, nil
}

// recover takes in what is missing, the oldest first. It stops at the first
// delivery that has to wait.
func (w *sweep) recover(ctx context.Context) error {
	for _, d := range slices.Backward(w.missing) {
		if err := w.one(ctx, d); err != nil {
			return fmt.Errorf("recover delivery %s: %w", d.GUID, err)
		}
		if err := rest(ctx, recoverPause); err != nil {
			return err
		}
	}
	return nil
}

// one recovers a delivery: fetched where GitHub shows it, else sent again.
func (w *sweep) one(ctx context.Context, d HookDelivery) error {
	if w.mark.Failed[d.GUID] >= maxFetches {
		return w.again(ctx, d)
	}
	whole, err := w.hooks.fetch(ctx, d.ID)
	switch {
	case errors.Is(err, errNotShown), err == nil && whole.GUID != d.GUID:
		return w.again(ctx, d)
	case ctx.Err() != nil:
		return err
	case temporary(status(err)) && status(err) != 0, transient(err) && !unreachable(err):
		// It may be this one that cannot be had, and others wait behind it.
		w.mark.Failed[d.GUID]++
		return err
	case err != nil:
		return err
	}
	_, err = w.Inbox.Accept(ctx, state.Delivery{
		Source: Name, ID: whole.GUID, Event: whole.Event, Headers: whole.Headers, Body: whole.Body, ReceivedAt: w.now(),
	})
	if errors.Is(err, state.ErrInvalid) {
		w.lost++
		return nil
	}
	if err == nil {
		w.fetched++
	}
	return err
}

// again asks GitHub to send a delivery again, once: that it was asked is noted
// before, so that no crash in between asks twice.
func (w *sweep) again(ctx context.Context, d HookDelivery) error {
	w.mark.Asked[d.GUID] = w.now()
	if err := w.mark.write(w.Dir); err != nil {
		return err
	}
	err := w.hooks.redeliver(ctx, d.ID)
	switch {
	case err == nil:
		w.redelivered++
	case status(err) >= 500:
		w.lost++ // GitHub may do it all the same
	case notFound(err), status(err) == 422:
		w.lost++
	default:
		delete(w.mark.Asked, d.GUID) // it was not heard
		return err
	}
	return rest(ctx, redeliverPause)
}

// report tells what a sweep found, in one line, and nothing of one that found nothing.
func (w *sweep) report() {
	if len(w.missing) == 0 {
		return
	}
	w.log.Info("deliveries did not arrive", "missed", len(w.missing), "fetched", w.fetched, "redelivered", w.redelivered, "lost", w.lost)
	if w.Metrics == nil {
		return
	}
	w.Metrics.DeliveriesMissed(Name, w.fetched+w.redelivered+w.lost)
	w.Metrics.DeliveriesRecovered(Name, "fetched", w.fetched)
	w.Metrics.DeliveriesRecovered(Name, "redelivered", w.redelivered)
}
