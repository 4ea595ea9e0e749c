package evidence

import (
	"context"
	"sync"
)

// group runs tasks side by side. The first error cancels the others' context.
type group struct {
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
	once   sync.Once
	err    error
}

func newGroup(ctx context.Context) *group {
	ctx, cancel := context.WithCancel(ctx)
	return &group{ctx: ctx, cancel: cancel}
}

// run starts a task.
func (g *group) run(task func(context.Context) error) {
	g.wg.Go(func() {
		if err := task(g.ctx); err != nil {
			g.once.Do(func() {
				g.err = err
				g.cancel()
			})
		}
	})
}

// wait waits for all tasks and returns the first error.
func (g *group) wait() error {
	g.wg.Wait()
	g.cancel()
	return g.err
}
