package github

import (
	"context"
	"fmt"
	"net/http"

	"github.com/liaison-bot/liaison/internal/lazyregexp"
	"github.com/liaison-bot/liaison/sessions"
)

// dismiss takes back our own verdicts that do not hold for the request's head
// any more: an approval can count as a required review
// (https://github.com/fullsend-ai/fullsend/issues/827). Nobody else's is touched.
func (w *writer) dismiss(ctx context.Context, p dismissPayload) (sessions.Receipt, error) {
	if w.item.Surface[rememberVerdict] == "" {
		return sessions.Receipt{Note: "nothing dismissed: no verdict of ours stands"}, nil
	}
	where, err := w.stand(ctx)
	if err != nil {
		return sessions.Receipt{}, err
	}
	if why := w.passed(where); why != "" {
		return sessions.Receipt{Note: "nothing dismissed: " + why}, nil
	}
	kept := 0
	old, err := w.ownReviews(ctx, func(r postedReview) bool {
		if r.event() == eventComment {
			return false
		}
		keep := reviewedHead(r) == w.Head && (p.Keep == keepHead || p.Keep == r.event())
		if keep {
			kept++
		}
		return !keep
	})
	if err != nil {
		return sessions.Receipt{}, err
	}
	gone, why := 0, ""
	for _, r := range old {
		var answer written
		path := w.path("pulls/%d/reviews/%d/dismissals", w.Number, r.ID)
		err := w.send(ctx, http.MethodPut, path, struct {
			Message string `json:"message"`
		}{fit(p.Reason, maxReason, "…")}, &answer)
		switch {
		case notFound(err) || refused(err) || forbidden(err):
			// A protected branch lets only some dismiss, and a person may have been first.
			why = fmt.Sprintf("; review %d is not dismissed: %s", r.ID, oneLine(err.Error()))
		case err != nil:
			return sessions.Receipt{}, fmt.Errorf("dismiss review %d: %w", r.ID, err)
		default:
			gone++
		}
	}
	receipt := sessions.Receipt{Note: fmt.Sprintf("dismissed %s of our own%s", counted(gone, "review", "reviews"), why)}
	if kept == 0 && why == "" {
		receipt.Remember = map[string]string{rememberVerdict: ""}
	}
	return receipt, nil
}

// outdated takes back what we decided about another head or for another base,
// whether or not a review follows: a filter, a budget or a failure must not leave
// an approval standing over what nobody looked at.
func (w *weighing) outdated() []sessions.Effect {
	const why = "What this decided about is not what would be merged any more."
	switch {
	case w.Trigger == "pull_request.edited": // another base, with a configuration of its own
		return []sessions.Effect{effect("dismiss-outdated", kindDismiss, dismissPayload{Request: w.request, Reason: why})}
	case len(w.cfg.Review.Verdicts) > 0:
		return []sessions.Effect{effect("dismiss-outdated", kindDismiss, dismissPayload{Request: w.request, Reason: why, Keep: keepHead})}
	}
	return nil
}

// headMark is the head that a review of ours says it is about.
var headMark = lazyregexp.New(`^<!-- liaison:posted \S+ -->\n<!-- liaison:head ([0-9a-f]{40,64}) -->`)

// reviewedHead is the head that a review of ours was made for: what it says
// itself, as GitHub may show it under another one.
func reviewedHead(r postedReview) string {
	if m := headMark.FindStringSubmatch(r.Body); m != nil {
		return m[1]
	}
	return r.CommitID
}
