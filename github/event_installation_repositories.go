package github

import "github.com/liaison-bot/liaison/sessions"

// mapInstallationRepositories maps the event installation_repositories.
// Fields: https://docs.github.com/webhooks/webhook-events-and-payloads#installation_repositories
func mapInstallationRepositories(e event) (sessions.Intent, error) {
	switch e.Action {
	case "added":
		return e.resumed()
	case "removed":
		return e.lost(e.Removed)
	}
	return e.pointless()
}
