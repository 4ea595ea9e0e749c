package github

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/liaison-bot/liaison/tools"
)

const requestReviewersSchema = `{
  "type": "object", "additionalProperties": false,
  "anyOf": [{"required": ["reviewers"]}, {"required": ["teams"]}],
  "properties": {
    "reviewers": {"type": "array", "minItems": 1, "maxItems": 15, "items": {"type": "string", "pattern": "^[A-Za-z0-9-]{1,39}$"}, "description": "Logins, without @."},
    "teams": {"type": "array", "minItems": 1, "maxItems": 15, "items": {"type": "string", "pattern": "^[A-Za-z0-9._-]{1,100}$"}, "description": "Teams of the repository's organisation, by the name in their address."},
    "reason": {"type": "string", "maxLength": 500, "description": "Why, for people who decide about it."}
  }
}`

type requestReviewersInput struct {
	Reviewers []string `json:"reviewers"`
	Teams     []string `json:"teams"`
}

// requestReviewersTool asks people and teams for a review.
func (c *Channel) requestReviewersTool() tools.Tool {
	return tools.Tool{
		Name:        "request_reviewers",
		Description: "Ask people or teams to review this pull request. They are notified.",
		InputSchema: json.RawMessage(requestReviewersSchema),
		DryRun:      json.RawMessage(`{"requested":false,"reason":"dry run"}`),
		Run:         hostTool(c, requestReviewers),
		Look:        hostTool(c, lookForReviewers),
	}
}

// requestReviewers can be repeated: who was asked is asked.
func requestReviewers(ctx context.Context, h *hostCall, in requestReviewersInput) (tools.Result, error) {
	const doing = "ask for reviews"
	switch pull, err := h.live(ctx); {
	case err != nil:
		return tools.Result{}, h.refused(err, doing, "pull_requests: write")
	case pull.State != "open":
		return tools.Result{}, errors.New("the pull request is closed: nobody is asked to review it")
	}
	body := struct {
		Reviewers []string `json:"reviewers,omitempty"`
		Teams     []string `json:"team_reviewers,omitempty"`
	}{in.Reviewers, in.Teams}
	if err := h.change(ctx, http.MethodPost, h.reviewersPath(), body); err != nil {
		return tools.Result{}, h.refused(err, doing, "pull_requests: write")
	}
	return lookForReviewers(ctx, h, in)
}

func (h *hostCall) reviewersPath() string { return h.path("pulls/%d/requested_reviewers", h.Number) }

type requestedReviewers struct {
	Reviewers []string `json:"reviewers"`
	Teams     []string `json:"teams"`
}

func lookForReviewers(ctx context.Context, h *hostCall, in requestReviewersInput) (tools.Result, error) {
	var now struct {
		Users []struct{ Login string }
		Teams []struct{ Slug string }
	}
	if err := get(ctx, h.repo.client, h.reviewersPath(), &now); err != nil {
		return tools.Result{}, errors.Join(tools.ErrOutcomeUnknown, err)
	}
	asked := requestedReviewers{Reviewers: []string{}, Teams: []string{}}
	for _, u := range now.Users {
		asked.Reviewers = append(asked.Reviewers, u.Login)
	}
	for _, t := range now.Teams {
		asked.Teams = append(asked.Teams, t.Slug)
	}
	var missing []string
	for _, login := range in.Reviewers {
		if !containsFold(asked.Reviewers, login) {
			missing = append(missing, login)
		}
	}
	for _, slug := range in.Teams {
		if !containsFold(asked.Teams, slug) {
			missing = append(missing, "the team "+slug)
		}
	}
	if len(missing) > 0 {
		return undone("These are not among the requested reviewers; they may have reviewed meanwhile: %s.", strings.Join(missing, ", "))
	}
	return answered("They are asked to review.", asked)
}
