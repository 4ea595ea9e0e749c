package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/liaison-bot/liaison/state"
)

// follower collects what a follower is given.
type follower struct {
	types []string
	err   error
	ended chan struct{}
}

// follow starts a follower that takes as long over each event as it is told.
func (h *house) follow(ctx context.Context, id string, from int64, slow time.Duration) *follower {
	f := &follower{ended: make(chan struct{})}
	go func() {
		defer close(f.ended)
		next := max(from, 0)
		for ev, err := range h.engine.Events(ctx, id, from, true) {
			if err != nil {
				f.err = err
				return
			}
			if ev.Index != next {
				f.err = fmt.Errorf("event %d came where %d was expected", ev.Index, next)
				return
			}
			next++
			f.types = append(f.types, ev.Type)
			time.Sleep(slow)
		}
	}()
	return f
}

func (h *house) allTypes(key string) []string {
	h.t.Helper()
	var out []string
	for _, ev := range h.events(key) {
		out = append(out, ev.Type)
	}
	return out
}

func TestFollowersSeeEveryEventOnce(t *testing.T) {
	inHouse(t, func(h *house) {
		h.send(push("a", "", 1))
		h.settle()
		id := h.session("k").ID
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		begun, err := h.engine.LastIndex(ctx, id)
		if err != nil || begun < 0 {
			t.Fatalf("last index %d, %v", begun, err)
		}
		fast, slow := h.follow(ctx, id, 0, 0), h.follow(ctx, id, -7, time.Minute)
		late := h.follow(ctx, id, begun+1, 0)
		for i := range 5 {
			h.wait(3 * time.Second)
			h.send(push(fmt.Sprint("r", i), "", i+2))
		}
		h.wait(time.Hour)
		want := h.allTypes("k")
		if last, err := h.engine.LastIndex(ctx, id); last != int64(len(want))-1 || err != nil {
			t.Errorf("last index %d, %v; want %d", last, err, len(want)-1)
		}
		cancel()
		for name, c := range map[string]struct {
			f    *follower
			want []string
		}{"fast": {fast, want}, "slow": {slow, want}, "late": {late, want[begun+1:]}} {
			<-c.f.ended
			if !slices.Equal(c.f.types, c.want) || !errors.Is(c.f.err, context.Canceled) {
				t.Errorf("the %s follower saw %v, %v; want %v", name, c.f.types, c.f.err, c.want)
			}
		}
		if n := len(h.engine.feed.followed); n != 0 {
			t.Errorf("%d sessions are followed when nobody is left", n)
		}
	})
}

func TestAFollowerMayComeBeforeTheFirstEvent(t *testing.T) {
	inHouse(t, func(h *house) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		f := h.follow(ctx, "ses_new", 0, 0)
		h.settle()
		ev := state.Event{Type: "x", SessionID: "ses_new"}
		for range 3 {
			if err := h.engine.records.append(ctx, "ses_new", ev, ev); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		cancel()
		<-f.ended
		if len(f.types) != 6 || !errors.Is(f.err, context.Canceled) {
			t.Errorf("saw %v, %v", f.types, f.err)
		}
	})
}

func TestFollowingEndsWithATaskAndNotWithAnArchive(t *testing.T) {
	for name, c := range map[string]struct {
		mode state.Mode
		then string
		ends bool
		last string
	}{
		"task":    {state.ModeTask, "", true, EventSessionCompleted},
		"chat":    {state.ModeChat, "", false, EventSessionWaiting},
		"archive": {state.ModeChat, "archive", false, EventSessionCompleted},
	} {
		t.Run(name, func(t *testing.T) {
			inHouse(t, func(h *house) {
				h.send(request{Key: "k", Rev: "a", At: 1, Mode: c.mode})
				h.settle()
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				f := h.follow(ctx, h.session("k").ID, 0, 0)
				h.wait(time.Minute)
				if c.then != "" {
					h.send(request{Do: c.then, Key: "k", Rev: "a", At: 2})
					h.wait(time.Minute)
				}
				ended := false
				select {
				case <-f.ended:
					ended = true
				default:
				}
				if ended != c.ends {
					t.Errorf("ended: %t, want %t", ended, c.ends)
				}
				cancel()
				<-f.ended
				if c.ends && f.err != nil {
					t.Errorf("ended with %v", f.err)
				}
				if n := len(f.types); n == 0 || f.types[n-1] != c.last {
					t.Errorf("saw %v, want %s last", f.types, c.last)
				}
			})
		})
	}
}
