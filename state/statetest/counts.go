package statetest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/liaison-bot/liaison/state"
)

func runCounts(t *testing.T, open Open) {
	count := func(limit int, keys ...string) state.Change {
		var c state.Change
		for _, key := range keys {
			c.Counts = append(c.Counts, state.Count{Key: key, Limit: limit, Expires: at(60)})
		}
		return c
	}
	spent := func(t testing.TB, err error, key string) {
		t.Helper()
		if e, ok := errors.AsType[*state.BudgetError](err); !ok || e.Key != key {
			t.Errorf("Commit: error %v, want that the budget %s is spent", err, key)
		}
	}

	t.Run("up to the limit and not beyond", func(t *testing.T) {
		s := open(t)
		for n := range 4 {
			if got := must(s.Counted(t.Context(), "a"))(t); got != min(n, 3) {
				t.Errorf("%d were counted, want %d", got, n)
			}
			if _, err := s.Commit(t.Context(), count(3, "a")); n < 3 && err != nil {
				t.Errorf("the one after %d: %v", n, err)
			} else if n == 3 {
				spent(t, err, "a")
			}
		}
		commit(t, s, count(4, "a")) // a limit that was raised since
		_, err := s.Commit(t.Context(), count(2, "a"))
		spent(t, err, "a") // and one that was lowered
	})

	t.Run("all of a change or none", func(t *testing.T) {
		s := open(t)
		commit(t, s, count(1, "full"))
		c := count(9, "a", "b")
		c.Counts = append(c.Counts, count(1, "full").Counts...)
		c.Facts = []state.Fact{{Key: "f"}}
		_, err := s.Commit(t.Context(), c)
		spent(t, err, "full")
		for _, key := range []string{"a", "b"} {
			if n := must(s.Counted(t.Context(), key))(t); n != 0 {
				t.Errorf("%d were counted under %s", n, key)
			}
		}
		commit(t, s, state.Change{Facts: []state.Fact{{Key: "f"}}})
	})

	t.Run("many at the same time do not exceed it", func(t *testing.T) {
		s := open(t)
		var taken atomic.Int64
		var all sync.WaitGroup
		for i := range 40 {
			all.Go(func() {
				c := count(7, "a")
				c.Facts = []state.Fact{{Key: fmt.Sprint(i)}}
				_, err := s.Commit(t.Context(), c)
				if err == nil {
					taken.Add(1)
					return
				}
				spent(t, err, "a")
			})
		}
		all.Wait()
		if n := must(s.Counted(t.Context(), "a"))(t); taken.Load() != 7 || n != 7 {
			t.Errorf("%d commits held and %d were counted, want 7", taken.Load(), n)
		}
	})
}
