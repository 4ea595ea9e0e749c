package main_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/internal/sim"
)

// The App loses the repository in the middle of a review: the review ends, and
// nothing of it is written any more.
func TestRepositoryIsTakenAwayDuringAReview(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	gate := make(chan struct{})
	w.hub.Fail(sim.Fault{Method: http.MethodGet, PathPattern: "/repos/*/*/pulls/*/files", Times: 1, Gate: gate})
	p := w.serve()
	pull := w.open("Taken away")
	p.deliver(w.hub.Event(repo, pull.Number, "opened"))
	w.wait("the check", func() bool { return len(w.hub.CheckRuns(repo, pull.HeadSHA)) == 1 })

	w.hub.RemoveRepository(installation, repo)
	p.deliver(w.hub.InstallationRepositoriesEvent(installation, "removed", repo))
	eventually(t, func() bool { return strings.Contains(w.log.String(), "archived one session") })
	close(gate)
	if code := p.terminate(); code != 0 {
		t.Errorf("left with %d", code)
	}
	if comments := w.hub.Comments(repo, pull.Number); len(comments) > 0 {
		t.Errorf("written to a repository that was taken away: %+v", comments)
	}
	if c := w.hub.CheckRuns(repo, pull.HeadSHA)[0]; c.Status != "in_progress" {
		t.Errorf("the check was concluded without a right to: %+v", c)
	}
	if strings.Contains(w.log.String(), `"msg":"turn completed"`) {
		t.Error("the review went on")
	}
}
