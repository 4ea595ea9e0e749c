package github

// Subscription is a webhook event that the App asks for.
// https://docs.github.com/webhooks/webhook-events-and-payloads
type Subscription struct {
	// Event is GitHub's word, such as "pull_request".
	Event string
	// Permission is the one without which GitHub lets no App subscribe to it; any
	// level will do.
	Permission string
	// Feature is what it is for.
	Feature string
}

// Subscriptions lists the events that the App asks for. Those about the App
// itself, such as "installation", come without being asked for.
func Subscriptions() []Subscription {
	return []Subscription{
		{"pull_request", "pull_requests", "Reviews a pull request when it is opened, changed, marked ready or labelled."},
		{"issue_comment", "issues", "Hears commands and questions in comments, on pull requests as well."},
		{"pull_request_review", "pull_requests", "Hears questions in the text of a review."},
		{"pull_request_review_comment", "pull_requests", "Hears questions and answers in review threads."},
		{"issues", "issues", "Hears questions in issues."},
		{"check_run", "checks", `Runs a review again on "Re-run".`},
		{"check_suite", "checks", `Runs a review again on "Re-run all", and ends waits for checks.`},
		{"status", "statuses", "Ends waits for commit statuses."},
		{"workflow_run", "actions", "Ends waits for workflow runs."},
		{"merge_group", "merge_queues", "Concludes the check of a merge group."},
		{"repository", "metadata", "Follows a repository that is renamed, transferred or deleted."},
	}
}
