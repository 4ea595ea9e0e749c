package github

import (
	"fmt"

	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/state"
)

// maxLabels is how many labels of a pull request or an issue are kept: GitHub
// allows 100 on one. https://docs.github.com/rest/issues/labels
const maxLabels = 100

// mapPullRequest maps the event pull_request.
// Fields: https://docs.github.com/webhooks/webhook-events-and-payloads#pull_request
func mapPullRequest(e event) (sessions.Intent, error) {
	switch e.Action {
	case "opened", "reopened", "ready_for_review", "synchronize", "labeled", "unlabeled":
		return e.reviewWanted()
	case "edited":
		if e.Changes.Base == nil {
			return ignore("pull_request.edited: the base branch stays, and so does what a review looks at"), nil
		}
		return e.reviewWanted()
	case "review_requested":
		if e.RequestedTeam.ID <= 0 {
			return ignore("pull_request.review_requested: a person was asked, and no team"), nil
		}
		return e.reviewWanted()
	case "converted_to_draft":
		return e.madeDraft()
	case "closed":
		return e.closed()
	}
	return e.pointless()
}

// reviewWanted maps what makes a review due, if the repository's configuration
// says so too.
func (e event) reviewWanted() (sessions.Intent, error) {
	r, in, err := e.pullIntent(sessions.ActionRun)
	if err != nil {
		return in, err
	}
	if e.PullRequest.State == "closed" {
		return ignore("%s: %s is closed", e.word(), r.name()), nil
	}
	in.Weigh = true
	in.Admission = sessions.AdmitPreempt
	// Reopening is how a person asks for a failed review again, and another base
	// makes another change of the same head.
	in.Force = e.Action == "reopened" || e.Action == "edited"
	in.Message = fmt.Sprintf("Review pull request %s at %s.", r.name(), r.Head)
	return in, nil
}

// madeDraft stops what runs: its author has said that it is not ready.
func (e event) madeDraft() (sessions.Intent, error) {
	r, in, err := e.pullIntent(sessions.ActionStop)
	if err == nil && r.Actor.ID == 0 {
		return ignore("%s on %s: nobody knows who did it, so that nobody's work is stopped", e.word(), r.name()), nil
	}
	return in, err
}

func (e event) closed() (sessions.Intent, error) {
	_, in, err := e.pullIntent(sessions.ActionArchive)
	return in, err
}

// pullIntent begins an intent about the payload's pull request.
func (e event) pullIntent(action sessions.Action) (request, sessions.Intent, error) {
	r, err := e.pull()
	if err != nil {
		return r, sessions.Intent{}, err
	}
	if e.Action == "synchronize" && validSHA(e.Before) {
		r.Previous = e.Before
	}
	fact := fmt.Sprintf("github:pull_request:%s:%d/%d:%s:%s", e.Action, r.Repository, r.Number, r.Head,
		version(e.PullRequest.UpdatedAt, e.delivery.Body))
	switch e.Action {
	case "labeled", "unlabeled":
		r.Label = oneLine(e.Label.Name)
		fact += fmt.Sprintf(":label:%d", e.Label.ID)
	case "review_requested":
		r.Team = oneLine(e.RequestedTeam.Slug)
		fact += fmt.Sprintf(":team:%d", e.RequestedTeam.ID)
	}
	in := e.intent(action, r)
	in.Fact = fact
	in.Revision = state.Revision{ID: r.Head, Previous: r.Previous, At: r.UpdatedAt}
	if in.Revision.At.IsZero() {
		in.Revision.At = e.delivery.ReceivedAt
	}
	return r, in, nil
}

// pull picks what the work needs to know of the payload's pull request.
func (e event) pull() (request, error) {
	p := e.PullRequest
	r, err := e.origin()
	if err != nil {
		return r, err
	}
	r.Number = p.Number
	if r.Number == 0 {
		r.Number = e.Number
	}
	switch {
	case r.Number <= 0:
		return r, missing("pull_request.number")
	case !validSHA(p.Head.SHA):
		return r, missing("pull_request.head.sha")
	}
	r.Head = p.Head.SHA
	r.HeadRepository = max(p.Head.Repo.ID, 0)
	r.Base = oneLine(p.Base.Ref)
	r.Title = oneLine(p.Title)
	r.Author = p.User.account()
	r.Draft = p.Draft
	r.Labels = labelNames(p.Labels)
	r.UpdatedAt = parseTime(p.UpdatedAt)
	return r, nil
}

func labelNames(labels []hookLabel) []string {
	var names []string
	for _, l := range labels[:min(len(labels), maxLabels)] {
		if name := oneLine(l.Name); name != "" {
			names = append(names, name)
		}
	}
	return names
}
