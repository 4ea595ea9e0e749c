package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/liaison-bot/liaison/tools"
)

const setLabelsSchema = `{
  "type": "object", "additionalProperties": false,
  "anyOf": [{"required": ["add"]}, {"required": ["remove"]}],
  "properties": {
    "add": {"type": "array", "minItems": 1, "maxItems": 20, "items": {"type": "string", "minLength": 1, "maxLength": 50}, "description": "Labels to set."},
    "remove": {"type": "array", "minItems": 1, "maxItems": 20, "items": {"type": "string", "minLength": 1, "maxLength": 50}, "description": "Labels to take away."},
    "create": {"type": "boolean", "description": "Make labels that the repository does not have. Otherwise they are refused."},
    "reason": {"type": "string", "maxLength": 500, "description": "Why, for people who decide about it."}
  }
}`

type setLabelsInput struct {
	Add    []string `json:"add"`
	Remove []string `json:"remove"`
	Create bool     `json:"create"`
}

// setLabelsTool sets labels and takes them away.
func (c *Channel) setLabelsTool() tools.Tool {
	return tools.Tool{
		Name:        "set_labels",
		Description: "Set labels of this pull request, or take them away.",
		InputSchema: json.RawMessage(setLabelsSchema),
		DryRun:      json.RawMessage(`{"labels":null,"reason":"dry run"}`),
		Run:         hostTool(c, setLabels),
		Look:        hostTool(c, lookForLabels),
	}
}

type pullLabels struct {
	Labels []string `json:"labels"`
}

// setLabels can be repeated: a label is set or not, however often.
func setLabels(ctx context.Context, h *hostCall, in setLabelsInput) (tools.Result, error) {
	const doing = "set labels"
	needs := []string{"pull_requests: write", "issues: write"}
	if _, err := h.live(ctx); err != nil {
		return tools.Result{}, h.refused(err, doing, needs...)
	}
	if !in.Create {
		if err := h.labelsExist(ctx, in.Add); err != nil {
			return tools.Result{}, err
		}
	}
	path := h.path("issues/%d/labels", h.Number)
	if len(in.Add) > 0 {
		body := struct {
			Labels []string `json:"labels"`
		}{in.Add}
		if err := h.change(ctx, http.MethodPost, path, body); err != nil {
			return tools.Result{}, h.refused(err, doing, needs...)
		}
	}
	for _, name := range in.Remove {
		err := h.change(ctx, http.MethodDelete, path+"/"+url.PathEscape(name), nil)
		if err != nil && !notFound(err) { // which is not there any more
			return tools.Result{}, h.refused(err, doing, needs...)
		}
	}
	return lookForLabels(ctx, h, in)
}

// labelsExist refuses labels that the repository does not have: GitHub would make
// them, and a slip of the pen would be there for ever.
func (h *hostCall) labelsExist(ctx context.Context, names []string) error {
	var unknown []string
	for _, name := range names {
		var label struct{}
		err := get(ctx, h.repo.client, h.path("labels/%s", url.PathEscape(name)), &label)
		switch {
		case notFound(err):
			unknown = append(unknown, fmt.Sprintf("%q", name))
		case err != nil:
			return h.refused(err, "read the labels", "pull_requests: read")
		}
	}
	if len(unknown) > 0 {
		return fmt.Errorf(`the repository has no label %s; nothing was changed: use one that it has, or say "create": true`, strings.Join(unknown, ", "))
	}
	return nil
}

// change makes one write whose answer does not matter.
func (h *hostCall) change(ctx context.Context, method, path string, body any) error {
	req, err := h.repo.client.NewRequest(method, path, body)
	if err != nil {
		return err
	}
	_, err = h.repo.client.Do(ctx, req, nil)
	return err
}

func lookForLabels(ctx context.Context, h *hostCall, in setLabelsInput) (tools.Result, error) {
	pull, err := h.live(ctx)
	if err != nil {
		return tools.Result{}, errors.Join(tools.ErrOutcomeUnknown, err)
	}
	has := func(name string) bool { return containsFold(pull.Labels, name) }
	var wrong []string
	for _, name := range in.Add {
		if !has(name) {
			wrong = append(wrong, fmt.Sprintf("%q is not set", name))
		}
	}
	for _, name := range in.Remove {
		if has(name) && !containsFold(in.Add, name) {
			wrong = append(wrong, fmt.Sprintf("%q is still set", name))
		}
	}
	if len(wrong) > 0 {
		return undone("The labels are not as they should be: %s.", strings.Join(wrong, ", "))
	}
	now := slices.Sorted(slices.Values(pull.Labels))
	text := "The pull request has no labels now."
	if len(now) > 0 {
		text = "The pull request has these labels now: " + strings.Join(now, ", ") + "."
	}
	return answered(text, pullLabels{now})
}
