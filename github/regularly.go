package github

import (
	"context"
	"time"
)

// regularly calls do at once and then every so often, until ctx ends.
func regularly(ctx context.Context, every time.Duration, do func()) {
	for ctx.Err() == nil {
		do()
		if rest(ctx, every) != nil {
			return
		}
	}
}

// rest waits, or returns early with the context's error.
func rest(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
