package local

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestWatchParent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var ppid atomic.Int64
		ppid.Store(7)
		orphaned := watchParent(ctx, 7, func() int { return int(ppid.Load()) }, time.Second)
		select {
		case <-orphaned:
			t.Fatal("the parent was taken for dead")
		case <-time.After(time.Hour):
		}
		ppid.Store(1)
		began := time.Now()
		<-orphaned
		if took := time.Since(began); took > time.Second {
			t.Errorf("it took %v to notice", took)
		}
	})
}
