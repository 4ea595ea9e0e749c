package github

import (
	"context"
	"fmt"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/sessions"
)

var _ sessions.Requesting = (*Channel)(nil)

// Requester implements sessions.Requesting: who asked, and besides them who else
// asked in the same turn, the pull request's author and that of its head.
func (c *Channel) Requester(t sessions.Turn) (requester approvals.Identity, authors []approvals.Identity, subject string) {
	r, err := parseRequest(t.Request)
	if err != nil {
		return approvals.Identity{Principal: t.Principal}, nil, ""
	}
	requester = c.identity(r.Actor)
	if requester.Principal == "" {
		requester.Principal = t.Principal
	}
	hands := []account{r.Author, r.HeadAuthor}
	for _, g := range t.Gathered {
		if more, err := parseRequest(g.Request); err == nil {
			hands = append(hands, more.Actor)
		}
	}
	for _, a := range hands {
		if who := c.identity(a); who.Principal != "" {
			authors = append(authors, who)
		}
	}
	return requester, authors, r.name()
}

// learnHeadAuthor finds out who wrote the head's commit, where people can decide
// about calls: they must not approve what is about their own change
// (https://github.com/runatlantis/atlantis/issues/201).
func (w *weighing) learnHeadAuthor(ctx context.Context) error {
	if w.approval == nil || !validSHA(w.Head) {
		return nil
	}
	var commit struct {
		Author hookUser `json:"author"`
	}
	err := get(ctx, w.repo.client, w.path("commits/%s", w.Head), &commit)
	switch {
	case notFound(err), refused(err):
		return nil
	case err != nil:
		return fmt.Errorf("read who wrote %s: %w", short(w.Head), err)
	}
	w.HeadAuthor = commit.Author.account()
	return nil
}
