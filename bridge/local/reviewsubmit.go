package local

import (
	"context"

	"github.com/liaison-bot/liaison/bridge/local/reviewer"
)

// toolSubmitReview is the caller's tool that takes a review with its findings.
const toolSubmitReview = "submit_review"

// maxSubmitted bounds the findings that are handed in, the worst first; the text
// of the review counts the others.
const maxSubmitted = 200

// submit hands the review in where the caller has a tool for it. The rules give
// no verdict: they know too little to approve of anything, or to stop it. What
// the tool answers changes nothing, since the review is the answer's text too;
// the only error is the end of ctx.
func submit(ctx context.Context, t task, r reviewer.Report) error {
	if !t.offers(toolSubmitReview) {
		return nil
	}
	findings := []any{}
	for _, f := range r.Findings[:min(len(r.Findings), maxSubmitted)] {
		one := map[string]any{"severity": string(f.Severity), "title": f.Title, "body": f.Body}
		if f.Path != "" {
			one["path"] = f.Path
		}
		if f.Line > 0 {
			one["line"], one["side"] = f.Line, f.Side
		}
		findings = append(findings, one)
	}
	_, _ = t.CallCustom(ctx, "submit", toolSubmitReview, map[string]any{
		"verdict": "comment", "summary": r.Overview(), "findings": findings,
	})
	return ctx.Err()
}
