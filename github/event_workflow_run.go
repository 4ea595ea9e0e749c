package github

import "github.com/liaison-bot/liaison/sessions"

// mapWorkflowRun maps the event workflow_run.
// Fields: https://docs.github.com/webhooks/webhook-events-and-payloads#workflow_run
func mapWorkflowRun(e event) (sessions.Intent, error) {
	if e.Action != "completed" {
		return e.pointless()
	}
	return e.wake(e.WorkflowRun.HeadSHA, "workflow_run.head_sha")
}
