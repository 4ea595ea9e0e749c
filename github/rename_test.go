package github

import (
	"net/http"
	"testing"

	"github.com/liaison-bot/liaison/internal/sim"
)

// A write to a renamed repository is answered with 301, which Go's client turns
// into a GET: that GET succeeds, and nothing was written.
func TestRenameIsFollowedByID(t *testing.T) {
	t.Parallel()
	for _, code := range []int{http.StatusMovedPermanently, http.StatusTemporaryRedirect} {
		w := newWorld(t, func(so *sim.GitHubOptions, _ *Options) { so.WriteRedirectStatus = code })
		turn := w.turn("trn_1")
		w.mustDeliver(w.items(turn, started)...)
		w.Rename(repoName, "octo/store")
		w.ForgetRequests()
		w.mustDeliver(w.items(turn, completed("Fine."))...)
		if got := w.CheckRuns("octo/store", w.pull.HeadSHA); len(got) != 1 || got[0].Conclusion != "success" {
			t.Errorf("%d: checks: %+v", code, got)
		}
		if got := w.Comments("octo/store", w.pull.Number); len(got) != 1 {
			t.Errorf("%d: comments: %+v", code, got)
		}
		if n := w.count(http.MethodGet, "/repositories/"); n != 1 {
			t.Errorf("%d: %d look-ups by id", code, n)
		}
	}
}

func TestWriteIsRepeatedAsAWriteAfterARename(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Rename(repoName, "octo/store")
	owner, repo := "octo", "shop"
	req, err := w.mustRepository().client.NewRequest(http.MethodPost, "repos/"+owner+"/"+repo+"/issues/1/comments", map[string]string{"body": "hello"})
	must(t, err)
	_, err = w.mustRepository().client.Do(t.Context(), req, nil)
	must(t, err)
	if got := w.Comments("octo/store", 1); len(got) != 1 || got[0].Body != "hello" {
		t.Errorf("comments: %+v", got)
	}
}

// After a rename the old name can belong to somebody else.
func TestOldNameThatBelongsToAnotherRepository(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	turn := w.turn("trn_1")
	w.mustDeliver(w.items(turn, started)...)
	w.Rename(repoName, "octo/store")
	w.CreateRepository(repoName, map[string]string{"main.go": "package main\n"})
	w.Install(installation, "octo", repoName)
	w.OpenPullRequest(repoName, sim.NewPullRequest{Title: "Another", Author: "eve", Files: map[string]sim.Change{"x": {Content: "x\n"}}})
	w.mustDeliver(w.items(turn, completed("Fine."))...)
	if got := w.Comments("octo/store", w.pull.Number); len(got) != 1 {
		t.Errorf("comments: %+v", got)
	}
	if got := w.Comments(repoName, 1); len(got) != 0 {
		t.Errorf("comments of the other repository: %+v", got)
	}
}
