package github

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	gh "github.com/google/go-github/v66/github"

	"github.com/liaison-bot/liaison/sessions"
)

// rememberStatus is the key under which a session remembers the commit status
// that it set last, as "<turn> <open|done> <digest>".
const rememberStatus = "status"

// commitStatus is what a check is where there are no check runs.
// https://docs.github.com/rest/commits/statuses#create-a-commit-status
type commitStatus struct{ state, description, target string }

// asStatus says in one line what a check says. A status cannot be cancelled or
// neutral: what blocks nothing is a success, and what has no result an error.
func (p checkPayload) asStatus(target string) commitStatus {
	s := commitStatus{target: target, description: ellipsis(strings.TrimSpace(oneLine(spellOut(p.Title))), maxStatusDescription)}
	switch p.Conclusion {
	case "":
		s.state = "pending"
	case concludedSuccess, concludedNeutral:
		s.state = "success"
	case concludedFailure:
		if s.state = "failure"; p.Failed {
			s.state = "error"
		}
	default:
		s.state = "error"
	}
	return s
}

func (s commitStatus) digest() string {
	sum := sha256.Sum256([]byte(s.state + "\x00" + s.description + "\x00" + s.target))
	return hex.EncodeToString(sum[:8])
}

// statusMark is a status that we know of.
type statusMark struct {
	turn   string
	done   bool
	digest string
}

func (m statusMark) String() string {
	state := "open"
	if m.done {
		state = "done"
	}
	return m.turn + " " + state + " " + m.digest
}

func (w *writer) knownStatus() statusMark {
	var m statusMark
	var state string
	if n, _ := fmt.Sscanf(w.item.Surface[rememberStatus], "%s %s %s", &m.turn, &state, &m.digest); n != 3 || m.turn != w.externalID() {
		return statusMark{turn: w.externalID()}
	}
	m.done = state == "done"
	return m
}

// status sets the commit status in the place of a check run. Nothing is written
// that says nothing new: a commit takes 1,000 of one context.
func (w *writer) status(ctx context.Context, p checkPayload) (sessions.Receipt, error) {
	if granted := w.app.knownGrants(w.repo.transport.actual()); granted != nil && !atLeast(granted["statuses"], "write") {
		return sessions.Receipt{Note: "no check: the installation grants neither \"checks: write\" nor \"statuses: write\""}, nil
	}
	mark := w.knownStatus()
	switch {
	case mark.done:
		return w.statusReceipt("the commit status was set already", mark), nil
	case p.Conclusion == concludedCancelled && mark.digest == "" && w.item.Attempts <= 1:
		return sessions.Receipt{Note: "no commit status to cancel"}, nil
	}
	if w.Kind != kindMergeGroup { // its commit never moves
		switch where, err := w.stand(ctx); {
		case err != nil:
			return sessions.Receipt{}, err
		case where != current && p.Conclusion == "":
			return sessions.Receipt{Note: "no commit status: the pull request is closed or has another head by now"}, nil
		case where == stale && !w.promised():
			p.supersede()
		}
	}
	s := p.asStatus(w.statusTarget())
	next := statusMark{turn: mark.turn, done: p.Conclusion != "", digest: s.digest()}
	switch same, err := w.sameStatus(ctx, s, mark); {
	case err != nil:
		return sessions.Receipt{}, err
	case same:
		return w.statusReceipt("the commit status says so already", next), nil
	}
	owner, repo := w.names()
	set := &gh.RepoStatus{State: gh.String(s.state), Description: gh.String(s.description), Context: gh.String(checkName)}
	if s.target != "" {
		set.TargetURL = gh.String(s.target)
	}
	_, _, err := w.repo.client.Repositories.CreateStatus(ctx, owner, repo, w.Head, set)
	switch {
	case w.groupGone(err):
		return sessions.Receipt{Note: "no commit status: the merge group is gone, and its commit " + short(w.Head) + " with it"}, nil
	case refused(err) && strings.Contains(err.Error(), "maximum number of statuses"):
		return sessions.Receipt{Note: "no commit status: " + short(w.Head) + " has 1,000 of ours, and takes no more"}, nil
	case err != nil:
		return sessions.Receipt{}, fmt.Errorf("set the commit status: %w", err)
	}
	return w.statusReceipt("commit status set, in place of a check run: "+s.state, next), nil
}

func (w *writer) statusReceipt(note string, m statusMark) sessions.Receipt {
	return sessions.Receipt{Note: note, Remember: map[string]string{rememberStatus: m.String()}}
}

// sameStatus reports whether the commit's status says this already. After a try
// whose end is not known GitHub is asked.
func (w *writer) sameStatus(ctx context.Context, s commitStatus, mark statusMark) (bool, error) {
	if mark.digest == s.digest() {
		return true, nil
	}
	if w.item.Attempts <= 1 {
		return false, nil
	}
	owner, repo := w.names()
	// The newest come first; other contexts stand between.
	list, _, err := w.repo.client.Repositories.ListStatuses(ctx, owner, repo, w.Head, &gh.ListOptions{PerPage: pageSize})
	if err != nil {
		return false, fmt.Errorf("look for the commit status: %w", err)
	}
	for _, found := range list {
		if found.GetContext() == checkName {
			return found.GetState() == s.state && found.GetDescription() == s.description && found.GetTargetURL() == s.target, nil
		}
	}
	return false, nil
}
