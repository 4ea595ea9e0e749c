package github

import "github.com/liaison-bot/liaison/sessions"

// mapRepository maps the event repository.
// Fields: https://docs.github.com/webhooks/webhook-events-and-payloads#repository
func mapRepository(e event) (sessions.Intent, error) {
	switch e.Action {
	case "deleted":
		return e.lost([]hookRepo{e.Repository})
	case "renamed", "transferred":
		return ignore("repository.%s: repositories are known by their ids, and the name follows", e.Action), nil
	}
	return e.pointless()
}
