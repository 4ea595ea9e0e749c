package github

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/liaison-bot/liaison/sessions"
)

// postedReview is the part of GitHub's review that is used.
type postedReview struct {
	written
	State string `json:"state"`
	// CommitID is the head that GitHub shows the review under. After a force-push
	// it has been seen to be one that nobody reviewed.
	// https://github.com/max-sixty/tend/pull/884
	CommitID string `json:"commit_id"`
}

// The states of a review that count for a merge, and of one that is not submitted.
const (
	stateApproved         = "APPROVED"
	stateChangesRequested = "CHANGES_REQUESTED"
	statePending          = "PENDING"
)

// event is what led to a review's state.
func (r postedReview) event() string {
	switch r.State {
	case stateApproved:
		return eventApprove
	case stateChangesRequested:
		return eventRequestChanges
	}
	return eventComment
}

// draft is a review on its way out.
type draft struct {
	reviewPayload
	// lines stand at their lines, and demoted in the body: GitHub took them at none.
	lines, demoted []finding
	// said is how many are in a thread of ours already, and over how many are beyond
	// what one review holds.
	said, over int
	// softened is set when GitHub did not take the verdict from us.
	softened string
}

// post posts a review, once, without what was said before. It is whole or not
// at all at GitHub; what stands in its way is found and left out.
func (w *writer) post(ctx context.Context, p reviewPayload) (sessions.Receipt, error) {
	if p.Event != eventComment && p.Event != eventApprove && p.Event != eventRequestChanges {
		return sessions.Receipt{}, fmt.Errorf("a review cannot have the event %s", quote(p.Event))
	}
	if w.item.Attempts > 1 {
		found, err := w.findPosted(ctx)
		if err != nil {
			return sessions.Receipt{}, err
		}
		if found != nil {
			return w.postedReceipt(found.event(), "the review was posted already"), nil
		}
	}
	d := &draft{reviewPayload: p}
	if len(p.Findings) > 0 {
		threads, err := w.threads(ctx)
		if err != nil {
			return sessions.Receipt{}, err
		}
		d.leaveOut(threads)
	}
	if len(d.lines) == 0 && p.Event == eventComment && (len(p.Findings) > 0 || strings.TrimSpace(p.Body) == "") {
		return sessions.Receipt{Note: fmt.Sprintf("no review: there is nothing in it that is new; %s said before", counted(d.said, "finding was", "findings were"))}, nil
	}
	switch where, err := w.submit(ctx, d); {
	case locked(err):
		return sessions.Receipt{Note: "no review: the conversation is locked"}, nil
	case err != nil:
		return sessions.Receipt{}, fmt.Errorf("post the review: %w", err)
	case where != current:
		return sessions.Receipt{Note: "no review: " + w.passed(where)}, nil
	}
	return w.postedReceipt(d.Event, fmt.Sprintf("review posted as %s, with %s on lines", d.Event, counted(len(d.lines), "comment", "comments"))), nil
}

func (w *writer) postedReceipt(event, note string) sessions.Receipt {
	r := sessions.Receipt{Note: note}
	if event != eventComment {
		r.Remember = map[string]string{rememberVerdict: event + " " + w.Head}
	}
	return r
}

// leaveOut divides a review's findings into what is posted and what is not: what
// stands in a thread of ours on the same line already, and what is too much.
func (d *draft) leaveOut(threads []thread) {
	said := map[string]bool{}
	for _, t := range threads {
		if !t.outdated() {
			said[t.finding] = true
		}
	}
	most := min(d.Request.settings().MaxInline, maxReviewComments)
	for _, f := range d.Findings {
		switch mark := f.fingerprint(); {
		case said[mark]:
			d.said++
		case len(d.lines) >= most:
			d.over++
		default:
			said[mark] = true
			d.lines = append(d.lines, f)
		}
	}
}

// postedMark begins the body of a review of ours.
func (w *writer) postedMark() string { return mark("posted", w.item.TurnID) }

// findPosted looks for a review that an earlier attempt posted for this turn.
// One that was begun and not submitted is thrown away.
func (w *writer) findPosted(ctx context.Context) (*postedReview, error) {
	var found *postedReview
	pending, err := w.ownReviews(ctx, func(r postedReview) bool {
		if r.State != statePending && strings.HasPrefix(r.Body, w.postedMark()) {
			found = &r
		}
		return r.State == statePending
	})
	if err != nil {
		return nil, err
	}
	return found, w.discardPending(ctx, pending)
}

// ownReviews lists our own reviews that are wanted.
func (w *writer) ownReviews(ctx context.Context, wanted func(postedReview) bool) ([]postedReview, error) {
	self, err := w.self(ctx)
	if err != nil {
		return nil, err
	}
	var own []postedReview
	err = each(ctx, w.repo.client, w.path("pulls/%d/reviews", w.Number), func(r postedReview) bool {
		if r.by(self) && wanted(r) {
			own = append(own, r)
		}
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("list the reviews: %w", err)
	}
	return own, nil
}

// discardPending throws reviews away that nobody but us can see. There can be
// one, and it stands in the way of the next.
func (w *writer) discardPending(ctx context.Context, pending []postedReview) error {
	for _, r := range pending {
		var gone written
		err := w.send(ctx, http.MethodDelete, w.path("pulls/%d/reviews/%d", w.Number, r.ID), nil, &gone)
		if err != nil && !notFound(err) {
			return fmt.Errorf("throw the pending review %d away: %w", r.ID, err)
		}
	}
	return nil
}
