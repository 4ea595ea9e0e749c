package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	gh "github.com/google/go-github/v66/github"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/sessions"
)

// cardNote is the room in a comment for what says how much does not fit, in characters.
const cardNote = 600

// refComment begins the reference of a card that is a comment; all others are the
// ids of check runs.
const refComment = "comment:"

// cardCheckName is the name of an approval's check run.
func cardCheckName(v approvals.View) string { return "Liaison approval: " + v.Tool }

// drawCard draws the card of an approval as that is now: a check run of its own or,
// where there can be none, a comment.
func (c *Channel) drawCard(ctx context.Context, item sessions.Item) (sessions.Receipt, error) {
	if item.Approval == nil || item.Card == nil {
		return sessions.Receipt{Note: "no card: the approval is not there any more"}, nil
	}
	var owed sessions.CardItem
	if err := json.Unmarshal(item.Payload, &owed); err != nil {
		return sessions.Receipt{}, unreadable("payload", err)
	}
	r, err := parseRequest(item.Card.Address)
	if err != nil {
		return sessions.Receipt{}, err
	}
	t, err := c.app.target(r)
	if err != nil {
		return sessions.Receipt{}, err
	}
	w := &cardWriter{
		writer: writer{target: t, app: c.app, item: item}, view: *item.Approval, card: *item.Card,
		repeated: item.Attempts > 1 || owed.Version > 1,
	}
	note, err := w.draw(ctx)
	if err != nil {
		return sessions.Receipt{}, err
	}
	if !w.card.Gone {
		w.card.Drawn = w.view.Version
	}
	return sessions.Receipt{Note: note, Card: &w.card}, nil
}

// cardWriter draws one card.
type cardWriter struct {
	writer
	view approvals.View
	card approvals.Card
	// repeated is set when a card without a reference may have been posted before.
	repeated bool
}

func (w *cardWriter) draw(ctx context.Context) (string, error) {
	inComment := w.Issue || strings.HasPrefix(w.card.Ref, refComment) || w.card.Ref == "" && w.noChecks(ctx, nil)
	if inComment {
		return w.comment(ctx)
	}
	err := w.check(ctx)
	var paused *PausedError
	switch {
	case err == nil:
		return fmt.Sprintf("card of %s: %s", w.view.ID, w.view.State), nil
	case errors.As(err, &paused):
		return "", err
	case notFound(err) && w.view.State.Ended() && w.card.Ref != "":
		w.card.Gone = true
		return "the card's check run is gone", nil
	case notFound(err), refused(err), w.noChecks(ctx, err):
		// A card that nobody sees is none: a comment takes its place.
		w.card.Ref = ""
		return w.comment(ctx)
	}
	return "", err
}

// cardRun is a card's check run as GitHub takes it. go-github's form leaves an empty
// list of buttons out, and they would stay.
// https://docs.github.com/rest/checks/runs#update-a-check-run
type cardRun struct {
	Name       string               `json:"name"`
	HeadSHA    string               `json:"head_sha,omitempty"`
	ExternalID string               `json:"external_id"`
	Status     string               `json:"status"`
	Conclusion string               `json:"conclusion"`
	DetailsURL *string              `json:"details_url,omitempty"`
	Output     *gh.CheckRunOutput   `json:"output"`
	Actions    []*gh.CheckRunAction `json:"actions"`
}

