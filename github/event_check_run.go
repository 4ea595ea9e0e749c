package github

import (
	"fmt"

	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/state"
)

// mapCheckRun maps the event check_run.
// Fields: https://docs.github.com/webhooks/webhook-events-and-payloads#check_run
func mapCheckRun(e event) (sessions.Intent, error) {
	switch e.Action {
	case "rerequested":
		return e.rerun(e.CheckRun, version("", e.delivery.Body))
	case "requested_action":
		return e.pressed()
	}
	return e.pointless()
}

// rerun maps the buttons "Re-run" and "Re-run all checks". The commit is what
// surely names the pull request.
func (e event) rerun(of hookCheck, version string) (sessions.Intent, error) {
	if of.App.ID > 0 && e.self.AppID > 0 && of.App.ID != e.self.AppID {
		return ignore("%s: another App's check", e.word()), nil
	}
	r, err := e.origin()
	if err != nil {
		return sessions.Intent{}, err
	}
	if !validSHA(of.HeadSHA) {
		return sessions.Intent{}, missing(e.name + ".head_sha")
	}
	r.Head = of.HeadSHA
	r.Number = e.onlyPull(of.PullRequests)
	r.Full = true
	in := e.intent(sessions.ActionRun, r)
	in.Weigh, in.Force, in.Admission = true, true, sessions.AdmitPreempt
	in.Fact = fmt.Sprintf("github:%s:%d/%d:%s:%s", e.word(), r.Repository, of.ID, r.Head, version)
	in.Revision = state.Revision{ID: r.Head}
	in.Message = fmt.Sprintf("Review pull request %s at %s again.", r.name(), r.Head)
	return in, nil
}

// onlyPull returns the number of the repository's only pull request among
// those named, and 0 where there is none or a choice.
func (e event) onlyPull(named []hookHead) int {
	number := 0
	for _, p := range named {
		switch {
		case p.Base.Repo.ID != e.Repository.ID || p.Number <= 0:
		case number != 0 && number != p.Number:
			return 0
		default:
			number = p.Number
		}
	}
	return number
}
