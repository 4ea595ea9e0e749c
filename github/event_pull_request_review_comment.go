package github

import "github.com/liaison-bot/liaison/sessions"

// mapPullRequestReviewComment maps the event pull_request_review_comment: a
// comment on a line, or a reply to one.
// Fields: https://docs.github.com/webhooks/webhook-events-and-payloads#pull_request_review_comment
func mapPullRequestReviewComment(e event) (sessions.Intent, error) {
	switch e.Action {
	case "created":
	case "edited", "deleted":
		return ignore("pull_request_review_comment.%s: only a new comment asks for something", e.Action), nil
	default:
		return e.pointless()
	}
	return e.spoken(onThread, e.Comment.hookText, e.pull)
}
