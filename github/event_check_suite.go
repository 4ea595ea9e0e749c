package github

import "github.com/liaison-bot/liaison/sessions"

// mapCheckSuite maps the event check_suite.
// Fields: https://docs.github.com/webhooks/webhook-events-and-payloads#check_suite
func mapCheckSuite(e event) (sessions.Intent, error) {
	switch e.Action {
	case "requested":
		return ignore("check_suite.requested: a push; the pull request's own event says what is due"), nil
	case "rerequested":
		return e.rerun(e.CheckSuite.hookCheck, version(e.CheckSuite.UpdatedAt, e.delivery.Body))
	case "completed":
		if e.self.AppID > 0 && e.CheckSuite.App.ID == e.self.AppID {
			return ignore("check_suite.completed: our own check, for which nothing waits"), nil
		}
		return e.wake(e.CheckSuite.HeadSHA, "check_suite.head_sha")
	}
	return e.pointless()
}
