package github

import (
	"context"
	"fmt"
	"net/http"

	gh "github.com/google/go-github/v66/github"

	"github.com/liaison-bot/liaison/github/evidence"
	"github.com/liaison-bot/liaison/sessions"
)

// kindNotice is a word about a head that no turn gives: a completed, neutral
// check run.
const kindNotice = "notice"

// configurationCheckName is the check that shows what is wrong with a configuration
// while reviews go on by an earlier one.
const configurationCheckName = "Liaison configuration"

// noticePayload is a notice. One of the same Name and External stands at a head once.
type noticePayload struct {
	Request  request `json:"request"`
	Name     string  `json:"name"`
	External string  `json:"external"`
	Title    string  `json:"title"`
	Summary  string  `json:"summary"`
}

// notice creates the check run, unless it is there.
func (w *writer) notice(ctx context.Context, p noticePayload) (sessions.Receipt, error) {
	switch there, err := w.ownChecks(ctx, p.Name, p.External); {
	case err != nil:
		return noticeRefused(err, "look for the notice")
	case len(there) > 0:
		return sessions.Receipt{Note: "the notice is there already"}, nil
	}
	switch where, err := w.stand(ctx); {
	case err != nil:
		return sessions.Receipt{}, err
	case where != current:
		return sessions.Receipt{Note: "no notice: the pull request is closed or has another head by now"}, nil
	}
	owner, repo := w.names()
	err := shrinking(maxCheckText, func(limit int) error {
		run, _, err := w.repo.client.Checks.CreateCheckRun(ctx, owner, repo, gh.CreateCheckRunOptions{
			Name:       p.Name,
			HeadSHA:    w.Head,
			ExternalID: gh.String(p.External),
			Status:     gh.String("completed"),
			Conclusion: gh.String(concludedNeutral),
			Output:     renderCheck(checkPayload{Title: p.Title, Summary: p.Summary}, limit, w.item.SessionID),
		})
		if err == nil && run.GetID() <= 0 {
			err = evidence.ErrNoAnswer
		}
		return err
	})
	if err != nil {
		return noticeRefused(err, "create the notice")
	}
	return sessions.Receipt{Note: "notice: " + p.Title}, nil
}

// noticeRefused leaves a notice out where the App may not write checks; nobody
// waits for it.
func noticeRefused(err error, doing string) (sessions.Receipt, error) {
	if status(err) == http.StatusForbidden {
		return sessions.Receipt{Note: "no notice: the App may not write checks"}, nil
	}
	return sessions.Receipt{}, fmt.Errorf("%s: %w", doing, err)
}
