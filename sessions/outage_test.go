package sessions

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/state"
)

// However long the surface is out of reach, nothing is given up, it is not asked
// all the time, and what is owed comes soon after its return.
func TestAnOutageUsesUpNoTries(t *testing.T) {
	for _, restart := range []bool{false, true} {
		t.Run(fmt.Sprint("restart=", restart), func(t *testing.T) {
			inHouse(t, func(h *house) {
				var down atomic.Bool
				var calls atomic.Int64
				refused := func() error {
					calls.Add(1)
					if down.Load() {
						return &RetryError{Uncounted: true, Err: errors.New("connection refused")}
					}
					return nil
				}
				h.world.prepare = func(_ context.Context, t Turn, _ string) (Brief, error) {
					return Brief{Prompt: t.Message}, refused()
				}
				h.world.deliver = func(_ context.Context, item Item) (Receipt, error) {
					if err := refused(); err != nil {
						return Receipt{}, err
					}
					return h.world.write(item), nil
				}
				down.Store(true)
				h.send(push("a", "", 1))
				h.wait(72 * time.Hour)
				if restart {
					h.restart()
				}
				if n := calls.Load(); n > 1000 {
					t.Errorf("%d calls in three days", n)
				}
				down.Store(false)
				h.wait(pausedRetry + time.Minute)
				h.wantTurns("k", "a:completed")
				h.wantSaid("a in progress", "a success", "done: review a")
				if got := h.letters(); len(got) != 0 {
					t.Errorf("given up: %q", got)
				}
			})
		})
	}
}

// A push that is older than what was reviewed, and dated the same, leads to the
// live head, which needs no second review.
func TestALateOldPushDoesNotRepeatAReview(t *testing.T) {
	inHouse(t, func(h *house) {
		h.world.prepare = func(_ context.Context, t Turn, _ string) (Brief, error) {
			if t.Revision.ID != "c" {
				return Brief{}, &SupersededError{Revision: state.Revision{ID: "c", Previous: t.Revision.ID, At: t.Revision.At}}
			}
			return Brief{Prompt: t.Message}, nil
		}
		h.send(push("c", "b", 1))
		h.wait(time.Minute)
		h.send(push("a", "", 1))
		h.wait(time.Minute)
		h.wantTurns("k", "c:completed", "a:interrupted")
		h.send(push("c", "b", 1))
		h.wait(time.Minute)
		h.wantTurns("k", "c:completed", "a:interrupted")
	})
}
