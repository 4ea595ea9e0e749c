package github

import "github.com/liaison-bot/liaison/sessions"

// mapInstallationTarget maps the event installation_target.
// Fields: https://docs.github.com/webhooks/webhook-events-and-payloads#installation_target
func mapInstallationTarget(e event) (sessions.Intent, error) {
	if e.Action != "renamed" {
		return e.pointless()
	}
	return ignore("installation_target.renamed: repositories are known by their ids, and their names follow"), nil
}
