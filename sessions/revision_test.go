package sessions

import (
	"testing"
	"time"

	"github.com/liaison-bot/liaison/state"
)

func TestOrderOfRevisions(t *testing.T) {
	at := func(minute int) time.Time { return time.Unix(0, 0).Add(time.Duration(minute) * time.Minute) }
	rev := func(id, previous string, minute int) state.Revision {
		r := state.Revision{ID: id, Previous: previous}
		if minute > 0 {
			r.At = at(minute)
		}
		return r
	}
	for name, c := range map[string]struct {
		heard, known state.Revision
		overtaken    bool
		newest       state.Revision
	}{
		"later":                        {rev("b", "a", 2), rev("a", "", 1), false, rev("b", "a", 2)},
		"earlier":                      {rev("a", "", 1), rev("b", "a", 2), true, rev("b", "a", 2)},
		"same second, next in chain":   {rev("b", "a", 1), rev("a", "", 1), false, rev("b", "a", 1)},
		"same second, before in chain": {rev("a", "", 1), rev("b", "a", 1), true, rev("b", "a", 1)},
		"forced back within a second":  {rev("a", "b", 1), rev("b", "a", 1), false, rev("a", "b", 1)},
		"forced back later":            {rev("a", "b", 2), rev("b", "a", 1), false, rev("a", "b", 2)},
		"chain without times":          {rev("a", "", 0), rev("b", "a", 0), true, rev("b", "a", 0)},
		"no chain and no times":        {rev("c", "", 0), rev("b", "a", 0), false, rev("c", "", 0)},
		"one time only":                {rev("c", "b", 0), rev("b", "a", 5), false, rev("c", "b", 5)},
		"same, later":                  {rev("b", "", 3), rev("b", "a", 2), false, rev("b", "a", 3)},
		"same, earlier":                {rev("b", "", 1), rev("b", "a", 2), true, rev("b", "a", 2)},
		"none":                         {rev("", "", 3), rev("b", "a", 2), false, rev("b", "a", 2)},
		"first":                        {rev("a", "", 1), rev("", "", 0), false, rev("a", "", 1)},
	} {
		t.Run(name, func(t *testing.T) {
			if got := overtaken(c.heard, c.known); got != c.overtaken {
				t.Errorf("overtaken = %v", got)
			}
			if got := newest(c.known, c.heard); got != c.newest {
				t.Errorf("newest = %+v, want %+v", got, c.newest)
			}
		})
	}
}

func TestBackoffGrowsWithinItsBounds(t *testing.T) {
	for _, random := range []float64{0, 0.999} {
		before := time.Duration(0)
		for n := range 200 {
			wait := backoff(2*time.Second, time.Minute, n, func() float64 { return random })
			if wait < time.Second || wait > time.Minute || wait < before {
				t.Errorf("wait %d is %s after %s", n, wait, before)
			}
			before = wait
		}
	}
}

func TestIdsGrowEvenWhenTheClockIsSetBack(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	newID := monotonicIDs(func() time.Time { return now })
	before := ""
	for i := range 1000 {
		if i == 500 {
			now = now.Add(-time.Hour)
		}
		id := newID()
		if id <= before || len(id) != 26 {
			t.Fatalf("id %d is %q after %q", i, id, before)
		}
		before = id
	}
}
