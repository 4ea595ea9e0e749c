package github

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/sessions"
)

// The reactions to a decision in words.
const (
	reactionApproved = "+1"
	reactionDenied   = "-1"
)

// DecisionEffects implements sessions.DecisionWitness: who wrote a decision sees by
// a reaction whether it counts, and whoever's does not is told why, once for each
// reason. Bots are told nothing, so that they do not talk to each other.
func (c *Channel) DecisionEffects(raw json.RawMessage, v sessions.DecisionVerdict) []sessions.Effect {
	r, err := parseUnweighed(raw)
	if err != nil || r.Decision == nil || r.Number <= 0 || r.Actor.Bot || r.Actor.ID <= 0 {
		return nil
	}
	reaction := reactionApproved
	if v.Ballot.Verdict == approvals.Deny {
		reaction = reactionDenied
	}
	kind := refusalKind(v.Err)
	if kind == "" {
		return reactionsTo([]request{r}, "decided", reaction, "")
	}
	about := approvals.View{}
	if v.Approval != nil {
		about = *v.Approval
	}
	text := about.Answer(v.Err, cardWords())
	if r.Comment == nil {
		text = called(c.identity(r.Actor)) + " pressed a button: " + text
	}
	return append(reactionsTo([]request{r}, "decided", reactionFailed, ""), effect("decision-answer", kindReply, replyPayload{
		Request: r, To: r.Comment, Text: text, Failed: true, Once: true,
		Key: fmt.Sprintf("decision:%s:%d:%s", r.Decision.Approval, r.Actor.ID, kind),
	}))
}

// refusalKind is a word for why a ballot changed nothing; empty where it counts, or
// says what was decided anyway.
func refusalKind(err error) string {
	var decided *approvals.DecidedError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &decided):
		if decided.Same {
			return ""
		}
		return "decided"
	case errors.Is(err, approvals.ErrNotAllowed):
		return "not-allowed"
	case errors.Is(err, approvals.ErrUnknown):
		return "unknown"
	}
	return "refused"
}
