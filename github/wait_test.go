package github

import (
	"net/http"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/internal/sim"
)

// Who waits for a review sees why, on the one check, and that it goes on.
func TestAWaitIsSeenOnTheCheck(t *testing.T) {
	t.Parallel()
	for _, remembers := range []bool{true, false} {
		w := newWorld(t)
		turn := w.turn("trn_1")
		turn.Attempt = 1
		w.mustDeliver(w.items(turn, started)...)
		if !remembers {
			clear(w.surface)
		}
		w.mustDeliver(w.items(turn, waiting)...)
		got := w.checks()
		if len(got) != 1 || got[0].Status != "in_progress" || got[0].Title != "Waiting for the model's rate limit until 12:34 UTC" {
			t.Fatalf("remembers=%t: while it waits: %+v", remembers, got)
		}
		turn.Attempt = 2
		w.mustDeliver(w.items(turn, resumed)...)
		if got := w.checks(); len(got) != 1 || got[0].Status != "in_progress" || !strings.HasPrefix(got[0].Title, "Reviewing") {
			t.Fatalf("remembers=%t: when it goes on: %+v", remembers, got)
		}
		w.mustDeliver(w.items(turn, completed("Fine."))...)
		if got := w.checks(); len(got) != 1 || got[0].Status != "completed" || strings.Contains(got[0].Title, "Waiting") {
			t.Errorf("remembers=%t: in the end: %+v", remembers, got)
		}
	}
}

// Waits of several attempts are several effects; the same one is owed once.
func TestEachWaitIsToldOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	turn := w.turn("trn_1")
	ids := map[string]bool{}
	for turn.Attempt = 1; turn.Attempt <= 3; turn.Attempt++ {
		for range 2 {
			ids[w.items(turn, waiting)[0].ID] = true
			ids[w.items(turn, resumed)[0].ID] = true
		}
	}
	if len(ids) != 6 {
		t.Errorf("effects of three waits: %v", ids)
	}
}

// A word about a wait that comes late opens nothing, and is not written where
// nobody waits.
func TestALateWordAboutAWaitChangesNothing(t *testing.T) {
	t.Parallel()
	t.Run("concluded", func(t *testing.T) {
		t.Parallel()
		for _, remembers := range []bool{true, false} {
			w := newWorld(t)
			turn := w.turn("trn_1")
			w.mustDeliver(w.items(turn, started)...)
			w.mustDeliver(w.items(turn, completed("Fine."))...)
			if !remembers {
				clear(w.surface)
			}
			w.mustDeliver(w.items(turn, waiting)...)
			if got := w.checks(); len(got) != 1 || got[0].Status != "completed" || got[0].Conclusion != "success" {
				t.Errorf("remembers=%t: %+v", remembers, got)
			}
		}
	})
	t.Run("another head", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		turn := w.turn("trn_1")
		w.mustDeliver(w.items(turn, started)...)
		w.Push(repoName, w.pull.Number, map[string]sim.Change{"b": {Content: "b\n"}})
		w.mustDeliver(w.items(turn, waiting)...)
		if got := w.checks(); len(got) != 1 || strings.Contains(got[0].Title, "Waiting") {
			t.Errorf("%+v", got)
		}
	})
	t.Run("no check", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.mustDeliver(w.items(w.turn("trn_1"), waiting)...)
		if got := w.checks(); len(got) != 1 || got[0].Status != "in_progress" || !strings.Contains(got[0].Title, "Waiting") {
			t.Errorf("%+v", got)
		}
	})
}

// A refused update is tried again like any other write.
func TestAWaitSurvivesAnOutageOfTheSurface(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	turn := w.turn("trn_1")
	w.mustDeliver(w.items(turn, started)...)
	w.Fail(sim.Fault{Method: http.MethodPatch, PathPattern: "/repos/*/*/check-runs/*", Times: 9, Status: http.StatusBadGateway})
	_, err := w.deliver(w.items(turn, waiting)[0])
	wantRetry(t, err)
}

// The word that a review failed rewrites the one comment, and the next review
// rewrites it again.
func TestAFailureIsTheOneCommentToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.review("trn_1", "Looks good.")
	first := w.comments()
	turn := w.turn("trn_2")
	w.mustDeliver(w.items(turn, started)...)
	w.mustDeliver(w.items(turn, failed("@mona the key was refused"))...)
	got := w.comments()
	if len(got) != 1 || got[0].ID != first[0].ID || !strings.Contains(got[0].Body, "could not review") ||
		!strings.Contains(got[0].Body, "the key was refused") || strings.Contains(got[0].Body, "Looks good.") {
		t.Fatalf("after the failure: %+v", got)
	}
	w.review("trn_3", "Looks better.")
	if got := w.comments(); len(got) != 1 || got[0].ID != first[0].ID || strings.Contains(got[0].Body, "could not review") {
		t.Errorf("after the next review: %+v", got)
	}
}
