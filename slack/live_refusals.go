package slack

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/liaison-bot/liaison/slack/web"
	"github.com/liaison-bot/liaison/slack/workspace"
)

// outcome is what a failed call means for what is shown of a turn.
type outcome int

const (
	// notYet: nothing happened, and the same can be tried again.
	notYet outcome = iota + 1
	// closedStream: the stream takes no more.
	closedStream
	// notHere: Slack does not do this in this place, whatever the text is.
	notHere
	// notThis: Slack does not take this text.
	notThis
	// goneAway: the message, or all of its place, is not there.
	goneAway
	// notKnown: it may have happened.
	notKnown
)

// codeStreamClosed is Slack's name for a stream that takes no more, because it was
// stopped or because some five minutes have passed
// (https://github.com/vercel/chat/issues/607).
const codeStreamClosed = "message_not_in_streaming_state"

// unsupported are Slack's names for what a place or a workspace cannot do. Many
// are not documented, so a name that says so is enough.
func unsupported(code string) bool {
	switch code {
	case "unknown_method", "not_enabled", "feature_not_enabled", "missing_recipient_team_id", "missing_recipient_user_id":
		return true
	}
	return strings.Contains(code, "not_supported") || strings.Contains(code, "not_allowed")
}

// judge says what a failed call means.
func judge(err error) outcome {
	code := web.Code(err)
	switch {
	case code == codeStreamClosed:
		return closedStream
	case unsupported(code):
		return notHere
	case errors.Is(err, web.ErrUnsent), errors.Is(err, web.ErrLimited), errors.Is(err, web.ErrLate):
		return notYet
	case errors.Is(err, web.ErrAmbiguous):
		return notKnown
	case errors.Is(err, web.ErrAuth), errors.Is(err, workspace.ErrNotInstalled):
		return notHere
	case errors.Is(err, web.ErrGone), errors.Is(err, web.ErrDetached):
		return goneAway
	case errors.Is(err, web.ErrRefused):
		return notThis
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return notYet // it stood in line: what had begun is of class ErrAmbiguous
	}
	return notKnown
}

// ofThisCall reports whether a refusal is about one thread, or about the token as it
// is now, so that it says nothing of what a place can do.
func ofThisCall(err error) bool {
	switch web.Code(err) {
	case "invalid_thread_ts", "thread_not_found", "message_not_found":
		return true
	}
	return revoked(err) && !unsupported(web.Code(err))
}

// comeBack is the least time to wait after a failure.
func comeBack(err error) time.Duration {
	var e *web.Error
	if errors.As(err, &e) {
		return e.After
	}
	return 0
}

// refusalHolds is how long it is believed that something is not done in a place:
// whoever installs the app anew should not have to restart the service.
const refusalHolds = time.Hour

// maxRefusals bounds how many places are remembered.
const maxRefusals = 1000

// refusals remembers what Slack does not do, and where.
type refusals struct {
	now func() time.Time

	mu    sync.Mutex
	until map[string]time.Time
}

func newRefusals(now func() time.Time) *refusals {
	return &refusals{now: now, until: make(map[string]time.Time)}
}

// add notes that something is not done. where is a workspace, or a channel in it.
func (r *refusals) add(what string, where ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	if len(r.until) >= maxRefusals {
		for key, until := range r.until {
			if !until.After(now) {
				delete(r.until, key)
			}
		}
	}
	if len(r.until) < maxRefusals {
		r.until[what+" "+strings.Join(where, " ")] = now.Add(refusalHolds)
	}
}

// has reports whether something is not done.
func (r *refusals) has(what string, where ...string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	until, ok := r.until[what+" "+strings.Join(where, " ")]
	return ok && until.After(r.now())
}
