package github

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/liaison-bot/liaison/sessions"
)

// runAgain tells a person what starts another review.
const runAgain = "To run it again, comment `/liaison review`, or push a commit."

// reviewerModel is the built-in reviewer. Its rules never decide whether a pull
// request may be merged.
const reviewerModel = "liaison-reviewer"

// maxReason bounds the reason of a failure in characters.
const maxReason = 4000

// reviewEffects are those of a review. What says how the check stands comes
// first: people and branch protection wait for it.
func (c *Channel) reviewEffects(req request, t sessions.Turn, r sessions.Report) ([]sessions.Effect, error) {
	check := checkPayload{Request: req}
	switch r.Moment {
	case sessions.MomentAccepted:
		return reactionsTo([]request{req}, "accepted", reactionSeen, ""), nil
	case sessions.MomentStarted:
		check.Title = "Reviewing " + short(req.Head)
		check.Summary = fmt.Sprintf("The review of %s is under way.", code(req.Head))
		return append([]sessions.Effect{effect("check-started", kindCheck, check)}, withdraw("dismiss-stale", req, t, keepHead)...), nil
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
		return c.reviewed(req, t, r), nil
	case sessions.MomentFailed:
		check.Conclusion, check.Failed = concludedFailure, true
		if req.settings().OnError == concludedNeutral {
			check.Conclusion = concludedNeutral
		}
		check.Title = "The review could not be done"
		why := fmt.Sprintf("ended early, which says nothing about the change itself.\n\n%s\n\n%s", c.reason(r), runAgain)
		check.Summary = fmt.Sprintf("The review of %s %s", code(req.Head), why)
		return append([]sessions.Effect{
			effect("check-ended", kindCheck, check),
			effect("comment", kindComment, commentPayload{Request: req, Failed: true, Text: "The review " + why}),
		}, reactionsTo(askers(req, t), "answered", reactionFailed, reactionSeen)...), nil
	case sessions.MomentInterrupted:
		return c.interrupted(check, t, r), nil
	case sessions.MomentDropped:
		if r.Superseded {
			return nil, nil
		}
		return reactionsTo(askers(req, t), "answered", reactionFailed, reactionSeen), nil
	}
	return nil, fmt.Errorf("github: no effects are known for moment %d", r.Moment)
}

// interrupted are the effects of a review that has no result.
func (c *Channel) interrupted(check checkPayload, t sessions.Turn, r sessions.Report) []sessions.Effect {
	req := check.Request
	why := code(ellipsis(strings.TrimRight(c.redact(r.Reason), ". "), maxReason))
	reaction := reactionFailed
	switch {
	case r.Superseded:
		// The turn that took its place answers whoever asked.
		check.supersede()
		return []sessions.Effect{effect("check-ended", kindCheck, check)}
	case r.Empty:
		reaction = reactionDone
		check.Conclusion, check.Title = concludedNeutral, "Nothing to review"
		check.Summary = fmt.Sprintf("%s was looked at: %s.", code(req.Head), why)
	default:
		check.Conclusion, check.Title = concludedCancelled, "The review was stopped"
		check.Summary = fmt.Sprintf("The review of %s was stopped: %s. %s", code(req.Head), why, runAgain)
	}
	return append([]sessions.Effect{effect("check-ended", kindCheck, check)},
		reactionsTo(askers(req, t), "answered", reaction, reactionSeen)...)
}

// reviewed are the effects of a review with a result: that of the tool
// submit_review or, where the agent did not call it, its text.
func (c *Channel) reviewed(req request, t sessions.Turn, r sessions.Report) []sessions.Effect {
	v, text := weigh(c.redact(r.Text))
	s, structured := submitted(t.Outputs)
	if structured {
		v, text = s.verdict(), s.markdown(text)
	}
	if strings.TrimSpace(text) == "" {
		text = "The agent ended without a word."
	}
	set := req.settings()
	check := checkPayload{
		Request: req, Conclusion: v.conclusion(set.FailOn), Title: v.String(), Text: text, Findings: s.annotated(),
		Summary: fmt.Sprintf("Reviewed %s%s%s. The review is below and in a comment on the pull request.",
			code(req.Head), s.scope(), by(r.Model, r.Duration)),
	}
	effects := []sessions.Effect{
		effect("check-ended", kindCheck, check),
		effect("comment", kindComment, commentPayload{
			Request: req, Headline: v.headline(), Text: text, Model: r.Model, Duration: r.Duration,
		}),
	}
	event := eventComment
	if structured {
		event = s.event(set, r.Model)
		if posted, ok := s.posted(req, event, r); ok {
			effects = append(effects, effect("review", kindPosted, posted))
		}
		if set.ResolveThreads && s.Omitted == 0 {
			effects = append(effects, effect("resolve", kindResolve, s.present(req)))
		}
	}
	keep := event
	if event == eventComment {
		keep = ""
	}
	effects = append(effects, withdraw("dismiss", req, t, keep)...)
	effects = append(effects, reviewed(req))
	return append(effects, reactionsTo(askers(req, t), "answered", reactionDone, reactionSeen)...)
}

