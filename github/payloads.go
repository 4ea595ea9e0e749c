package github

import "time"

// The kinds of effects that follow a review or an answer, beside those of the
// check run and of the sticky comment.
const (
	kindPosted   = "review"
	kindReply    = "reply"
	kindReaction = "reaction"
	kindResolve  = "resolve"
	kindDismiss  = "dismiss"
)

// The events of a posted review.
// https://docs.github.com/rest/pulls/reviews#create-a-review-for-a-pull-request
const (
	eventComment        = "COMMENT"
	eventApprove        = "APPROVE"
	eventRequestChanges = "REQUEST_CHANGES"
)

// rememberVerdict is the key under which a session remembers a posted review of
// ours that passed on a verdict and that was not dismissed yet.
const rememberVerdict = "verdict"

// reviewPayload is a review that is posted on the pull request, with a comment
// at the line of each finding.
type reviewPayload struct {
	Request request `json:"request"`
	// Event is one of the events above.
	Event string `json:"event"`
	Body  string `json:"body,omitempty"`
	// Findings can all stand at their lines.
	Findings []finding     `json:"findings,omitempty"`
	Model    string        `json:"model,omitempty"`
	Duration time.Duration `json:"duration,omitempty"`
}

// replyPayload is an answer to what somebody wrote.
type replyPayload struct {
	Request request `json:"request"`
	// To is what is answered; nil stands for a comment that answers nobody.
	To *remark `json:"to,omitempty"`
	// More is what else is answered by it, each with no more of its body than is shown.
	More   []remark `json:"more,omitempty"`
	Text   string   `json:"text"`
	Failed bool     `json:"failed,omitempty"`
	// Once leaves it out where the same was answered before, whoever owed that.
	Once bool `json:"once,omitempty"`

	Model    string        `json:"model,omitempty"`
	Duration time.Duration `json:"duration,omitempty"`
	// Key is part of the answer's hidden mark, and unique in the session.
	Key string `json:"key"`
}

// reactionPayload is a reaction of ours to what somebody wrote.
type reactionPayload struct {
	Request request `json:"request"`
	To      remark  `json:"to"`
	// Content is GitHub's word for it: "eyes", "rocket", "confused", "+1" …
	Content string `json:"content"`
	// Instead is a reaction of ours that is taken away afterwards; it may be empty.
	Instead string `json:"instead,omitempty"`
}

// resolvePayload has our own threads settled whose findings are gone.
type resolvePayload struct {
	Request request `json:"request"`
	// Present are the fingerprints of what is found still; their threads stay as
	// they are. All others are settled where the lines or the file that they are
	// about have changed since they were written.
	Present []string `json:"present,omitempty"`
	// Since is the commit since which was looked at; empty when everything was.
	Since string `json:"since,omitempty"`
}

// dismissPayload has our own earlier verdicts withdrawn that do not hold any more.
type dismissPayload struct {
	Request request `json:"request"`
	Reason  string  `json:"reason"`
	// Keep is the event that still holds for the request's head: an own review of
	// this event at this head stays. Empty keeps none, and "*" each at this head.
	Keep string `json:"keep,omitempty"`
}

// keepHead keeps every verdict on the request's own head.
const keepHead = "*"
