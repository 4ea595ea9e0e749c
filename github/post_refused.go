package github

import (
	"context"
	"net/http"
)

// reviewRequest is a review as GitHub takes it. go-github's leaves out a start
// side, and would take a position for a line.
// https://docs.github.com/rest/pulls/reviews#create-a-review-for-a-pull-request
type reviewRequest struct {
	CommitID string `json:"commit_id"`
	Body     string `json:"body,omitempty"`
	// Event is empty for a review that stays pending.
	Event    string             `json:"event,omitempty"`
	Comments []reviewLineByLine `json:"comments,omitempty"`
}

type reviewLineByLine struct {
	Path      string `json:"path"`
	Line      int    `json:"line"`
	Side      string `json:"side"`
	StartLine int    `json:"start_line,omitempty"`
	StartSide string `json:"start_side,omitempty"`
	Body      string `json:"body"`
}

// submit posts a draft, after a look at where the pull request stands. GitHub
// refuses a review as a whole and does not say which part of it is meant
// (https://github.com/The-PR-Agent/pr-agent/issues/592), so that after a refusal
// the likely causes are taken out of the way in turn: a pending review, comments
// that it does not take, the verdict, all comments.
func (w *writer) submit(ctx context.Context, d *draft) (standing, error) {
	steps := []func(context.Context, *draft) (bool, error){w.clearPending, w.demoteRefused, soften, demoteAll}
	for {
		where, err := w.stand(ctx)
		if err != nil || where != current {
			return where, err
		}
		err = shrinking(maxComment, func(limit int) error { return w.create(ctx, w.renderReview(d, limit)) })
		if forbidden(err) && !locked(err) && d.Event != eventComment {
			d.softened, d.Event = d.Event, eventComment
			continue
		}
		if !refused(err) || locked(err) {
			return where, err
		}
		for changed := false; !changed; steps = steps[1:] {
			if len(steps) == 0 {
				return where, err
			}
			var failed error
			if changed, failed = steps[0](ctx, d); failed != nil {
				return where, failed
			}
		}
	}
}

func (w *writer) create(ctx context.Context, r reviewRequest) error {
	var answer written
	return w.send(ctx, http.MethodPost, w.path("pulls/%d/reviews", w.Number), r, &answer)
}

// clearPending throws away what an earlier process of ours left unsubmitted.
func (w *writer) clearPending(ctx context.Context, _ *draft) (bool, error) {
	pending, err := w.ownReviews(ctx, func(r postedReview) bool { return r.State == statePending })
	if err != nil {
		return false, err
	}
	return len(pending) > 0, w.discardPending(ctx, pending)
}

// demoteRefused moves the comments that GitHub does not take into the body.
func (w *writer) demoteRefused(ctx context.Context, d *draft) (bool, error) {
	probes := 0
	good, bad, err := w.accepted(ctx, d.lines, &probes)
	if err != nil {
		return false, err
	}
	d.lines, d.demoted = good, append(d.demoted, bad...)
	return len(bad) > 0, nil
}

// accepted divides findings into those that GitHub takes at their lines and
// those that it does not, or that were not tried.
func (w *writer) accepted(ctx context.Context, all []finding, probes *int) (good, bad []finding, err error) {
	if len(all) == 0 {
		return nil, nil, nil
	}
	if *probes == maxProbes {
		return nil, all, nil
	}
	*probes++
	switch err := w.probe(ctx, all); {
	case err == nil:
		return all, nil, nil
	case !refused(err):
		return nil, nil, err
	case len(all) == 1:
		return nil, all, nil
	}
	half := len(all) / 2
	for _, part := range [][]finding{all[:half], all[half:]} {
		g, b, err := w.accepted(ctx, part, probes)
		if err != nil {
			return nil, nil, err
		}
		good, bad = append(good, g...), append(bad, b...)
	}
	return good, bad, nil
}

// probe has GitHub check comments in a pending review, of which nobody hears,
// and throws it away.
func (w *writer) probe(ctx context.Context, lines []finding) error {
	r := reviewRequest{CommitID: w.Head}
	for _, f := range lines {
		r.Comments = append(r.Comments, lineOf(f, "Probe."))
	}
	var answer written
	if err := w.send(ctx, http.MethodPost, w.path("pulls/%d/reviews", w.Number), r, &answer); err != nil {
		return err
	}
	return w.discardPending(ctx, []postedReview{{written: answer}})
}

// soften turns a verdict into a comment: GitHub takes none from us, as on a pull
// request of our own.
func soften(_ context.Context, d *draft) (bool, error) {
	if d.Event == eventComment {
		return false, nil
	}
	d.softened, d.Event = d.Event, eventComment
	return true, nil
}

func demoteAll(_ context.Context, d *draft) (bool, error) {
	changed := len(d.lines) > 0
	d.demoted, d.lines = append(d.demoted, d.lines...), nil
	return changed, nil
}
