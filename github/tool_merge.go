package github

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/github/evidence"
	"github.com/liaison-bot/liaison/tools"
)

const mergeSchema = `{
  "type": "object", "additionalProperties": false,
  "properties": {
    "method": {"type": "string", "enum": ["merge", "squash", "rebase"], "description": "How; merge where it is left out."},
    "title": {"type": "string", "maxLength": 250, "description": "The title of the commit; GitHub's own where it is left out."},
    "message": {"type": "string", "maxLength": 20000, "description": "The rest of the commit's message."},
    "reason": {"type": "string", "maxLength": 500, "description": "Why, for people who decide about it."}
  }
}`

type mergeInput struct {
	Method  string `json:"method"`
	Title   string `json:"title"`
	Message string `json:"message"`
}

// How long it is waited for GitHub to find out whether a pull request can be merged:
// "The value of the mergeable attribute can be true, false, or null", which is until then.
// https://docs.github.com/rest/pulls/pulls#get-a-pull-request
const (
	mergeableLooks = 6
	mergeableWait  = 2 * time.Second
)

// mergeTool merges the pull request. A person always decides about it, whatever the
// agent's folder says.
func (c *Channel) mergeTool() tools.Tool {
	return tools.Tool{
		Name: "merge_pull_request",
		Description: "Merge this pull request at the head that this turn is about. A person decides about each call. " +
			"It is refused where the head has moved, or GitHub would not let it be merged.",
		InputSchema: json.RawMessage(mergeSchema),
		DryRun:      json.RawMessage(`{"merged":false,"reason":"dry run"}`),
		Gate:        &tools.Gate{Needs: func(tools.Call) (bool, error) { return true, nil }, Risk: approvals.RiskHigh},
		Run:         hostTool(c, c.merge),
		Look:        hostTool(c, lookForMerge),
	}
}

// mergedPull is what is known of a merge.
type mergedPull struct {
	Merged bool   `json:"merged"`
	SHA    string `json:"sha"`
}

// livePull is what GitHub says of merging a pull request.
type livePull struct {
	State     string `json:"state"`
	Draft     bool   `json:"draft"`
	Merged    bool   `json:"merged"`
	Mergeable *bool  `json:"mergeable"`
	// MergeableState is not documented for the REST API; these are the words of GraphQL.
	// https://docs.github.com/graphql/reference/enums#mergestatestatus
	MergeableState string `json:"mergeable_state"`
	MergeCommit    string `json:"merge_commit_sha"`
	Head           struct {
		SHA string `json:"sha"`
	} `json:"head"`
	Base struct {
		Ref string `json:"ref"`
	} `json:"base"`
}

func (c *Channel) merge(ctx context.Context, h *hostCall, in mergeInput) (tools.Result, error) {
	const doing = "merge the pull request"
	if h.call.ApprovalID == "" {
		return tools.Result{}, errors.New("nothing is merged that no person has approved")
	}
	switch pull, err := h.settledPull(ctx); {
	case err != nil:
		return tools.Result{}, h.refused(err, doing, "pull_requests: read")
	case h.unmergeable(pull) != "":
		return tools.Result{}, errors.New("not merged: " + h.unmergeable(pull))
	}
	repo, err := h.app.elevated(ctx, h.repo.id, map[string]string{"contents": "write"})
	if err != nil {
		return tools.Result{}, h.refused(err, doing, "contents: write")
	}
	body := struct {
		SHA     string `json:"sha"`
		Method  string `json:"merge_method"`
		Title   string `json:"commit_title,omitempty"`
		Message string `json:"commit_message,omitempty"`
	}{h.Head, cmp.Or(in.Method, "merge"), c.redact(oneLine(in.Title)), c.redact(in.Message)}
	req, err := repo.client.NewRequest(http.MethodPut, h.path("pulls/%d/merge", h.Number), body)
	if err != nil {
		return tools.Result{}, err
	}
	var done mergedPull
	_, err = repo.client.Do(ctx, req, &done)
	switch {
	case status(err) == http.StatusMethodNotAllowed:
		return tools.Result{}, fmt.Errorf("not merged: GitHub refuses it: %w", err)
	case status(err) == http.StatusConflict:
		return tools.Result{}, fmt.Errorf("not merged: the head moved meanwhile: %w", err)
	case unsureWrite(err), err == nil && (!done.Merged || done.SHA == ""):
		found, looked := lookForMerge(ctx, h, in)
		if looked != nil || found.IsError {
			return tools.Result{}, fmt.Errorf("GitHub does not say whether it merged the pull request, and does not show it as merged now: %w", cmp.Or(err, looked, evidence.ErrNoAnswer))
		}
		return found, nil
	case err != nil:
		return tools.Result{}, h.refused(err, doing, "contents: write")
	}
	return answered(fmt.Sprintf("The pull request is merged, as %s.", done.SHA), done)
}

// settledPull reads the pull request once GitHub knows whether it can be merged, or
// does not find that out in time.
func (h *hostCall) settledPull(ctx context.Context) (livePull, error) {
	if _, err := h.live(ctx); err != nil { // which follows a rename, and knows the repository by its id
		return livePull{}, err
	}
	for look := 1; ; look++ {
		pull, err := h.readPull(ctx)
		if err != nil || pull.Mergeable != nil || pull.State != "open" || look == mergeableLooks {
			return pull, err
		}
		select {
		case <-time.After(mergeableWait):
		case <-ctx.Done():
			return pull, ctx.Err()
		}
	}
}

func (h *hostCall) readPull(ctx context.Context) (livePull, error) {
	var pull livePull
	err := get(ctx, h.repo.client, h.path("pulls/%d", h.Number), &pull)
	if err == nil && !validSHA(pull.Head.SHA) {
		err = evidence.ErrNoAnswer
	}
	return pull, err
}

// unmergeable says why a pull request is not merged as it was agreed to, or "".
func (h *hostCall) unmergeable(p livePull) string {
	switch {
	case p.Merged:
		return "it is merged already"
	case p.State != "open":
		return "it is closed"
	case p.Head.SHA != h.Head:
		return fmt.Sprintf("its head is %s by now, and %s was agreed to", short(p.Head.SHA), short(h.Head))
	case p.Draft:
		return "it is a draft"
	case p.Mergeable == nil:
		return "GitHub has not found out yet whether it can be merged; ask again in a minute"
	case !*p.Mergeable || p.MergeableState == "dirty":
		return "it has conflicts with its base"
	case p.MergeableState == "blocked":
		return "GitHub blocks it: required checks or reviews are missing"
	case p.MergeableState == "behind":
		return "it is behind its base, and has to be brought up to date first"
	case h.Base != "" && p.Base.Ref != h.Base:
		return "it goes into another branch by now than the one that was agreed to"
	}
	return ""
}

func lookForMerge(ctx context.Context, h *hostCall, _ mergeInput) (tools.Result, error) {
	pull, err := h.readPull(ctx)
	switch {
	case err != nil:
		return tools.Result{}, errors.Join(tools.ErrOutcomeUnknown, err)
	case pull.Merged && pull.Head.SHA == h.Head:
		return answered(fmt.Sprintf("The pull request is merged, as %s.", pull.MergeCommit), mergedPull{true, pull.MergeCommit})
	case pull.Merged:
		return undone("The pull request was merged at another head: %s.", short(pull.Head.SHA))
	}
	return undone("The pull request is not merged.")
}
