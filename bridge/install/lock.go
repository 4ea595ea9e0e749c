package install

import (
	"context"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// politeness is how long a lock is waited for before anyone is told.
const politeness = 200 * time.Millisecond

// lock waits for the folder's lock, which the system takes from a process that
// dies. It calls waiting when that takes a while.
func lock(ctx context.Context, path string, waiting func()) (unlock func(), err error) {
	type held struct {
		unlock func()
		err    error
	}
	got := make(chan held, 1)
	go func() {
		unlock, err := lockedfile.MutexAt(path).Lock()
		got <- held{unlock, err}
	}()
	timer := time.NewTimer(politeness)
	defer timer.Stop()
	for {
		select {
		case h := <-got:
			return h.unlock, h.err
		case <-timer.C:
			waiting()
		case <-ctx.Done():
			// The wait for a file's lock cannot be broken off: give it back when it comes.
			go func() {
				if h := <-got; h.err == nil {
					h.unlock()
				}
			}()
			return nil, context.Cause(ctx)
		}
	}
}
