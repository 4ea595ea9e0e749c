//go:build !linux

package load

import "time"

// sleeper waits for moments.
type sleeper struct{}

func newSleeper() sleeper { return sleeper{} }

func (sleeper) until(at time.Time) { time.Sleep(time.Until(at)) }

func (sleeper) done() {}
