package local

import (
	"context"
	"errors"
	"slices"
	"testing"
)

// TestRunIDsAreListedOnce pages through an agent's runs, with runs made before,
// while and after the store is asked for all of them.
func TestRunIDsAreListedOnce(t *testing.T) {
	t.Parallel()
	var k runIDs
	asked := 0
	list := func(context.Context) ([]string, error) {
		asked++
		return []string{"run-3", "run-1", "run-2"}, nil
	}
	page := func(before string, limit int, want []string, wantMore bool) {
		t.Helper()
		ids, more, err := k.before(t.Context(), "a", before, limit, list)
		if err != nil || !slices.Equal(ids, want) || more != wantMore {
			t.Errorf("before %q: %v, %v, %v; want %v, %v", before, ids, more, err, want, wantMore)
		}
	}
	k.add("a", "run-3") // nothing is known yet, and the store will say it
	broken := errors.New("the store is down")
	if _, _, err := k.before(t.Context(), "a", "", 2, func(context.Context) ([]string, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("a list that failed: %v", err)
	}
	page("", 2, []string{"run-3", "run-2"}, true)
	page("run-2", 2, []string{"run-1"}, false)
	k.add("a", "run-4")
	k.add("a", "run-4")
	page("", 0, []string{"run-4", "run-3", "run-2", "run-1"}, false)
	if asked != 1 {
		t.Errorf("the store was asked for all runs %d times", asked)
	}
	k.forget("a")
	page("", 0, []string{"run-3", "run-2", "run-1"}, false)
}
