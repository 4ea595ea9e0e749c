package github

import (
	"context"
	"errors"
	"fmt"

	"github.com/liaison-bot/liaison/github/evidence"
	"github.com/liaison-bot/liaison/internal/untrusted"
	"github.com/liaison-bot/liaison/sessions"
)

// Prepare fetches the evidence of a turn and composes what the agent is told.
func (c *Channel) Prepare(ctx context.Context, t sessions.Turn, dir string) (sessions.Brief, error) {
	brief, err := c.prepare(ctx, t, dir)
	if err != nil {
		return sessions.Brief{}, retryable(err, c.app.now())
	}
	return brief, nil
}

func (c *Channel) prepare(ctx context.Context, t sessions.Turn, dir string) (sessions.Brief, error) {
	req, err := parseRequest(t.Request)
	if err != nil {
		return sessions.Brief{}, err
	}
	tgt, err := c.app.target(req)
	if err != nil {
		return sessions.Brief{}, err
	}
	switch {
	case req.Kind == kindReview && !req.Issue:
		return c.prepareReview(ctx, tgt, t, dir)
	case req.Kind == kindResumed && !asksAnything(req, t):
		return c.prepareResumed(tgt, t)
	case (req.Kind == kindAsk || req.Kind == kindResumed) && req.Issue:
		return c.prepareIssue(ctx, tgt, t, dir)
	case req.Kind == kindAsk, req.Kind == kindResumed:
		return c.prepareAsk(ctx, tgt, t, dir)
	}
	return sessions.Brief{}, fmt.Errorf("no agent is told anything for a turn that is to %s", quote(string(req.Kind)))
}

// evidence are the parts of a request for evidence that every turn about a pull
// request has.
func (c *Channel) evidence(t target, dir string) evidence.Request {
	owner, repo := t.names()
	return evidence.Request{
		Client: t.repo.client, Owner: owner, Repo: repo, RepoID: t.Repository, Number: t.Number,
		Dir: dir, Cache: c.cache, Now: c.app.now,
	}
}

// brief composes what the agent is told. The whole of it is masked: a secret of
// ours may have got into what people wrote.
func (c *Channel) brief(note string, compose func(marker string) string) (sessions.Brief, error) {
	marker, err := untrusted.NewMarker(c.random)
	if err != nil {
		return sessions.Brief{}, err
	}
	return sessions.Brief{Prompt: c.redact(compose(marker)), Note: note}, nil
}

// gone says that there is nothing to look at any more, if that is what err means.
func (t target) gone(err error, what string) error {
	if notFound(err) {
		return &sessions.UnneededError{Reason: fmt.Sprintf("%s %s does not exist any more", what, t.name())}
	}
	return err
}

// movedTo returns the pull request's state where its head moved during the work.
func movedTo(err error) (evidence.PullRequest, bool) {
	var moved *evidence.MovedError
	if errors.As(err, &moved) {
		return moved.Pull, true
	}
	return evidence.PullRequest{}, false
}
