package github

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/liaison-bot/liaison/sessions"
)

// The kinds of effects.
const (
	kindCheck   = "check"
	kindComment = "comment"
)

// checkPayload is a state of a turn's check run.
type checkPayload struct {
	Request request `json:"request"`
	// Conclusion is empty while the review is under way.
	Conclusion string `json:"conclusion,omitempty"`
	// Again is set when the check run in progress, which exists, says something else now.
	Again bool   `json:"again,omitempty"`
	Title string `json:"title"`
	// Summary is ours; Text is the agent's.
	Summary string `json:"summary"`
	Text    string `json:"text,omitempty"`
	// Findings become annotations, those that name a file and a line.
	Findings []finding `json:"findings,omitempty"`
	// Failed is set when the review could not be done.
	Failed bool `json:"failed,omitempty"`
}

// commentPayload is a review as it is posted on the pull request, or the word
// that there is none.
type commentPayload struct {
	Request request `json:"request"`
	// Failed is set when the review could not be done; Text then says why.
	Failed bool `json:"failed,omitempty"`
	// Headline is how severe the findings are, in a few words; empty if unknown.
	Headline string        `json:"headline,omitempty"`
	Text     string        `json:"text"`
	Model    string        `json:"model,omitempty"`
	Duration time.Duration `json:"duration,omitempty"`
	// Outdated is found out as it is written: the head is another one by now.
	Outdated bool `json:"-"`
}

// The check conclusions in use. https://docs.github.com/rest/checks/runs#create-a-check-run
const (
	concludedSuccess   = "success"
	concludedNeutral   = "neutral"
	concludedFailure   = "failure"
	concludedCancelled = "cancelled"
)

// Effects says what GitHub shall be told at a moment of a turn. It is pure.
func (c *Channel) Effects(t sessions.Turn, r sessions.Report) ([]sessions.Effect, error) {
	req, err := parseRequest(requestOf(t, r))
	if err != nil {
		return nil, err
	}
	var effects []sessions.Effect
	switch req.Kind {
	case kindAsk:
		effects, err = c.askEffects(req, t, r)
	case kindResumed:
		effects, err = c.resumedEffects(req, t, r)
	case kindReview:
		effects, err = c.reviewEffects(req, t, r)
	default:
		err = fmt.Errorf("github: no effects are known for a turn that is to %s", quote(string(req.Kind)))
	}
	if err != nil {
		return nil, err
	}
	return append(effects, c.outcomes(req, t, r)...), nil
}

// by says who took how long.
func by(model string, took time.Duration) string {
	var b strings.Builder
	if model != "" {
		b.WriteString(" by " + code(ellipsis(model, 80)))
	}
	switch {
	case took >= time.Second:
		b.WriteString(" in " + took.Round(time.Second/10).String())
	case took > 0:
		b.WriteString(" in less than a second")
	}
	return b.String()
}

func effect(name, kind string, payload any) sessions.Effect {
	raw, err := json.Marshal(payload)
	if err != nil {
		panic(err) // strings, numbers and times always encode
	}
	return sessions.Effect{Name: name, Kind: kind, Payload: raw}
}
