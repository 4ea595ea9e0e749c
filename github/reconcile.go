package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/liaison-bot/liaison/github/evidence"
	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/state"
)

// ReconcileOptions is what a [Reconciler] needs of the rest of the process.
type ReconcileOptions struct {
	// Sessions are those that are compared.
	Sessions SessionBook
	// Inbox takes what was found, as it takes webhooks.
	Inbox state.Inbox
}

// SessionBook finds sessions and what belongs to them.
type SessionBook interface {
	state.SessionIndex
	// Turns returns all turns of a session in order of ID.
	Turns(ctx context.Context, sessionID string) ([]state.Turn, error)
	// OutboxItems returns what a session owes.
	OutboxItems(ctx context.Context, sessionID string) ([]state.OutboxItem, error)
}

// Reconciler compares open sessions with their pull requests, for what no
// delivery told: a delivery may be lost for good, or never have been sent, as
// those over 25 MB. What it finds goes the way of every event: it is stored as a
// delivery, in the words that GitHub would have used, made from the live pull
// request. So it is mapped, weighed and decided like any other, deduped by what
// it means, and a person finds it among the deliveries.
type Reconciler struct {
	ReconcileOptions

	channel *Channel
	log     *slog.Logger
	now     func() time.Time

	// before is where the next pass goes on; empty begins with the newest session.
	before string
	// passed is set after the first pass.
	passed bool
	// ended has the check runs that were found concluded. A session goes on
	// remembering such a check as open.
	ended map[int64]bool
}

// NewReconciler returns a reconciler of this channel's sessions.
func (c *Channel) NewReconciler(o ReconcileOptions) *Reconciler {
	return &Reconciler{ReconcileOptions: o, channel: c, log: c.app.log, now: c.app.now, ended: map[int64]bool{}}
}

// Run compares at once and then every so often, until ctx ends.
func (r *Reconciler) Run(ctx context.Context, every time.Duration) {
	regularly(ctx, every, func() {
		if err := r.Pass(ctx); err != nil && ctx.Err() == nil {
			r.log.Warn("sessions could not all be compared with their pull requests", "error", err)
		}
	})
}

// Pass compares sessions, up to maxReconciled of them, beginning where the last
// pass ended. One that cannot be compared holds up no other.
func (r *Reconciler) Pass(ctx context.Context) error {
	compared, found := 0, 0
	for range maxReconcilePages {
		page, err := r.Sessions.RecentSessions(ctx, state.SessionFilter{Channel: Name, Before: r.before}, pageSize)
		if err != nil {
			return fmt.Errorf("list the sessions: %w", err)
		}
		if len(page) == 0 {
			r.before, r.passed = "", true
			break
		}
		for _, s := range page {
			r.before = s.ID
			if s.Status != state.SessionActive || r.now().Sub(s.UpdatedAt) > reconcileRecent {
				continue
			}
			changed, err := r.compare(ctx, s)
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case errors.Is(err, state.ErrUnavailable):
				return err
			case err != nil:
				r.log.Debug("session not compared with its pull request", "session", s.ID, "error", err)
			}
			if changed {
				found++
			}
			if compared++; compared == maxReconciled {
				return r.tell(found)
			}
			if err := rest(ctx, recoverPause); err != nil {
				return err
			}
		}
	}
	return r.tell(found)
}

// tell logs what a pass found.
func (r *Reconciler) tell(found int) error {
	if found > 0 {
		r.log.Info("pull requests had moved on without a delivery", "sessions", found)
	}
	return nil
}

// compare looks at one session's pull request, and reports whether something had to be done.
func (r *Reconciler) compare(ctx context.Context, s state.Session) (bool, error) {
	turns, err := r.Sessions.Turns(ctx, s.ID)
	if err != nil {
		return false, err
	}
	req, ok := latest(turns)
	if !ok || !r.channel.app.quota.spare(req.Installation) {
		return false, nil
	}
	t, err := r.channel.app.target(req)
	if err != nil {
		return false, err
	}
	pull, err := t.live(ctx)
	switch {
	case notFound(err):
		return false, nil // there is nothing to compare with, and nobody to tell
	case err != nil:
		return false, err
	}
	// What has just happened may have its delivery on the way. At the first pass
	// there was nobody to take it.
	if r.passed && r.now().Sub(pull.UpdatedAt) < eventsLate {
		return false, nil
	}
	switch {
	case pull.State == "closed":
		return r.told(ctx, t, s, "closed")
	case s.Revision.ID != "" && s.Revision.ID != pull.Head.SHA:
		return r.told(ctx, t, s, "synchronize")
	}
	return r.conclude(ctx, s, turns)
}

