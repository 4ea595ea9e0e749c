package sessions

import (
	"log/slog"
	"time"
)

const (
	// maxClockStep is how far the wall clock may run ahead of the time that passed
	// before it is doubted.
	maxClockStep = time.Hour
	// clockDoubtFor is how long it is doubted: an operator sees the warning, and
	// nothing hurries that is kept for days.
	clockDoubtFor = 24 * time.Hour
)

// clockDoubt reads a wall clock for those who remove what is old for good: one
// that was set forward by mistake would make everything old at once.
type clockDoubt struct {
	now    func() time.Time
	logger *slog.Logger

	begun, wall time.Time
	// allowed is how far the wall clock is known to have been set forward since,
	// and since when more than that is doubted; zero while it is not.
	allowed time.Duration
	since   time.Time
}

func newClockDoubt(now func() time.Time, logger *slog.Logger) *clockDoubt {
	return &clockDoubt{now: now, logger: logger, begun: time.Now(), wall: now().Round(0)}
}

// read returns the wall clock's time, and false while that is not to be trusted.
func (c *clockDoubt) read() (time.Time, bool) {
	wall := c.now()
	ahead := wall.Round(0).Sub(c.wall) - time.Since(c.begun)
	switch {
	case ahead-c.allowed <= maxClockStep:
		c.since = time.Time{}
		return wall, true
	case c.since.IsZero():
		c.since = time.Now()
		c.logger.Warn("the clock was set forward, or the machine slept: nothing old is removed for a day, in case the clock is wrong",
			"by", (ahead - c.allowed).Round(time.Second))
	case time.Since(c.since) >= clockDoubtFor:
		c.allowed, c.since = ahead, time.Time{}
		return wall, true
	}
	return wall, false
}
