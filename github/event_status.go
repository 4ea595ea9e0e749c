package github

import "github.com/liaison-bot/liaison/sessions"

// mapStatus maps the event status: a commit status, which has no action.
// Fields: https://docs.github.com/webhooks/webhook-events-and-payloads#status
func mapStatus(e event) (sessions.Intent, error) {
	if e.State == "pending" {
		return ignore("status: still pending"), nil
	}
	return e.wake(e.SHA, "sha")
}