// latest is the request of the newest turn about a pull request.
func latest(turns []state.Turn) (request, bool) {
	for _, t := range slices.Backward(turns) {
		req, err := parseRequest(t.Request)
		if err == nil && !req.Issue && req.Kind != kindMergeGroup {
			return req, true
		}
	}
	return request{}, false
}

// told stores the delivery that would have told of the pull request as it is now.
func (r *Reconciler) told(ctx context.Context, t target, s state.Session, action string) (bool, error) {
	var live json.RawMessage
	if err := get(ctx, t.repo.client, t.path("pulls/%d", t.Number), &live); err != nil {
		return false, err
	}
	var parts struct {
		User      json.RawMessage `json:"user"`
		UpdatedAt string          `json:"updated_at"`
		Head      struct {
			SHA string `json:"sha"`
		} `json:"head"`
		Base struct {
			Repo json.RawMessage `json:"repo"`
		} `json:"base"`
	}
	if err := json.Unmarshal(live, &parts); err != nil || !validSHA(parts.Head.SHA) {
		return false, evidence.ErrNoAnswer
	}
	body, err := json.Marshal(map[string]any{
		"action": action, "number": t.Number, "before": s.Revision.ID, "after": parts.Head.SHA,
		"pull_request": live, "repository": parts.Base.Repo, "installation": map[string]int64{"id": t.Installation},
		// Who did it is not known. The pull request's author answers for it: nobody
		// gains by that what they may not have.
		"sender": parts.User,
	})
	if err != nil {
		return false, err
	}
	// The same state gives the same id, so that it is told of once however often it is seen.
	id := fmt.Sprintf("reconcile:%d:%d:%s:%s:%d", t.Repository, t.Number, action, parts.Head.SHA, parseTime(parts.UpdatedAt).Unix())
	outcome, err := r.Inbox.Accept(ctx, state.Delivery{
		Source: Name, ID: id, Event: "pull_request", Body: body, ReceivedAt: r.now(),
	})
	return outcome == state.Fresh, err
}

// conclude ends the check run that a turn left in progress: the turn is over,
// and nothing is owed any more that would end it.
func (r *Reconciler) conclude(ctx context.Context, s state.Session, turns []state.Turn) (bool, error) {
	for _, t := range slices.Backward(turns) {
		item := sessions.Item{
			ID: t.ID + "/reconcile", SessionID: s.ID, TurnID: t.ID, Key: s.Key, Kind: kindCheck, Attempts: 2, Surface: s.Surface,
		}
		mark := (&writer{item: item}).knownCheck()
		if mark.id == 0 || mark.done || r.ended[mark.id] {
			continue
		}
		if !t.Status.Ended() || r.now().Sub(t.EndedAt) < leftOpen {
			return false, nil
		}
		owed, err := r.Sessions.OutboxItems(ctx, s.ID)
		if err != nil || len(owed) > 0 {
			return false, err
		}
		return r.end(ctx, item, t, mark)
	}
	return false, nil
}

// end concludes a check run that is still in progress at GitHub.
func (r *Reconciler) end(ctx context.Context, item sessions.Item, t state.Turn, mark checkMark) (bool, error) {
	req, err := parseRequest(t.Request)
	if err != nil {
		return false, err
	}
	tgt, err := r.channel.app.target(req)
	if err != nil {
		return false, err
	}
	owner, repo := tgt.names()
	run, _, err := tgt.repo.client.Checks.GetCheckRun(ctx, owner, repo, mark.id)
	switch {
	case notFound(err), err == nil && run.GetStatus() == "completed":
		r.ended[mark.id] = true
		return false, nil
	case err != nil:
		return false, err
	}
	report := sessions.Report{Moment: sessions.MomentInterrupted, Reason: "it ended, and its result could not be written here; the session has it"}
	if t.Status == state.TurnFailed {
		report = sessions.Report{Moment: sessions.MomentFailed, Reason: t.Reason}
	}
	effects, err := r.channel.Effects(sessions.Turn{ID: t.ID, SessionID: t.SessionID, Key: item.Key, Attempt: t.Attempts, Request: t.Request}, report)
	if err != nil {
		return false, err
	}
	for _, e := range effects {
		if e.Kind != kindCheck {
			continue
		}
		item.Payload = e.Payload
		if _, err := r.channel.Deliver(ctx, item); err != nil {
			return false, err
		}
		r.ended[mark.id] = true
		return true, nil
	}
	return false, nil
}
