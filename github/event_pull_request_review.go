package github

import "github.com/liaison-bot/liaison/sessions"

// mapPullRequestReview maps the event pull_request_review. The comments on
// lines that come with a review have events of their own; a single one of them
// makes a review without a body.
// Fields: https://docs.github.com/webhooks/webhook-events-and-payloads#pull_request_review
func mapPullRequestReview(e event) (sessions.Intent, error) {
	switch e.Action {
	case "submitted":
	case "edited", "dismissed":
		return ignore("pull_request_review.%s: only a new review asks for something", e.Action), nil
	default:
		return e.pointless()
	}
	w := e.Review.hookText
	w.Created = e.Review.Submitted
	return e.spoken(onReview, w, e.pull)
}
