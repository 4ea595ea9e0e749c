package sessions

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// idlePace never gives way.
func idlePace() *pacer { return &pacer{intake: func() int { return 0 }, now: time.Now} }

// The queue behaves like a plain list of ids, whatever comes and goes.
func TestTurnQueueKeepsTheOrder(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	var granted []string
	q := newTurnQueue(2, func(id string) { granted = append(granted, id) }, idlePace())
	q.open()
	var line, want []string
	running := 0
	fill := func() {
		for running < 2 && len(line) > 0 {
			want, line = append(want, line[0]), line[1:]
			running++
		}
	}
	for step := range 20_000 {
		id := fmt.Sprint("ses_", rng.IntN(3000))
		switch at := slices.Index(line, id); rng.IntN(5) {
		case 0, 1:
			if at < 0 {
				line = append(line, id)
			}
			q.add(id)
		case 2, 3:
			if got := q.remove(id); got != (at >= 0) {
				t.Fatalf("step %d: remove of %s is %t", step, id, got)
			}
			if at >= 0 {
				line = slices.Delete(line, at, at+1)
			}
		default:
			if running > 0 {
				running--
				q.release()
			}
		}
		fill()
		_, waiting := q.counts()
		if waiting != len(line) || len(q.line) > 2*waiting+maxHoles+1 {
			t.Fatalf("step %d: %d wait in a line of %d, want %d", step, waiting, len(q.line), len(line))
		}
		if len(line) > 0 {
			at := rng.IntN(len(line))
			if got := q.ahead(line[at]); got != at+1 {
				t.Fatalf("step %d: %d ahead of %s, want %d", step, got, line[at], at+1)
			}
		}
	}
	if !slices.Equal(granted, want) {
		t.Errorf("%d places granted in another order than %d were asked for", len(granted), len(want))
	}
}

func TestSessionsThatComeAndGoDoNotMakeTheLineLonger(t *testing.T) {
	t.Parallel()
	q := newTurnQueue(1, func(string) {}, idlePace())
	q.open()
	q.add("runs")
	q.add("waits")
	for i := range 10 * maxHoles {
		id := fmt.Sprint("ses_", i)
		q.add(id)
		q.remove(id)
	}
	if n := len(q.line); n > 2*maxHoles {
		t.Errorf("the line has %d places for one that waits", n)
	}
	if n := q.ahead("waits"); n != 1 {
		t.Errorf("%d ahead of the one that waits", n)
	}
}

func TestTurnsStartSlowlyWhileIntakeIsBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var busy, granted atomic.Int64
		busy.Store(1)
		q := newTurnQueue(100, func(string) { granted.Add(1) }, &pacer{intake: func() int { return int(busy.Load()) }, now: time.Now})
		q.open()
		for i := range 20 {
			q.add(fmt.Sprint("ses_", i))
		}
		time.Sleep(5*paceTurns + time.Millisecond)
		synctest.Wait()
		if n := granted.Load(); n != 6 {
			t.Errorf("%d turns started within five times the pace", n)
		}
		busy.Store(0)
		time.Sleep(paceTurns)
		synctest.Wait()
		if n := granted.Load(); n != 20 {
			t.Errorf("%d turns started when intake was idle, want all", n)
		}
		q.close()
	})
}

// BenchmarkWaitingSessions reports what a session costs that waits for a place.
func BenchmarkWaitingSessions(b *testing.B) {
	q := newTurnQueue(1, func(string) {}, idlePace())
	q.open()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		q.add(fmt.Sprintf("ses_%026d", i))
	}
}
