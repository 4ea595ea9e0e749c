package github

import (
	"context"
	"fmt"
	"strings"

	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

// lineComment is the part of GitHub's comment on a line that is used.
type lineComment struct {
	written
	Path string `json:"path"`
	// Line is nil once the line is not what it was: the comment is outdated.
	Line *int `json:"line"`
	// OriginalCommit is the head that the comment was written for.
	OriginalCommit string `json:"original_commit_id"`
	// InReplyTo is the first comment of the thread, 0 for that itself.
	InReplyTo int64 `json:"in_reply_to_id"`
}

// thread is a conversation that we began on a line with a finding.
type thread struct {
	first lineComment
	// finding is the fingerprint.
	finding string
	// answers are all comments after the first.
	answers []lineComment
}

// findingMark begins each comment of ours on a line.
var findingMark = lazyregexp.New(`^<!-- liaison:finding ([0-9a-f]{32}) -->`)

// threads lists the threads that we began, oldest first. Anybody can copy a
// mark; the author of the first comment decides.
func (w *writer) threads(ctx context.Context) ([]thread, error) {
	self, err := w.self(ctx)
	if err != nil {
		return nil, err
	}
	var own []thread
	at := map[int64]int{}
	var answers []lineComment
	err = each(ctx, w.repo.client, w.path("pulls/%d/comments", w.Number), func(c lineComment) bool {
		switch m := findingMark.FindStringSubmatch(c.Body); {
		case c.InReplyTo != 0:
			answers = append(answers, c)
		case m != nil && c.by(self):
			at[c.ID] = len(own)
			own = append(own, thread{first: c, finding: m[1]})
		}
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("list the comments on lines: %w", err)
	}
	for _, c := range answers {
		if i, ok := at[c.InReplyTo]; ok {
			own[i].answers = append(own[i].answers, c)
		}
	}
	return own, nil
}

// outdated reports whether the line that a thread is about is another by now.
func (t thread) outdated() bool { return t.first.Line == nil }

// asked reports whether the last word in a thread is a person's question, which
// is not for us to close.
func (t thread) asked(self Self) bool {
	if len(t.answers) == 0 {
		return false
	}
	last := t.answers[len(t.answers)-1]
	return !last.by(self) && strings.Contains(last.Body, "?")
}

// said reports whether we answered in a thread with this mark.
func (t thread) said(self Self, mark string) bool {
	for _, c := range t.answers {
		if c.by(self) && strings.HasPrefix(c.Body, mark) {
			return true
		}
	}
	return false
}

// unresolved maps the first comments of a pull request's threads that nobody
// has resolved to the ids by which they can be. REST knows neither.
// https://docs.github.com/graphql/reference/objects#pullrequestreviewthread
func (w *writer) unresolved(ctx context.Context) (map[int64]string, error) {
	const query = `query($owner: String!, $repo: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $repo) {
    pullRequest(number: $number) {
      reviewThreads(first: 100, after: $after) {
        nodes { id isResolved comments(first: 1) { nodes { databaseId } } }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
}`
	open := map[int64]string{}
	after := (*string)(nil)
	for range maxCommentPages {
		owner, repo := w.names()
		var data struct {
			Repository struct {
				PullRequest struct {
					ReviewThreads struct {
						Nodes []struct {
							ID         string `json:"id"`
							IsResolved bool   `json:"isResolved"`
							Comments   struct {
								Nodes []struct {
									DatabaseID int64 `json:"databaseId"`
								} `json:"nodes"`
							} `json:"comments"`
						} `json:"nodes"`
						PageInfo struct {
							HasNextPage bool   `json:"hasNextPage"`
							EndCursor   string `json:"endCursor"`
						} `json:"pageInfo"`
					} `json:"reviewThreads"`
				} `json:"pullRequest"`
			} `json:"repository"`
		}
		vars := map[string]any{"owner": owner, "repo": repo, "number": w.Number, "after": after}
		if err := w.repo.graphQL(ctx, query, vars, &data); err != nil {
			return nil, fmt.Errorf("list the threads: %w", err)
		}
		list := data.Repository.PullRequest.ReviewThreads
		for _, n := range list.Nodes {
			if !n.IsResolved && len(n.Comments.Nodes) > 0 {
				open[n.Comments.Nodes[0].DatabaseID] = n.ID
			}
		}
		if !list.PageInfo.HasNextPage {
			break
		}
		after = &list.PageInfo.EndCursor
	}
	return open, nil
}
