package github

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/liaison-bot/liaison/sessions"
)

// maxOutcome bounds, in characters, how much of a review is told on another
// channel; the rest is on the pull request.
const maxOutcome = 8000

// refusedTo tells a caller that a request is not taken up.
func refusedTo(c sessions.Caller, subject, page, why string) sessions.Effect {
	return outcomeTo(c, "refused", sessions.Outcome{Stage: sessions.OutcomeRefused, Subject: subject, URL: page, Text: why})
}

// outcomeTo tells a caller how its request goes. The name tells callers apart
// that wait for the same turn.
func outcomeTo(c sessions.Caller, moment string, o sessions.Outcome) sessions.Effect {
	o.Address = c.Address
	sum := sha256.Sum256(c.Address)
	f := effect(fmt.Sprintf("outcome-%s-%s", moment, hex.EncodeToString(sum[:6])), sessions.KindOutcome, o)
	f.Channel = c.Channel
	return f
}

// outcomes are what callers on other channels are told at a moment of a turn.
func (c *Channel) outcomes(own request, t sessions.Turn, r sessions.Report) []sessions.Effect {
	waiting := askers(own, t)
	if r.Moment == sessions.MomentAccepted {
		waiting = []request{own}
	}
	var effects []sessions.Effect
	told := map[string]bool{}
	for _, q := range waiting {
		if q.Caller == nil {
			continue
		}
		moment, o, ok := c.outcome(t, r)
		if !ok {
			continue
		}
		o.Subject, o.URL, o.Model, o.Duration = q.name(), c.pullPage(q), r.Model, r.Duration
		f := outcomeTo(*q.Caller, moment, o)
		if !told[f.Name] {
			told[f.Name] = true
			effects = append(effects, f)
		}
	}
	return effects
}

// outcome is what callers are told. It is nothing where another turn goes on
// with the request.
func (c *Channel) outcome(t sessions.Turn, r sessions.Report) (moment string, o sessions.Outcome, ok bool) {
	switch r.Moment {
	case sessions.MomentAccepted:
		o.Stage = sessions.OutcomeAccepted
		if r.Behind {
			o.Text = "It begins when what runs before it is done."
		}
		return "accepted", o, true
	case sessions.MomentWaiting:
		o.Stage = sessions.OutcomeWaiting
		o.Text = fmt.Sprintf("It waits for %s, until about %s.", r.WaitsFor, r.Until.UTC().Format("15:04 UTC"))
		return fmt.Sprintf("waiting-%d", t.Attempt), o, true
	case sessions.MomentCompleted:
		v, text := weigh(c.redact(r.Text))
		if s, structured := submitted(t.Outputs); structured {
			v, text = s.verdict(), s.markdown(text)
		}
		o.Stage, o.Text = sessions.OutcomeCompleted, v.String()+"\n\n"+ellipsis(strings.TrimSpace(text), maxOutcome)
		return "ended", o, true
	case sessions.MomentFailed:
		o.Stage, o.Text = sessions.OutcomeFailed, c.reason(r)
		return "ended", o, true
	case sessions.MomentInterrupted, sessions.MomentDropped:
		if r.Superseded {
			return "", o, false
		}
		o.Stage, o.Text = sessions.OutcomeInterrupted, code(ellipsis(strings.TrimRight(c.redact(r.Reason), ". "), maxReason))
		return "ended", o, true
	}
	return "", o, false
}

// pullPage is GitHub's page of a pull request.
func (c *Channel) pullPage(r request) string {
	return fmt.Sprintf("%s/%s/pull/%d", c.app.pages(), r.FullName, r.Number)
}
