package github

import (
	"context"
	"strings"

	"github.com/liaison-bot/liaison/sessions"
)

// rememberReviewed is the key under which a session remembers the head up to
// which its reviews went, with the base branch, as "<sha> <branch>". It is kept
// here because what GitHub says of its own reviews moves with a forced push
// (https://github.com/max-sixty/tend/pull/884).
const rememberReviewed = "reviewed"

// kindReviewed has the session remember that a head was reviewed. It writes
// nothing to GitHub.
const kindReviewed = "reviewed"

// reviewedPayload names the head that was reviewed.
type reviewedPayload struct {
	Request request `json:"request"`
}

// reviewed is the effect of a review that came to its end.
func reviewed(r request) sessions.Effect {
	return effect("reviewed", kindReviewed, reviewedPayload{Request: r})
}

// remember has the session remember the head.
func (w *writer) remember(_ context.Context, p reviewedPayload) (sessions.Receipt, error) {
	return sessions.Receipt{
		Note:     "the next review can begin at " + short(p.Request.Head),
		Remember: map[string]string{rememberReviewed: p.Request.Head + " " + p.Request.Base},
	}, nil
}

// reviewedBefore returns the head up to which a review into this base branch
// went, or "". Another base is another change.
func reviewedBefore(surface map[string]string, base string) string {
	sha, into, _ := strings.Cut(surface[rememberReviewed], " ")
	if !validSHA(sha) || into != base {
		return ""
	}
	return sha
}
