package github

import (
	"context"
	"errors"
	"fmt"

	"github.com/liaison-bot/liaison/github/evidence"
	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/state"
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
	pull, err := tgt.live(ctx)
	switch {
	case notFound(err):
		return sessions.Brief{}, &sessions.UnneededError{Reason: fmt.Sprintf("pull request %s does not exist any more", req.name())}
	case err != nil:
		return sessions.Brief{}, fmt.Errorf("read pull request %s: %w", req.name(), err)
	}
	if err := tgt.wanted(pull); err != nil {
		return sessions.Brief{}, err
	}
	owner, repo := tgt.names()
	summary, err := c.build(ctx, evidence.Request{
		Client: tgt.repo.client,
		Owner:  owner,
		Repo:   repo,
		RepoID: req.Repository,
		Number: req.Number,
		Head:   req.Head,
		Dir:    dir,
		Cache:  c.cache,
		Now:    c.app.now,
	})
	var moved *evidence.MovedError
	if errors.As(err, &moved) {
		if gone := tgt.wanted(moved.Pull); gone != nil {
			return sessions.Brief{}, gone
		}
	}
	if err != nil {
		return sessions.Brief{}, fmt.Errorf("prepare the evidence of %s: %w", req.name(), err)
	}
	// The last reading of the builder counts: a close during the work is common.
	if err := tgt.wanted(summary.Pull); err != nil {
		return sessions.Brief{}, err
	}
	marker, err := newMarker(c.random)
	if err != nil {
		return sessions.Brief{}, err
	}
	return sessions.Brief{Prompt: c.redact(prompt(req, summary, marker)), Note: summary.Note}, nil
}

// wanted returns why a review of the request's head is not wanted any more, or nil.
func (t target) wanted(pull evidence.PullRequest) error {
	open := pull.State != "closed" && !pull.Draft
	switch {
	case open && pull.Head.SHA == t.Head:
		return nil
	case t.lags(pull):
		return t.lagging(pull)
	case pull.State == "closed":
		return &sessions.UnneededError{Reason: fmt.Sprintf("pull request %s is closed", t.name())}
	case pull.Draft:
		return &sessions.UnneededError{Reason: fmt.Sprintf("pull request %s is a draft; it is reviewed when it is marked ready for review", t.name())}
	}
	next := t.request
	next.Head, next.Previous, next.UpdatedAt = pull.Head.SHA, t.Head, pull.UpdatedAt
	next.Title, next.Base = oneLine(pull.Title), oneLine(pull.Base.Ref)
	return &sessions.SupersededError{
		Revision: state.Revision{ID: next.Head, Previous: t.Head, At: pull.UpdatedAt},
		Request:  next.encode(),
	}
}
