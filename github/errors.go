package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	gh "github.com/google/go-github/v66/github"

	"github.com/liaison-bot/liaison/github/evidence"
	"github.com/liaison-bot/liaison/sessions"
)

// LimitError says that GitHub limits our rate.
type LimitError struct {
	// Secondary is set for the limits on bursts and content; otherwise it is the
	// hourly quota.
	Secondary bool
	// Resource is what is limited, as GitHub calls it; empty means all that the
	// installation asks for.
	Resource string
	// After is the least time to wait.
	After   time.Duration
	Message string
}

// Error implements error.
func (e *LimitError) Error() string {
	kind := "hourly rate limit"
	if e.Secondary {
		kind = "secondary rate limit"
	}
	return fmt.Sprintf("GitHub's %s is reached: %s", kind, e.Message)
}

// PausedError says that an installation refuses us altogether until a person
// changes something at GitHub.
type PausedError struct {
	Installation int64
	// Reason says what is wrong and what a person can do.
	Reason string
	// After is when it is worth looking again.
	After time.Duration
	// gone is set when there is no such installation any more.
	gone bool
	// ungranted is set when no token is given for what was asked for.
	ungranted bool
}

// Error implements error.
func (e *PausedError) Error() string {
	return fmt.Sprintf("GitHub installation %d: %s", e.Installation, e.Reason)
}

// AuthError says that GitHub does not accept who we say we are.
type AuthError struct {
	// After is when it is worth trying again.
	After  time.Duration
	Reason string
}

// Error implements error.
func (e *AuthError) Error() string { return e.Reason }

// ForeignHostError says that a request for another host than the API's was
// stopped before a token could travel with it.
type ForeignHostError struct{ Host string }

// Error implements error.
func (e *ForeignHostError) Error() string {
	return fmt.Sprintf("refused to call %q: it is not the host of the GitHub API", e.Host)
}

// errTooLarge is returned while reading an answer that is longer than maxResponse.
var errTooLarge = fmt.Errorf("GitHub's answer is larger than %d MiB", maxResponse>>20)

// errElsewhere is returned for a thing that was moved to another repository.
var errElsewhere = errors.New("it is in another repository by now")

// retryable turns what can be tried again into a *sessions.RetryError and
// leaves what cannot as it is.
func retryable(err error, now time.Time) error {
	var (
		done       *sessions.RetryError
		superseded *sessions.SupersededError
		unneeded   *sessions.UnneededError
		paused     *PausedError
		limit      *LimitError
		auth       *AuthError
		foreign    *ForeignHostError
		replaced   *evidence.RepositoryError
		quota      *gh.RateLimitError
		abuse      *gh.AbuseRateLimitError
		later      *gh.AcceptedError
		answer     *gh.ErrorResponse
		query      *GraphQLError
	)
	retry := func(after time.Duration) error { return &sessions.RetryError{After: after, Err: err} }
	// GitHub is closed to all that we want of it.
	outwait := func(after time.Duration) error {
		return &sessions.RetryError{After: after, Uncounted: true, Err: err}
	}
	switch {
	case err == nil:
		return nil
	case errors.As(err, &done), errors.As(err, &superseded), errors.As(err, &unneeded):
		return err
	case errors.As(err, &paused):
		return &sessions.RetryError{After: paused.After, Paused: true, Err: err}
	case errors.As(err, &limit):
		return outwait(limit.After)
	case errors.As(err, &auth):
		return outwait(auth.After)
	case errors.As(err, &quota):
		// go-github refuses by itself once an answer said that nothing is left.
		return outwait(max(time.Second, quota.Rate.Reset.Sub(now)))
	case errors.As(err, &abuse):
		return outwait(max(unknownWait, abuse.GetRetryAfter()))
	case errors.As(err, &later):
		return retry(0)
	case errors.As(err, &answer):
		if temporary(answer.Response.StatusCode) {
			return retry(0)
		}
		return err
	case errors.As(err, &query):
		if query.temporary() {
			return retry(0)
		}
		return err
	case errors.As(err, &replaced):
		return retry(lagWait) // renamed a moment ago; the next look follows it
	case errors.As(err, &foreign), errors.Is(err, errTooLarge):
		return err
	case unreachable(err):
		return outwait(0)
	case transient(err):
		return retry(0)
	}
	return err
}

// unreachable reports whether no connection to GitHub came about, as without a
// network or a name server. A call that was cut off is not meant: it may be
// this one call that cannot be answered.
func unreachable(err error) bool {
	var network *net.OpError
	return errors.As(err, &network) && (network.Op == "dial" || network.Op == "proxyconnect")
}

// temporary reports whether a status that is no answer may be another one next
// time. Those below 400 are such as "not modified", for which nobody asked.
func temporary(status int) bool {
	return status >= 500 || status < 400 || status == http.StatusRequestTimeout || status == http.StatusConflict
}

// transient reports whether err comes from the way to GitHub, or from our own
// stopping, and not from an answer.
func transient(err error) bool {
	var (
		network net.Error
		call    *url.Error
		noJSON  *json.SyntaxError // a proxy's page in place of an answer
		other   *json.UnmarshalTypeError
	)
	return errors.As(err, &network) || errors.As(err, &call) || errors.As(err, &noJSON) || errors.As(err, &other) ||
		errors.Is(err, evidence.ErrNoAnswer) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// status returns the status of GitHub's answer behind err, or 0.
func status(err error) int {
	var answer *gh.ErrorResponse
	if errors.As(err, &answer) && answer.Response != nil {
		return answer.Response.StatusCode
	}
	return 0
}

// forbidden reports whether GitHub says that we may not do a thing, which
// another try does not change.
func forbidden(err error) bool {
	var query *GraphQLError
	if errors.As(err, &query) {
		return query.Type == graphQLForbidden
	}
	return status(err) == http.StatusForbidden
}

// notFound reports whether GitHub says that a thing does not exist, now or any more.
func notFound(err error) bool {
	var query *GraphQLError
	if errors.As(err, &query) {
		return query.Type == graphQLNotFound
	}
	s := status(err)
	return s == http.StatusNotFound || s == http.StatusGone
}
