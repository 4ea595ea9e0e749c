package github

import (
	"errors"
	"fmt"

	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/state"
)

// mapPullRequest maps the event pull_request.
// Fields: https://docs.github.com/webhooks/webhook-events-and-payloads#pull_request
func mapPullRequest(d sessions.Delivery, self Self) (sessions.Intent, error) {
	p, err := decode(d.Body)
	if err != nil {
		return sessions.Intent{}, fmt.Errorf("pull_request: %w", err)
	}
	action := sessions.ActionRun
	switch p.Action {
	case "opened", "reopened", "ready_for_review", "synchronize":
	case "closed":
		action = sessions.ActionArchive
	case "":
		return sessions.Intent{}, errors.New("pull_request: the payload names no action")
	default:
		return ignore("pull_request: action %s asks for nothing", quote(p.Action)), nil
	}
	if self.BotID != 0 && p.Sender.ID == self.BotID {
		return ignore("pull_request.%s: our own doing", p.Action), nil
	}
	r, err := p.request()
	if err != nil {
		if errors.Is(err, errForeignHook) && d.Headers[targetHeader] != "" {
			err = fmt.Errorf("%w; %s says %s", err, targetHeader, quote(d.Headers[targetHeader]))
		}
		return sessions.Intent{}, fmt.Errorf("pull_request.%s: %w", p.Action, err)
	}
	if action == sessions.ActionRun {
		if p.PullRequest.State == "closed" {
			return ignore("pull_request.%s: %s is closed", p.Action, r.name()), nil
		}
		if p.PullRequest.Draft && p.Action != "ready_for_review" {
			return ignore("pull_request.%s: %s is a draft; it is reviewed when it is marked ready for review", p.Action, r.name()), nil
		}
	}
	revision := state.Revision{ID: r.Head, Previous: r.Previous, At: r.UpdatedAt}
	if revision.At.IsZero() {
		revision.At = d.ReceivedAt
	}
	return sessions.Intent{
		Action:  action,
		Reason:  fmt.Sprintf("pull_request.%s on %s at %s", p.Action, r.name(), short(r.Head)),
		Key:     r.key(),
		Aliases: []string{"pr:" + r.name()},
		Fact: fmt.Sprintf("github:pull_request:%s:%d/%d:%s:%s", p.Action, r.Repository, r.Number, r.Head,
			version(p.PullRequest.UpdatedAt, d.Body)),
		Title:     fmt.Sprintf("%s %s", r.name(), r.Title),
		Principal: principal(p.Sender.ID),
		Mode:      state.ModeChat,
		Admission: sessions.AdmitPreempt,
		Revision:  revision,
		// Reopening is how a person asks for a failed review again.
		Force:   p.Action == "reopened",
		Message: fmt.Sprintf("Review pull request %s at %s.", r.name(), r.Head),
		Request: r.encode(),
	}, nil
}

// request picks what the work needs out of the payload.
func (p payload) request() (request, error) {
	pull := p.PullRequest
	number := pull.Number
	if number == 0 {
		number = p.Number
	}
	missing := func(field string) (request, error) {
		return request{}, fmt.Errorf("the payload has no usable %s", field)
	}
	switch _, _, named := splitName(p.Repository.FullName); {
	case p.Installation.ID <= 0:
		return request{}, errForeignHook
	case p.Repository.ID <= 0:
		return missing("repository.id")
	case !named:
		return missing("repository.full_name")
	case number <= 0:
		return missing("pull_request.number")
	case !validSHA(pull.Head.SHA):
		return missing("pull_request.head.sha")
	}
	previous := ""
	if p.Action == "synchronize" && validSHA(p.Before) {
		previous = p.Before
	}
	return request{
		Installation: p.Installation.ID,
		Repository:   p.Repository.ID,
		FullName:     p.Repository.FullName,
		Number:       number,
		Head:         pull.Head.SHA,
		Previous:     previous,
		Base:         oneLine(pull.Base.Ref),
		Title:        oneLine(pull.Title),
		UpdatedAt:    parseTime(pull.UpdatedAt),
	}, nil
}

// principal names the person who acted. Nobody can be on a list as "unknown".
func principal(id int64) string {
	if id <= 0 {
		return "github:user:unknown"
	}
	return fmt.Sprintf("github:user:%d", id)
}
