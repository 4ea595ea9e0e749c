package github

import (
	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/state"
)

// wake maps the end of somebody else's check on a commit: a review that waits
// for it looks again. Waking twice does no harm, so that it has no fact.
func (e event) wake(sha, field string) (sessions.Intent, error) {
	r, err := e.origin()
	if err != nil {
		return sessions.Intent{}, err
	}
	if !validSHA(sha) {
		return sessions.Intent{}, missing(field)
	}
	r.Head = sha
	in := e.intent(sessions.ActionWake, r)
	in.Revision = state.Revision{ID: sha}
	return in, nil
}
