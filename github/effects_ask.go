package github

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/liaison-bot/liaison/sessions"
)

// The reactions that say how far an answer is.
// https://docs.github.com/rest/reactions/reactions#about-reactions
const (
	reactionSeen   = "eyes"
	reactionDone   = "rocket"
	reactionFailed = "confused"
)

// askAgain tells a person what to do about a question without an answer.
const askAgain = "To have it answered, ask again in a new comment."

// askEffects are those of a question. A person who asks sees at once that we
// heard, and is told the end in any case; in between there is nothing to see.
func (c *Channel) askEffects(req request, t sessions.Turn, r sessions.Report) ([]sessions.Effect, error) {
	switch r.Moment {
	case sessions.MomentAccepted:
		return reactionsTo(asks(req), "accepted", reactionSeen, ""), nil
	case sessions.MomentStarted, sessions.MomentWaiting, sessions.MomentResumed:
		return nil, nil
	case sessions.MomentCompleted:
		_, text := weigh(c.redact(r.Text))
		if strings.TrimSpace(text) == "" {
			text = "The agent ended without a word. " + askAgain
		}
		return answers(req, t, reactionDone, replyPayload{Text: text, Model: r.Model, Duration: r.Duration}), nil
	case sessions.MomentFailed:
		text := fmt.Sprintf("This could not be answered.\n\n%s\n\n%s", c.reason(r), askAgain)
		return answers(req, t, reactionFailed, replyPayload{Text: text, Failed: true}), nil
	case sessions.MomentInterrupted, sessions.MomentDropped:
		unmoved := func(q inquiry) bool { return q.Comment == nil || q.Comment.On == onReview } // takes no reaction
		if r.Stopped && !slices.ContainsFunc(inquiries(req, t), unmoved) {
			return reactionsTo(asks(requests(inquiries(req, t))...), "answered", reactionFailed, reactionSeen), nil
		}
		text := fmt.Sprintf("This was not answered: %s. %s",
			code(ellipsis(strings.TrimRight(c.redact(r.Reason), ". "), maxReason)), askAgain)
		return answers(req, t, reactionFailed, replyPayload{Text: text, Failed: true}), nil
	}
	return nil, fmt.Errorf("github: no effects are known for moment %d of a question", r.Moment)
}

// answers are one reply at each place where something was asked, and a reaction
// at each question.
func answers(own request, t sessions.Turn, reaction string, reply replyPayload) []sessions.Effect {
	all := inquiries(own, t)
	var places []string
	at := map[string]replyPayload{}
	for _, q := range all {
		place := "conversation"
		if q.Comment != nil && q.Comment.On == onThread {
			place = "thread-" + strconv.FormatInt(q.Comment.Thread, 10)
		}
		r, known := at[place]
		switch {
		case !known:
			places = append(places, place)
			r = reply
			r.Request, r.To, r.Key = q.request, q.Comment, t.ID+"-"+place
		case q.Comment != nil:
			r.More = append(r.More, remark{ID: q.Comment.ID, On: q.Comment.On, URL: q.Comment.URL, Body: firstLine(q.Comment.Body)})
		}
		at[place] = r
	}
	var effects []sessions.Effect
	for _, place := range places {
		effects = append(effects, effect("reply-"+place, kindReply, at[place]))
	}
	return append(effects, reactionsTo(asks(requests(all)...), "answered", reaction, reactionSeen)...)
}

// reactionsTo are reactions to all that was written, where that takes any.
func reactionsTo(all []request, moment, content, instead string) []sessions.Effect {
	var effects []sessions.Effect
	reacted := map[string]bool{}
	for _, q := range all {
		if q.Comment == nil || q.Comment.On == onReview || q.Comment.ID <= 0 {
			continue
		}
		name := fmt.Sprintf("%s-%s-%d", moment, q.Comment.On, q.Comment.ID)
		if reacted[name] {
			continue
		}
		reacted[name] = true
		effects = append(effects, effect(name, kindReaction, reactionPayload{
			Request: q, To: *q.Comment, Content: content, Instead: instead,
		}))
	}
	return effects
}

// requestOf returns what a report is about: at its acceptance the message's own
// request, else the turn's.
func requestOf(t sessions.Turn, r sessions.Report) json.RawMessage {
	if r.Moment == sessions.MomentAccepted && len(r.Request) > 0 {
		return r.Request
	}
	return t.Request
}
