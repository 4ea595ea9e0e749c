package local

import (
	"context"
	"time"
)

// parentPoll is how often the bridge looks whether its parent is still there.
const parentPoll = time.Second

// watchParent closes the channel when the process's parent is another than the given one, which
// on Unix means that it has ended. It is the second line of defence against an
// orphan; the first is the host's own process group and parent-death signal.
// On Windows the parent's id never changes and the channel never closes.
func watchParent(ctx context.Context, parent int, getppid func() int, every time.Duration) <-chan struct{} {
	orphaned := make(chan struct{})
	go func() {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				if getppid() != parent {
					close(orphaned)
					return
				}
			}
		}
	}()
	return orphaned
}
