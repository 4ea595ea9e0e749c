package install

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/liaison-bot/liaison/slack/workspace"
)

const (
	// refreshAhead is how long before its end a token is replaced. They last for 12 h
	// (https://docs.slack.dev/authentication/using-token-rotation), and the earlier
	// one stays good until its end.
	refreshAhead = 2 * time.Hour
	// refreshPause is how long a refresh that failed is left alone.
	refreshPause = time.Minute
	// refreshBudget bounds one refresh. It goes on when whoever began it has left:
	// Slack gives the new tokens once.
	refreshBudget = 20 * time.Second
	// grace is what a token must still be good for to be handed out.
	grace = time.Minute
)

// usable returns a record whose token can be used, or an error wrapping
// [state.ErrNotFound] when there is no record.
func (s *Store) usable(ctx context.Context, id string) (record, error) {
	r, err := s.get(ctx, id)
	if err != nil || !s.due(r) {
		return r, err
	}
	// Whoever has a token that is good for a while need not wait for a better one.
	unlock, err := s.lock(ctx, id, r.expired(s.now().Add(grace)))
	if errors.Is(err, errBusy) {
		return r, nil
	}
	if err != nil {
		return record{}, err
	}
	defer unlock()
	// Another may have done it meanwhile.
	if r, err = s.get(ctx, id); err != nil || !s.due(r) {
		return r, err
	}
	now := s.now()
	s.mu.Lock()
	wait := s.later[id].Sub(now)
	s.mu.Unlock()
	if wait > 0 && !r.expired(now.Add(grace)) {
		return r, nil
	}
	budget, cancel := context.WithTimeout(context.WithoutCancel(ctx), refreshBudget)
	defer cancel()
	next, err := s.refresh(budget, r)
	if err == nil {
		return next, nil
	}
	s.mu.Lock()
	s.later[id] = now.Add(refreshPause)
	s.mu.Unlock()
	if !r.expired(now.Add(grace)) {
		s.log.Warn("a token of Slack's could not be replaced yet; the one at hand is good for a while", "installation", id, "until", r.Expires, "error", err)
		return r, nil
	}
	return record{}, err
}

// due reports whether something has to be done before a record's token is used.
func (s *Store) due(r record) bool {
	s.mu.Lock()
	_, unsaved := s.unsaved[r.id()]
	s.mu.Unlock()
	switch {
	case unsaved:
		return true
	case r.Expires.IsZero() || !r.expired(s.now().Add(refreshAhead)):
		return false
	}
	return !r.Spent || r.expired(s.now())
}

// refresh replaces the token of a record, of which the caller has the lock.
func (s *Store) refresh(ctx context.Context, r record) (record, error) {
	id := r.id()
	s.mu.Lock()
	next, unsaved := s.unsaved[id]
	s.mu.Unlock()
	switch {
	case unsaved:
		return next, s.put(ctx, next)
	case r.Spent || r.Refresh == "":
		return r, fmt.Errorf("the token of %s ended at %s and cannot be replaced; install the app anew: %w", id, r.Expires.UTC().Format(time.RFC3339), workspace.ErrNotInstalled)
	}
	before := r
	// Stored first: it proves that what Slack gives can be kept, and tells the next
	// process of a crash in between.
	r.Refreshing = true
	if !before.Refreshing {
		if err := s.put(ctx, r); err != nil {
			return before, err
		}
	}
	given, err := s.slack.refresh(ctx, r.Refresh)
	if spent(err) {
		r.Refreshing, r.Spent = false, true
		s.log.Error("Slack refuses the refresh token; install the app anew before the token at hand ends",
			"installation", id, "until", r.Expires, "crashed", before.Refreshing, "error", err)
		return before, errors.Join(fmt.Errorf("replace the token of %s: %w: %w", id, err, workspace.ErrNotInstalled), s.put(ctx, r))
	}
	if err != nil {
		return before, fmt.Errorf("replace the token of %s: %w", id, err)
	}
	r.Token, r.Refresh, r.Expires, r.Refreshing = given.token, given.refresh, given.expires(s.now()), false
	if len(given.scopes) > 0 {
		r.Scopes = given.scopes
	}
	s.mu.Lock()
	s.unsaved[id] = r
	s.mu.Unlock()
	if err := s.put(ctx, r); err != nil {
		s.log.Error("a new token of Slack's could not be stored, and will be before it is used", "installation", id, "error", err)
		return before, err
	}
	s.mu.Lock()
	delete(s.later, id)
	s.mu.Unlock()
	s.log.Info("replaced a token of Slack's", "installation", id, "until", r.Expires)
	return r, nil
}
