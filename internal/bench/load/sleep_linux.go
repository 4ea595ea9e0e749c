package load

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// sleeper waits for moments. Go's own timers may be a millisecond late while
// nothing else happens, which would be most of what an open loop measures.
type sleeper struct{}

func newSleeper() sleeper {
	runtime.LockOSThread()
	// The kernel adds up to 50 µs to each sleep unless it is asked not to.
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	return sleeper{}
}

func (sleeper) until(at time.Time) {
	for wait := time.Until(at); wait > 0; wait = time.Until(at) {
		spec := unix.NsecToTimespec(int64(wait))
		_ = unix.Nanosleep(&spec, nil)
	}
}

func (sleeper) done() { runtime.UnlockOSThread() }
