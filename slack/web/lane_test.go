package web

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A channel takes three messages at once and one a second from then on; reactions
// and other channels do not wait for that.
func TestPace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, f := newFake(t, func(int, asked) reply { return reply{body: posted} })
		began := time.Now()
		var all sync.WaitGroup
		for range 6 {
			all.Go(func() {
				if _, err := c.Post(t.Context(), place, Message{Text: "hello"}); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if err := c.React(t.Context(), place, "1.1", "eyes"); err != nil || time.Since(began) != 0 {
			t.Errorf("a reaction: %v after %s", err, time.Since(began))
		}
		if _, err := c.Post(t.Context(), Place{Team: "T1", Channel: "C2"}, Message{Text: "hello"}); err != nil || time.Since(began) != 0 {
			t.Errorf("another channel: %v after %s", err, time.Since(began))
		}
		all.Wait()
		var at []string
		for _, call := range f.of(methodPost) {
			if call.form.Get("channel") == "C1" {
				at = append(at, call.at.Sub(began).String())
			}
		}
		if want := []string{"0s", "0s", "0s", "1s", "2s", "3s"}; !slices.Equal(at, want) {
			t.Errorf("posted at %v, want %v", at, want)
		}
	})
}

// What somebody waits for goes first, whenever it came, and never two at once.
func TestPriorities(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newLanes(time.Now)
		key := channelKey{"T1", "C1"}
		var order []string
		var all sync.WaitGroup
		stand := func(name string, w write) {
			all.Go(func() {
				leave, err := s.enter(t.Context(), key, w)
				if err != nil {
					name += " " + err.Error()
				} else {
					defer leave()
				}
				order = append(order, name) // the race detector would see two at once
				time.Sleep(10 * time.Millisecond)
			})
			synctest.Wait()
		}
		stand("first", write{priority: Status})
		stand("live", write{priority: Live})
		stand("status", write{priority: Status})
		stand("answer", write{priority: Answer})
		stand("later answer", write{priority: Answer})
		all.Wait()
		if want := []string{"first", "answer", "later answer", "status", "live"}; !slices.Equal(order, want) {
			t.Errorf("got %q", order)
		}
	})
}

// Edits of one message do not pile up: the newest takes the place of those that
// wait, and what is late is dropped.
func TestLiveIsDropped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newLanes(time.Now)
		key := channelKey{"T1", "C1"}
		leave, err := s.enter(t.Context(), key, write{priority: Answer})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		got := make([]string, 3)
		var all sync.WaitGroup
		for i, about := range []string{"1.1", "1.2", "1.1"} {
			all.Go(func() {
				_, err := s.enter(t.Context(), key, write{priority: Live, about: about})
				got[i] = fmt.Sprintf("%v after %s", errors.Is(err, ErrLate), time.Since(began))
			})
			synctest.Wait()
		}
		all.Wait()
		late := "true after " + lateAfter.String()
		if want := []string{"true after 0s", late, late}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		leave()
	})
}

// A line that does not move is left, and one that is full is not joined; both are
// waits that count as nobody's failure. Nothing stays behind.
func TestLineIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newLanes(time.Now)
		key := channelKey{"T1", "C1"}
		leave, err := s.enter(t.Context(), key, write{priority: Answer})
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range maxLine {
			all.Go(func() {
				if _, err := s.enter(t.Context(), key, write{priority: Answer}); !errors.Is(err, ErrLimited) {
					t.Errorf("got %v", err)
				}
			})
		}
		synctest.Wait()
		if _, err := s.enter(t.Context(), key, write{priority: Answer}); !errors.Is(err, ErrLimited) {
			t.Errorf("got %v", err)
		}
		all.Wait()
		leave()
		if line := s.lanes[key].line; len(line) != 0 {
			t.Errorf("%d still stand in line", len(line))
		}
	})
}

// Lanes of channels in which nobody writes any more are forgotten.
func TestLanesAreForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newLanes(time.Now)
		for i := range 10 * maxLanes {
			leave, err := s.enter(context.Background(), channelKey{"T1", fmt.Sprint("C", i)}, write{spends: true})
			if err != nil {
				t.Fatal(err)
			}
			leave()
			time.Sleep(5 * time.Millisecond)
		}
		if len(s.lanes) > maxLanes {
			t.Errorf("%d lanes", len(s.lanes))
		}
	})
}
