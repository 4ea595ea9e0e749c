package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	gh "github.com/google/go-github/v66/github"

	"github.com/liaison-bot/liaison/github/evidence"
	"github.com/liaison-bot/liaison/sessions"
)

// Deliver performs one owed effect, after a look at the pull request as it is
// now. What is not wanted any more is left out and noted.
func (c *Channel) Deliver(ctx context.Context, item sessions.Item) (sessions.Receipt, error) {
	receipt, err := c.deliver(ctx, item)
	if err != nil {
		return sessions.Receipt{}, retryable(fmt.Errorf("github: deliver %s: %w", item.Kind, err), c.app.now())
	}
	return receipt, nil
}

func (c *Channel) deliver(ctx context.Context, item sessions.Item) (sessions.Receipt, error) {
	switch item.Kind {
	case sessions.KindApprovalCard:
		return c.drawCard(ctx, item)
	case kindCall:
		return perform(ctx, c, item, (*writer).call)
	case kindCheck:
		return perform(ctx, c, item, (*writer).check)
	case kindComment:
		return perform(ctx, c, item, (*writer).comment)
	case kindNotice:
		return perform(ctx, c, item, (*writer).notice)
	case kindPosted:
		return perform(ctx, c, item, (*writer).post)
	case kindReply:
		return perform(ctx, c, item, (*writer).reply)
	case kindReaction:
		return perform(ctx, c, item, (*writer).react)
	case kindResolve:
		return perform(ctx, c, item, (*writer).settle)
	case kindDismiss:
		return perform(ctx, c, item, (*writer).dismiss)
	case kindReviewed:
		return perform(ctx, c, item, (*writer).remember)
	}
	return sessions.Receipt{}, errors.New("no such kind of effect")
}

// perform reads an item's payload, which has its request as a field, and does
// what it asks for.
func perform[P any](ctx context.Context, c *Channel, item sessions.Item, do func(*writer, context.Context, P) (sessions.Receipt, error)) (sessions.Receipt, error) {
	var payload P
	var about struct {
		Request request `json:"request"`
	}
	for _, into := range []any{&payload, &about} {
		if err := json.Unmarshal(item.Payload, into); err != nil {
			return sessions.Receipt{}, unreadable("payload", err)
		}
	}
	t, err := c.app.target(about.Request)
	if err != nil {
		return sessions.Receipt{}, err
	}
	return do(&writer{target: t, app: c.app, item: item}, ctx, payload)
}

// writer performs one effect on one pull request.
type writer struct {
	target
	app  *app
	item sessions.Item
}

// target is a pull request that a turn is about, and the way to it.
type target struct {
	request
	repo *repository
}

func (a *app) target(r request) (target, error) {
	if err := r.check(); err != nil {
		return target{}, err
	}
	repo, err := a.repository(r.Installation, r.Repository)
	return target{request: r, repo: repo}, err
}

// names returns the repository's owner and name as far as we know them.
func (t target) names() (owner, repo string) {
	owner, repo, _ = splitName(t.repo.transport.names.present(t.FullName))
	return owner, repo
}

// live reads the pull request as it is now. A name under which there is
// nothing, or another repository, is looked up by the id once.
func (t target) live(ctx context.Context) (evidence.PullRequest, error) {
	owner, repo := t.names()
	pull, err := evidence.LivePull(ctx, t.repo.client, owner, repo, t.Number)
	other := err == nil && pull.Repository.ID != t.Repository
	if !other && !notFound(err) {
		return pull, err
	}
	known := owner + "/" + repo
	name, lookup := t.repo.transport.resolve(ctx, known)
	switch {
	case t.young() && (lookup == nil && name == known && !other || notFound(lookup)):
		// A replica that has not heard of it yet answers like one that lost it.
		return pull, &sessions.RetryError{After: lagWait, Err: fmt.Errorf("GitHub does not show %s yet", t.name())}
	case lookup != nil:
		return pull, fmt.Errorf("find %s again: %w", known, lookup)
	case name != known:
		owner, repo = t.names()
		return evidence.LivePull(ctx, t.repo.client, owner, repo, t.Number)
	case other:
		return pull, fmt.Errorf("GitHub answers for %s with repository %d, not %d", known, pull.Repository.ID, t.Repository)
	}
	return pull, err
}

// young reports whether the event that we come from has only just happened.
func (t target) young() bool {
	at := t.UpdatedAt
	if t.Comment != nil && t.Comment.At.After(at) {
		at = t.Comment.At
	}
	return t.repo.transport.app.now().Sub(at).Abs() < appearsWithin
}

// The ways in which a pull request can have moved on from a request.
type standing int

const (
	// current: open, and the head is the one that was reviewed.
	current standing = iota
	// stale: the head is another one.
	stale
	// closed: closed or merged, or gone altogether.
	closed
)

// stand compares the live pull request with the request. GitHub's replicas can
// be behind the event that we come from: an older state says nothing, and is a
// reason to come back.
func (t target) stand(ctx context.Context) (standing, error) {
	pull, err := t.live(ctx)
	switch {
	case notFound(err):
		return closed, nil
	case err != nil:
		return 0, err
	case pull.Head.SHA == t.Head && pull.State != "closed":
		return current, nil
	case t.lags(pull):
		return 0, t.lagging(pull)
	case pull.Head.SHA != t.Head:
		return stale, nil
	}
	return closed, nil
}

// passed says why nothing is written where the pull request stands, or "" where
// something can be.
func (t target) passed(where standing) string {
	switch where {
	case stale:
		return short(t.Head) + " is not the head any more"
	case closed:
		return "the pull request is closed"
	}
	return ""
}

// promised reports whether somebody asked for the work in words, and is told its
// outcome even where the head has moved on. A push whose review takes this one's
// place interrupts it; one that starts none, as where only commands do, must not
// leave who asked without a word.
func (t target) promised() bool { return t.Comment != nil || t.Caller != nil }

// lags reports whether what GitHub shows is older than the event. Its time of
// change is not always moved by a push, so that the head before the push, with
// no later time, is older too.
func (t target) lags(pull evidence.PullRequest) bool {
	return pull.UpdatedAt.Before(t.UpdatedAt) ||
		t.Previous != "" && pull.Head.SHA == t.Previous && !pull.UpdatedAt.After(t.UpdatedAt)
}

func (t target) lagging(pull evidence.PullRequest) error {
	return &sessions.RetryError{After: lagWait, Err: fmt.Errorf(
		"GitHub still shows %s at %s, which is older than the event about %s", t.name(), short(pull.Head.SHA), short(t.Head))}
}

// tooLong reports whether GitHub refused a text for its length.
func tooLong(err error) bool {
	return refused(err) && refusalMentions(err, "too long", "too_long", "65535", "65536")
}

// locked reports whether GitHub takes no more words in a conversation. It says
// so with more than one status.
func locked(err error) bool {
	return (refused(err) || forbidden(err)) && refusalMentions(err, "is locked", "lock prevents")
}

// refused reports whether GitHub understood a request and does not take it as it is.
func refused(err error) bool { return status(err) == http.StatusUnprocessableEntity }

// refusalMentions reports whether GitHub's reasons for a refusal mention any of
// some words. It has no codes for them.
func refusalMentions(err error, words ...string) bool {
	var answer *gh.ErrorResponse
	if !errors.As(err, &answer) {
		return false
	}
	reasons := []string{answer.Message}
	for _, e := range answer.Errors {
		reasons = append(reasons, e.Code, e.Message)
	}
	all := strings.ToLower(strings.Join(reasons, "\n"))
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(all, w) })
}
