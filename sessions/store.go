package sessions

import (
	"context"
	"errors"
	"time"

	"github.com/liaison-bot/liaison/state"
)

// commit applies a change. It waits out a store that cannot take anything now,
// until ctx ends or the store has failed for good.
func (e *Engine) commit(ctx context.Context, c state.Change) (uint64, error) {
	for wait := storeRetryBase; ; wait = min(2*wait, storeRetryMax) {
		id, err := e.store.Commit(ctx, c)
		if err == nil || !errors.Is(err, state.ErrUnavailable) {
			return id, err
		}
		e.logger.Warn("store unavailable; trying again", "wait", wait, "error", err)
		select {
		case <-ctx.Done():
			return 0, err
		case <-e.store.Failed():
			return 0, err
		case <-time.After(wait):
		}
	}
}

// read runs a query with the same patience.
func read[T any](ctx context.Context, e *Engine, query func(context.Context) (T, error)) (T, error) {
	for wait := storeRetryBase; ; wait = min(2*wait, storeRetryMax) {
		v, err := query(ctx)
		if err == nil || !errors.Is(err, state.ErrUnavailable) {
			return v, err
		}
		select {
		case <-ctx.Done():
			return v, err
		case <-e.store.Failed():
			return v, err
		case <-time.After(wait):
		}
	}
}
