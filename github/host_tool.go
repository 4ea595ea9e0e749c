package github

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/tools"
)

// hostToolTimeout bounds a call of a tool that acts on GitHub.
const hostToolTimeout = 2 * time.Minute

// hostTools are the tools that act on the pull request of the session, and on no other.
func (c *Channel) hostTools() []tools.Tool {
	all := []tools.Tool{c.postCommentTool(), c.setLabelsTool(), c.requestReviewersTool(), c.mergeTool()}
	for i := range all {
		all[i].Offered, all[i].Timeout = onPullRequest, hostToolTimeout
	}
	return all
}

// onPullRequest reports whether a turn is one of a pull request's own.
func onPullRequest(t tools.Turn) bool {
	r, err := parseRequest(t.Request)
	return t.Channel == Name && err == nil && !r.Issue && r.Number > 0 && r.Kind != kindMergeGroup
}

// hostCall is a call of a tool on its way to GitHub.
type hostCall struct {
	*writer
	call tools.Call
}

// hostTool makes the function of a tool out of one that gets the pull request and the
// input, which matches the tool's schema.
func hostTool[I any](c *Channel, do func(context.Context, *hostCall, I) (tools.Result, error)) func(context.Context, tools.Call) (tools.Result, error) {
	return func(ctx context.Context, call tools.Call) (tools.Result, error) {
		if !onPullRequest(call.Turn) {
			return tools.Result{}, errors.New("this is no turn of a pull request, which this tool acts on")
		}
		var in I
		if err := json.Unmarshal(call.Input, &in); err != nil {
			return tools.Result{}, unreadable("tool's input", err)
		}
		r, err := parseRequest(call.Request)
		if err != nil {
			return tools.Result{}, err
		}
		t, err := c.app.target(r)
		if err != nil {
			return tools.Result{}, err
		}
		w := &writer{target: t, app: c.app, item: sessions.Item{SessionID: call.SessionID, TurnID: call.TurnID, Key: r.key(), Surface: call.Surface}}
		return do(ctx, &hostCall{writer: w, call: call}, in)
	}
}

// mark is the hidden line by which what a call wrote is found again.
func (h *hostCall) mark() string {
	return mark("call", cmp.Or(h.call.ApprovalID, h.call.TurnID+"/"+h.call.AgentID+"/"+h.call.CallID))
}

// refused says why GitHub does not do something, and which permission is missing
// where it is one.
func (h *hostCall) refused(err error, doing string, needs ...string) error {
	var missing *NotGrantedError
	switch {
	case errors.As(err, &missing):
		return fmt.Errorf("the App may not %s: %w", doing, err)
	case locked(err):
		return fmt.Errorf("GitHub does not let anybody %s: the conversation is locked: %w", doing, err)
	case forbidden(err):
		return fmt.Errorf("GitHub does not let the App %s; it needs the permission %s, which an owner of the installation can accept in GitHub's settings: %w",
			doing, strings.Join(needs, " or "), err)
	case notFound(err):
		return fmt.Errorf("GitHub does not know what to %s on any more: %w", doing, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// unsureWrite reports whether an error leaves open whether GitHub did what it was asked to.
func unsureWrite(err error) bool {
	return err != nil && (status(err) == 0 || status(err) >= 500)
}

// answered is a result with its facts as JSON.
func answered(text string, facts any) (tools.Result, error) {
	raw, err := compact(facts)
	if err != nil {
		return tools.Result{}, err
	}
	return tools.Result{Text: text, Structured: raw}, nil
}

// undone is the result of a call of which GitHub shows that it was not made.
func undone(format string, args ...any) (tools.Result, error) {
	return tools.Result{Text: fmt.Sprintf(format, args...), IsError: true}, nil
}
