package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

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
	case kindCheck:
		var p checkPayload
		w, err := c.writer(item, &p, &p.Request)
		if err != nil {
			return sessions.Receipt{}, err
		}
		return w.check(ctx, p)
	case kindComment:
		var p commentPayload
		w, err := c.writer(item, &p, &p.Request)
		if err != nil {
			return sessions.Receipt{}, err
		}
		return w.comment(ctx, p)
	case kindNotice:
		var p noticePayload
		w, err := c.writer(item, &p, &p.Request)
		if err != nil {
			return sessions.Receipt{}, err
		}
		return w.notice(ctx, p)
	}
	return sessions.Receipt{}, errors.New("no such kind of effect")
}

// writer performs one effect on one pull request.
type writer struct {
	target
	app  *app
	item sessions.Item
}

func (c *Channel) writer(item sessions.Item, payload any, r *request) (*writer, error) {
	if err := json.Unmarshal(item.Payload, payload); err != nil {
		return nil, unreadable("payload", err)
	}
	t, err := c.app.target(*r)
	if err != nil {
		return nil, err
	}
	return &writer{target: t, app: c.app, item: item}, nil
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
	var answer *gh.ErrorResponse
	if !errors.As(err, &answer) || answer.Response == nil || answer.Response.StatusCode != http.StatusUnprocessableEntity {
		return false
	}
	if mentionsLength(answer.Message) {
		return true
	}
	for _, e := range answer.Errors {
		if e.Code == "too_long" || mentionsLength(e.Message) {
			return true
		}
	}
	return false
}
