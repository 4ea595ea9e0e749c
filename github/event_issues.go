package github

import (
	"fmt"

	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/tools"
)

// mapIssues maps the event issues. An issue is a session of its own.
// Fields: https://docs.github.com/webhooks/webhook-events-and-payloads#issues
func mapIssues(e event) (sessions.Intent, error) {
	switch e.Action {
	case "opened", "labeled":
		return e.issueAsks()
	case "deleted", "transferred":
		r, err := e.issue()
		if err != nil {
			return sessions.Intent{}, err
		}
		r.Issue = true
		in := e.intent(sessions.ActionArchive, r)
		in.Fact = fmt.Sprintf("github:issues:%s:%d/%d", e.Action, r.Repository, r.Number)
		return in, nil
	case "edited":
		return ignore("issues.edited: only a new issue, or a label, asks for something"), nil
	}
	return e.pointless()
}

// issueAsks maps an issue that may ask for an answer: it names us, or the
// repository's configuration says so.
func (e event) issueAsks() (sessions.Intent, error) {
	r, err := e.issue()
	if err != nil {
		return sessions.Intent{}, err
	}
	if e.self.wrote(hookText{User: e.Issue.User, App: e.Issue.App}) {
		return ignore("%s: our own doing", e.word()), nil
	}
	if e.old(e.Issue.UpdatedAt) {
		return ignore("%s: it is from %s, too long ago to be taken up", e.word(), quote(e.Issue.UpdatedAt)), nil
	}
	r.Issue, r.Kind = true, kindAsk
	fact := fmt.Sprintf("github:issues:%s:%d/%d", e.Action, r.Repository, r.Number)
	if e.Action == "labeled" {
		r.Label = oneLine(e.Label.Name)
		fact += fmt.Sprintf(":%d:%s", e.Label.ID, version(e.Issue.UpdatedAt, e.delivery.Body))
	} else {
		// Who moves an issue here has not written it.
		r.Actor = same(r.Actor, e.Issue.User.account())
		if cmd, ok := parseCommand(tools.Cut(e.Issue.Body, maxRemark, ""), e.self.Handle, true); ok {
			r.Command, r.Trigger = cmd, cmd.trigger()
		}
		switch r.Command.Verb {
		case verbStop:
			return ignore("%s: nothing runs yet that could be stopped", e.word()), nil
		case verbReview:
			r.Kind = kindReview
		}
	}
	in := e.intent(sessions.ActionRun, r)
	in.Weigh = true
	in.Admission = sessions.AdmitCoalesce
	in.Fact = fact
	in.Message = tools.Cut(oneLine(e.Issue.Title)+"\n\n"+e.Issue.Body, maxRemark, "")
	return in, nil
}