// check brings the check run into the state of the approval, and creates it where
// there is none: nowhere in its reference, and at GitHub under its external id.
func (w *cardWriter) check(ctx context.Context) error {
	id, _ := strconv.ParseInt(w.card.Ref, 10, 64)
	if id == 0 && w.repeated {
		runs, err := w.ownChecks(ctx, cardCheckName(w.view), w.view.ID)
		if err != nil {
			return fmt.Errorf("look for the card: %w", err)
		}
		for _, run := range runs {
			id = max(id, run.GetID())
		}
	}
	method, path := http.MethodPost, w.path("check-runs")
	if id != 0 {
		method, path = http.MethodPatch, w.path("check-runs/%d", id)
	}
	err := shrinking(maxCheckText, func(limit int) error {
		run := w.run(limit)
		if id == 0 {
			run.HeadSHA = w.Head
		}
		var answer written
		err := w.send(ctx, method, path, run, &answer)
		if err == nil {
			w.card.Ref = strconv.FormatInt(answer.ID, 10)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("draw the card of %s: %w", w.view.ID, err)
	}
	return nil
}

// run is the check run for the approval as it is.
func (w *cardWriter) run(limit int) cardRun {
	drawn := renderApproval(w.view, limit, limit)
	run := cardRun{
		Name: cardCheckName(w.view), ExternalID: w.view.ID, Status: "completed", Conclusion: cardConclusion(w.view.State),
		DetailsURL: w.sessionPage(), Actions: []*gh.CheckRunAction{},
		Output: &gh.CheckRunOutput{Title: gh.String(drawn.title), Summary: gh.String(drawn.summary)},
	}
	if drawn.text != "" {
		run.Output.Text = gh.String(drawn.text)
	}
	button := func(label, description string, v approvals.Verdict) {
		run.Actions = append(run.Actions, &gh.CheckRunAction{Label: label, Description: description, Identifier: string(v)})
	}
	if w.view.State.Open() {
		if drawn.whole { // nobody agrees to what cannot be seen
			button("Approve", "Run it exactly as it is shown here", approvals.Approve)
		}
		button("Deny", "Do not run it, and tell the agent", approvals.Deny)
	}
	return run
}

// cardConclusion says in GitHub's words how far an approval is.
// https://docs.github.com/rest/checks/runs#create-a-check-run
func cardConclusion(s approvals.State) string {
	switch s {
	case approvals.Pending, approvals.Approving:
		return "action_required"
	case approvals.Done:
		return concludedSuccess
	case approvals.Failed, approvals.Unknown:
		return concludedFailure
	case approvals.Expired:
		return "timed_out"
	case approvals.Cancelled, approvals.Superseded:
		return concludedCancelled
	}
	return concludedNeutral
}

// comment draws the card as a comment, in which people decide by commands.
func (w *cardWriter) comment(ctx context.Context) (string, error) {
	mark := mark("approval", w.view.ID)
	id, _ := strconv.ParseInt(strings.TrimPrefix(w.card.Ref, refComment), 10, 64)
	if id == 0 && w.repeated {
		var err error
		if id, err = w.findCardComment(ctx, mark); err != nil {
			return "", err
		}
	}
	method, path := http.MethodPost, w.conversation()
	if id != 0 {
		method, path = http.MethodPatch, w.path("issues/comments/%d", id)
	}
	err := shrinking(maxComment, func(limit int) error {
		head := mark + "\n"
		var answer written
		err := w.send(ctx, method, path, textBody{head + renderApproval(w.view, limit-runes(head)-cardNote, 0).markdown()}, &answer)
		if err == nil {
			w.card.Ref = refComment + strconv.FormatInt(answer.ID, 10)
		}
		return err
	})
	switch {
	case err == nil:
		return fmt.Sprintf("card of %s in a comment: %s", w.view.ID, w.view.State), nil
	case notFound(err), locked(err):
		w.card.Gone = true
		return "no card: the comment or its conversation is gone, or locked", nil
	}
	return "", fmt.Errorf("draw the card of %s in a comment: %w", w.view.ID, err)
}

// findCardComment returns the id of the card that an earlier attempt posted, or 0.
func (w *cardWriter) findCardComment(ctx context.Context, mark string) (int64, error) {
	self, err := w.self(ctx)
	if err != nil {
		return 0, err
	}
	var id int64
	err = each(ctx, w.repo.client, w.conversation(), func(c comment) bool {
		if c.by(self) && strings.HasPrefix(c.Body, mark) {
			id = c.ID
		}
		return id == 0
	})
	if err != nil && !notFound(err) {
		return 0, fmt.Errorf("look for the card: %w", err)
	}
	return id, nil
}
