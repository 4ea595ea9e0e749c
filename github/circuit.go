package github

import (
	"errors"
	"log/slog"
	"sync"
	"time"
)

// circuit remembers, per installation, that GitHub refuses us for a while, so
// that the calls which would follow are answered here and not by another refusal.
type circuit struct {
	now func() time.Time
	log *slog.Logger

	mu   sync.Mutex
	open map[int64]*breach
}

// breach is one stretch of refusals. It outlives its end until a call
// succeeds, so that a stretch is logged once however often it is prolonged.
type breach struct {
	until time.Time
	err   error
}

// check returns the error of a breach that still lasts, with the time left.
func (c *circuit) check(installation int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.open[installation]
	if b == nil {
		return nil
	}
	left := b.until.Sub(c.now())
	if left <= 0 {
		return nil
	}
	var (
		paused *PausedError
		limit  *LimitError
	)
	switch {
	case errors.As(b.err, &paused):
		again := *paused
		again.After = left
		return &again
	case errors.As(b.err, &limit):
		again := *limit
		again.After = left
		return &again
	}
	return b.err
}

// clear closes the circuit of an installation at once: GitHub said that it
// takes us again.
func (c *circuit) clear(installation int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[installation] == nil {
		return
	}
	delete(c.open, installation)
	c.log.Info("GitHub says that this installation is open to us again", "installation", installation)
}

// Resumed says that GitHub told us of the end of an installation's suspension,
// so that the next call is made at once and not after the rest of the pause.
func (c *Channel) Resumed(installation int64) { c.app.circuit.clear(installation) }

// note records how a call to GitHub ended: nil closes the circuit.
func (c *circuit) note(installation int64, err error) {
	var (
		paused *PausedError
		limit  *LimitError
		after  time.Duration
	)
	switch {
	case err == nil:
	case errors.As(err, &paused):
		after = paused.After
	case errors.As(err, &limit) && (limit.Secondary || limit.Resource == "" || limit.Resource == coreResource):
		after = limit.After
	default:
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.open[installation]
	if err == nil {
		// An answer to a call that was under way before says nothing about the next.
		if known != nil && !c.now().Before(known.until) {
			delete(c.open, installation)
			c.log.Info("GitHub answers this installation again", "installation", installation)
		}
		return
	}
	if known == nil {
		c.log.Warn("GitHub refuses this installation for now", "installation", installation, "reason", err, "wait", after)
	}
	c.open[installation] = &breach{until: c.now().Add(after), err: err}
}
