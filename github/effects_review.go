package github

import (
	"fmt"
	"strings"
	"time"

	"github.com/liaison-bot/liaison/sessions"
)

// runAgain tells a person what starts another review.
const runAgain = "To run it again, push a commit, or close and reopen the pull request."

// maxReason bounds the reason of a failure in characters.
const maxReason = 4000

// reviewEffects are those of a review. The conclusion of the check comes before
// the comment: people wait for it.
func (c *Channel) reviewEffects(req request, t sessions.Turn, r sessions.Report) ([]sessions.Effect, error) {
	check := checkPayload{Request: req}
	switch r.Moment {
	case sessions.MomentStarted:
		check.Title = "Reviewing " + short(req.Head)
		check.Summary = fmt.Sprintf("The review of %s is under way.", code(req.Head))
		return []sessions.Effect{effect("check-started", kindCheck, check)}, nil
	case sessions.MomentWaiting:
		until := r.Until.UTC().Add(time.Minute - 1).Truncate(time.Minute)
		check.Again = true
		check.Title = fmt.Sprintf("Waiting for %s until %s", r.WaitsFor, until.Format("15:04 UTC"))
		check.Summary = fmt.Sprintf("The review of %s has to wait for %s. It goes on by itself, at about %s.\n\n%s",
			code(req.Head), r.WaitsFor, until.Format("15:04 UTC on 2 January 2006"), c.reason(r))
		return []sessions.Effect{effect(fmt.Sprintf("check-waiting-%d", t.Attempt), kindCheck, check)}, nil
	case sessions.MomentResumed:
		check.Again = true
		check.Title = "Reviewing " + short(req.Head)
		check.Summary = fmt.Sprintf("The review of %s is under way again, after a wait.", code(req.Head))
		return []sessions.Effect{effect(fmt.Sprintf("check-resumed-%d", t.Attempt), kindCheck, check)}, nil
	case sessions.MomentCompleted:
		v, review := weigh(c.redact(r.Text))
		if strings.TrimSpace(review) == "" {
			review = "The agent ended without a word."
		}
		check.Conclusion = concludedSuccess
		if !v.clean() {
			check.Conclusion = concludedNeutral
		}
		check.Title = v.String()
		check.Summary = fmt.Sprintf("Reviewed %s%s. The review is below and in a comment on the pull request.",
			code(req.Head), by(r.Model, r.Duration))
		check.Text = review
		return []sessions.Effect{
			effect("check-ended", kindCheck, check),
			effect("comment", kindComment, commentPayload{
				Request: req, Headline: v.headline(), Text: review, Model: r.Model, Duration: r.Duration,
			}),
		}, nil
	case sessions.MomentFailed:
		check.Conclusion = concludedFailure
		check.Title = "The review could not be done"
		why := fmt.Sprintf("ended early, which says nothing about the change itself.\n\n%s\n\n%s", c.reason(r), runAgain)
		check.Summary = fmt.Sprintf("The review of %s %s", code(req.Head), why)
		return []sessions.Effect{
			effect("check-ended", kindCheck, check),
			effect("comment", kindComment, commentPayload{Request: req, Failed: true, Text: "The review " + why}),
		}, nil
	case sessions.MomentInterrupted:
		check.Conclusion = concludedCancelled
		if r.Superseded {
			check.supersede()
			break
		}
		check.Title = "The review was stopped"
		check.Summary = fmt.Sprintf("The review of %s was stopped: %s. %s",
			code(req.Head), code(ellipsis(strings.TrimRight(c.redact(r.Reason), ". "), maxReason)), runAgain)
	default:
		return nil, fmt.Errorf("github: no effects are known for moment %d", r.Moment)
	}
	return []sessions.Effect{effect("check-ended", kindCheck, check)}, nil
}

// reason shows a reason word for word, as a block that nothing in it can leave.
func (c *Channel) reason(r sessions.Report) string {
	return fence(ellipsis(spellOut(c.redact(r.Reason)), maxReason))
}

// supersede turns a check into that of a head which is not the head any more.
func (p *checkPayload) supersede() {
	p.Conclusion = concludedCancelled
	p.Title = "Superseded by a newer push"
	p.Summary = fmt.Sprintf("The pull request moved on from %s; its new head has a check of its own.", code(p.Request.Head))
	p.Text = ""
}
