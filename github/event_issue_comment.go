package github

import "github.com/liaison-bot/liaison/sessions"

// mapIssueComment maps the event issue_comment: a comment on an issue, or in
// the conversation of a pull request.
// Fields: https://docs.github.com/webhooks/webhook-events-and-payloads#issue_comment
func mapIssueComment(e event) (sessions.Intent, error) {
	switch e.Action {
	case "created":
	case "edited", "deleted":
		return ignore("issue_comment.%s: only a new comment asks for something", e.Action), nil
	default:
		return e.pointless()
	}
	return e.spoken(onIssue, e.Comment.hookText, func() (request, error) {
		r, err := e.issue()
		r.Issue = e.Issue.PullRequest == nil
		return r, err
	})
}

// issue picks what the work needs to know of the payload's issue, which may be
// a pull request; then its head is not known.
func (e event) issue() (request, error) {
	r, err := e.origin()
	if err != nil {
		return r, err
	}
	if e.Issue.Number <= 0 {
		return r, missing("issue.number")
	}
	r.Number = e.Issue.Number
	r.Title = oneLine(e.Issue.Title)
	r.Author = e.Issue.User.account()
	r.Draft = e.Issue.Draft
	r.Labels = labelNames(e.Issue.Labels)
	return r, nil
}
