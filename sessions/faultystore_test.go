package sessions

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/liaison-bot/liaison/state"
)

// faultyStore refuses commits while fail is set, like a full disk.
type faultyStore struct {
	state.Store
	fail atomic.Bool
}

// around puts it before the store of a house.
func (s *faultyStore) around(o *Options) {
	s.Store = o.Store
	o.Store = s
}

func (s *faultyStore) Commit(ctx context.Context, c state.Change) (uint64, error) {
	if s.fail.Load() {
		return 0, fmt.Errorf("the disk is full: %w", state.ErrUnavailable)
	}
	return s.Store.Commit(ctx, c)
}
