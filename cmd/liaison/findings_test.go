package main_test

import (
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/internal/sim"
)

// The agent hands its review in by a tool of the host: through the bridge and
// back, into the turn, and out to the lines of the diff.
func TestFindingsStandAtTheirLinesAndAreSaidOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serve()
	pull := w.hub.OpenPullRequest(repo, sim.NewPullRequest{
		Title: "Debug", Author: "mona",
		Files: map[string]sim.Change{"left.go": sim.Write("package main\n\n<<<<<<< HEAD\nvar a = 1\n=======\nvar a = 2\n>>>>>>> main\n")},
	})
	p.deliver(w.hub.Event(repo, pull.Number, "opened"))
	w.reviewed(pull.Number, pull.HeadSHA)
	ours := func() (found []sim.ReviewComment) {
		for _, c := range w.hub.ReviewComments(repo, pull.Number) {
			if c.AppID == appID {
				found = append(found, c)
			}
		}
		return found
	}
	w.wait("no finding stands at a line", func() bool { return len(ours()) > 0 })
	first := ours()
	if c := first[0]; c.Path != "left.go" || c.Line != 3 || c.CommitID != pull.HeadSHA {
		t.Errorf("the first finding stands at %s:%d of %s", c.Path, c.Line, c.CommitID)
	}
	for _, r := range w.hub.Reviews(repo, pull.Number) {
		if r.AppID == appID && (r.State != "COMMENTED" || !strings.Contains(r.Body, "error")) {
			t.Errorf("a review is %s: %s", r.State, r.Body)
		}
	}

	head := w.hub.Push(repo, pull.Number, map[string]sim.Change{"more.go": sim.Write("package main\n\nvar more = 1\n")})
	p.deliver(w.hub.Event(repo, pull.Number, "synchronize"))
	w.reviewed(pull.Number, head)
	if status := p.terminate(); status != 0 {
		t.Errorf("stopped with %d", status)
	}
	if again := ours(); len(again) != len(first) {
		t.Errorf("%d findings became %d, though nothing about them changed", len(first), len(again))
	}
}
