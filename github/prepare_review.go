package github

import (
	"context"
	"fmt"

	"github.com/liaison-bot/liaison/github/evidence"
	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/state"
)

// prepareReview prepares the review of a head.
func (c *Channel) prepareReview(ctx context.Context, tgt target, t sessions.Turn, dir string) (sessions.Brief, error) {
	pull, err := tgt.live(ctx)
	if err != nil {
		return sessions.Brief{}, tgt.gone(fmt.Errorf("read pull request %s: %w", tgt.name(), err), "pull request")
	}
	if err := tgt.wanted(pull); err != nil {
		return sessions.Brief{}, err
	}
	waited, err := c.awaitChecks(ctx, tgt, t)
	if err != nil {
		return sessions.Brief{}, err
	}
	set := tgt.settings()
	r := c.evidence(tgt, dir)
	r.Head, r.Instructions = tgt.Head, set.Instructions
	if set.Incremental && !tgt.Full {
		r.Since = reviewedBefore(t.Surface, tgt.Base)
	}
	summary, err := c.build(ctx, r)
	if pull, moved := movedTo(err); moved {
		if gone := tgt.wanted(pull); gone != nil {
			return sessions.Brief{}, gone
		}
	}
	if err != nil {
		return sessions.Brief{}, fmt.Errorf("prepare the evidence of %s: %w", tgt.name(), err)
	}
	// The last reading of the builder counts: a close during the work is common.
	if err := tgt.wanted(summary.Pull); err != nil {
		return sessions.Brief{}, err
	}
	if summary.Complete && len(set.Paths) > 0 && !set.covers(summary.Paths...) {
		return sessions.Brief{}, &sessions.UnneededError{Empty: true, Reason: fmt.Sprintf(
			"the configuration's review.paths cover none of the files that %s changes", tgt.name())}
	}
	return c.brief(summary.Note+waited, func(marker string) string {
		return reviewPrompt(tgt.request, summary, marker)
	})
}

// wanted returns why a review of the request's head is not wanted any more, or nil.
func (t target) wanted(pull evidence.PullRequest) error {
	draft := pull.Draft && !t.settings().Drafts
	open := pull.State != "closed" && !draft
	switch {
	case open && pull.Head.SHA == t.Head:
		return nil
	case t.lags(pull):
		return t.lagging(pull)
	case pull.State == "closed":
		return &sessions.UnneededError{Reason: fmt.Sprintf("pull request %s is closed", t.name())}
	case draft:
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
