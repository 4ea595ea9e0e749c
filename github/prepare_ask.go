package github

import (
	"cmp"
	"context"
	"fmt"

	"github.com/liaison-bot/liaison/github/evidence"
	"github.com/liaison-bot/liaison/sessions"
)

// maxMoves is how often evidence for an answer is begun again because somebody
// pushed meanwhile. A question is about no revision, so that a push does not
// outdate it.
const maxMoves = 3

// prepareAsk prepares an answer about a pull request, as it is now.
func (c *Channel) prepareAsk(ctx context.Context, tgt target, t sessions.Turn, dir string) (sessions.Brief, error) {
	// This also finds a repository that has another name by now.
	if _, err := tgt.live(ctx); err != nil {
		return sessions.Brief{}, tgt.gone(fmt.Errorf("read pull request %s: %w", tgt.name(), err), "pull request")
	}
	asked := inquiries(tgt.request, t)
	r := c.evidence(tgt, dir)
	r.Questions = toAnswer(asked)
	r.Instructions = tgt.settings().Instructions
	for range maxMoves {
		summary, err := c.build(ctx, r)
		if _, moved := movedTo(err); moved {
			continue
		}
		if err != nil {
			return sessions.Brief{}, fmt.Errorf("prepare the evidence of %s: %w", tgt.name(), err)
		}
		return c.brief(summary.Note, func(marker string) string {
			return askPrompt(tgt.request, summary, r.Questions, outcomes(asked), marker)
		})
	}
	return sessions.Brief{}, &sessions.RetryError{After: lagWait, Err: fmt.Errorf(
		"the head of %s moved %d times while its evidence was prepared", tgt.name(), maxMoves)}
}

// prepareIssue prepares an answer about an issue.
func (c *Channel) prepareIssue(ctx context.Context, tgt target, t sessions.Turn, dir string) (sessions.Brief, error) {
	asked := inquiries(tgt.request, t)
	questions := toAnswer(asked)
	build := func() (evidence.IssueSummary, error) {
		owner, repo := tgt.names()
		return evidence.BuildIssue(ctx, evidence.IssueRequest{
			Client: tgt.repo.client, Owner: owner, Repo: repo, Number: tgt.Number, Dir: dir, Questions: questions, Now: c.app.now,
		})
	}
	summary, err := build()
	if owner, repo := tgt.names(); notFound(err) {
		known := owner + "/" + repo
		name, lookup := tgt.repo.transport.resolve(ctx, known)
		switch {
		case lookup != nil:
			return sessions.Brief{}, fmt.Errorf("find %s again: %w", known, lookup)
		case name != known:
			summary, err = build()
		}
	}
	if err != nil {
		return sessions.Brief{}, tgt.gone(fmt.Errorf("prepare the evidence of %s: %w", tgt.name(), err), "issue")
	}
	return c.brief(summary.Note, func(marker string) string {
		return issuePrompt(tgt.request, summary, questions, outcomes(asked), marker)
	})
}

// inquiry is a question with the words that came with it.
type inquiry struct {
	request
	message string
}

// inquiries are the questions that a turn answers, in the order in which they came.
func inquiries(own request, t sessions.Turn) []inquiry {
	all := []inquiry{{own, t.Message}}
	for _, g := range t.Gathered {
		// What is in there was checked when it was taken up; what cannot be read any
		// more has no place to answer at.
		if r, err := parseRequest(g.Request); err == nil && (r.Kind == kindAsk || r.Kind == kindResumed) {
			all = append(all, inquiry{r, g.Message})
		}
	}
	return all
}

// requests are those of questions.
func requests(all []inquiry) []request {
	out := make([]request, 0, len(all))
	for _, in := range all {
		out = append(out, in.request)
	}
	return out
}

// toAnswer returns the questions for the evidence. Their text is what the event
// carried: what stands on the page by now may be another one.
func toAnswer(all []inquiry) []evidence.Question {
	out := make([]evidence.Question, 0, len(all))
	for _, in := range all {
		if in.Kind != kindAsk {
			continue
		}
		q := evidence.Question{
			Verb: cmp.Or(in.Command.Verb, "ask"), Text: in.message, At: in.UpdatedAt,
			Author: evidence.Actor{Login: in.Actor.Login, ID: in.Actor.ID},
		}
		if in.Comment != nil {
			q.ID, q.At, q.URL = in.Comment.ID, in.Comment.At, in.Comment.URL
			q.Text = cmp.Or(in.Comment.Body, in.message)
			q.Path, q.Line, q.Hunk = in.Comment.Path, in.Comment.Line, in.Comment.Hunk
			if in.Comment.On == onThread {
				q.Thread = in.Comment.Thread
			}
		}
		out = append(out, q)
	}
	return out
}