// conclusion is the check's for findings like these. It fails only where the
// repository wants it to.
func (v verdict) conclusion(failOn string) string {
	switch {
	case failOn == severityError && v.errors > 0, failOn == severityWarning && !v.clean():
		return concludedFailure
	case !v.clean():
		return concludedNeutral
	}
	return concludedSuccess
}

// event is how the review is posted. A verdict is passed on only where the base
// branch's configuration says so, never from the built-in reviewer or from
// nobody knows whom, and no approval beside an error.
func (s submission) event(set settings, model string) string {
	switch {
	case model == "", model == reviewerModel, !slices.Contains(set.Verdicts, s.Verdict):
	case s.Verdict == verdictRequestChanges:
		return eventRequestChanges
	case s.Verdict == verdictApprove && s.verdict().errors == 0:
		return eventApprove
	}
	return eventComment
}

// posted is the review with comments on lines; there is none where it would say
// nothing that the comment does not.
func (s submission) posted(req request, event string, r sessions.Report) (reviewPayload, bool) {
	p := reviewPayload{Request: req, Event: event, Model: r.Model, Duration: r.Duration}
	for _, f := range s.Findings {
		if f.anchored() {
			p.Findings = append(p.Findings, f)
		}
	}
	if len(p.Findings) == 0 && event == eventComment {
		return p, false
	}
	what := "Reviewed"
	switch event {
	case eventApprove:
		what = "Approved"
	case eventRequestChanges:
		what = "Changes are requested at"
	}
	p.Body = fmt.Sprintf("%s %s%s: %s. The summary is in a comment on this pull request.",
		what, code(short(req.Head)), s.scope(), lowerFirst(s.verdict().String()))
	return p, true
}

// present has those of our threads settled that are about nothing any more.
func (s submission) present(req request) resolvePayload {
	p := resolvePayload{Request: req, Since: s.Since}
	for _, f := range s.Findings {
		if mark := f.fingerprint(); !slices.Contains(p.Present, mark) {
			p.Present = append(p.Present, mark)
		}
	}
	slices.Sort(p.Present)
	return p
}

// withdraw takes back what an earlier review of ours decided, but what keep
// names, if the session has such a one.
func withdraw(name string, req request, t sessions.Turn, keep string) []sessions.Effect {
	if t.Surface[rememberVerdict] == "" {
		return nil
	}
	return []sessions.Effect{effect(name, kindDismiss, dismissPayload{
		Request: req, Keep: keep, Reason: fmt.Sprintf("The review of %s no longer stands behind this.", short(req.Head)),
	})}
}

// askers are the requests that a turn answers: its own, and those that were
// gathered into it.
func askers(own request, t sessions.Turn) []request {
	all := []request{own}
	for _, g := range t.Gathered {
		if r, err := parseRequest(g.Request); err == nil {
			all = append(all, r)
		}
	}
	return all
}

// reason shows a reason word for word, as a block that nothing in it can leave.
func (c *Channel) reason(r sessions.Report) string {
	return fence(ellipsis(spellOut(c.redact(r.Reason)), maxReason))
}

// supersede turns a check into that of a head which is not the head any more.
func (p *checkPayload) supersede() {
	p.Conclusion = concludedCancelled
	p.Title = "Superseded by a newer push"
	p.Summary = fmt.Sprintf("The pull request moved on from %s. A review of its new head has a check of its own.", code(p.Request.Head))
	p.Text, p.Findings = "", nil
}
