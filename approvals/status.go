package approvals

import (
	"fmt"
	"time"
)

// Needed is how many more people must approve; zero once it is decided.
func (v View) Needed() int {
	if !v.State.Open() {
		return 0
	}
	return max(v.Policy.MinApprovals, 1) - len(v.Votes)
}

// Status says in one sentence how far the call has come.
func (v View) Status(w Words) string {
	switch v.State {
	case Pending:
		if n := v.Needed(); n > 1 {
			return fmt.Sprintf("Waits for %d people to approve, until %s.", n, w.time(v.ExpiresAt))
		}
		return fmt.Sprintf("Waits for a person to decide, until %s.", w.time(v.ExpiresAt))
	case Approving:
		return fmt.Sprintf("Approved by %s; waits for %s, until %s.", w.people(v.approvers()), more(v.Needed()), w.time(v.ExpiresAt))
	case Approved:
		return v.approved(w) + "; it is about to run."
	case Executing:
		return v.approved(w) + "; it is running."
	case Done:
		return v.approved(w) + ", and done" + v.ran(" in ") + "."
	case Failed:
		if v.Reason != "" {
			return v.approved(w) + ", and not run: " + sentence(w.text(v.Reason))
		}
		return v.approved(w) + ", and failed" + v.ran(" after ") + "."
	case Unknown:
		return v.approved(w) + "; whether it happened is not known, and it is not repeated."
	case Denied:
		return "Denied" + v.decided(w) + "."
	case Expired:
		return fmt.Sprintf("Expired at %s: nobody decided within %s.", w.time(v.EndedAt), took(v.ExpiresAt.Sub(v.CreatedAt)))
	case Cancelled:
		return "Cancelled: " + sentence(w.text(v.Reason))
	case Superseded:
		return "Not wanted any more: " + sentence(w.text(v.Reason))
	}
	return fmt.Sprintf("It is %s.", v.State)
}

func (v View) approvers() []Identity {
	all := make([]Identity, 0, len(v.Votes))
	for _, vote := range v.Votes {
		all = append(all, vote.By)
	}
	return all
}

func (v View) approved(w Words) string {
	if len(v.Votes) < 2 {
		return "Approved" + v.decided(w)
	}
	return fmt.Sprintf("Approved by %s after %s", w.people(v.approvers()), took(v.DecidedAt.Sub(v.CreatedAt)))
}

// decided says who settled it, after how long and where.
func (v View) decided(w Words) string {
	d := v.Decision
	if d == nil {
		return ""
	}
	return fmt.Sprintf(" by %s after %s%s", w.person(d.By), took(d.At.Sub(v.CreatedAt)), where(d.Place))
}

func (v View) ran(word string) string {
	if v.Outcome == nil {
		return ""
	}
	return word + took(time.Duration(v.Outcome.DurationMS)*time.Millisecond)
}

// sentence ends a text as a sentence ends.
func sentence(s string) string {
	if s == "" {
		return "no reason was given."
	}
	switch s[len(s)-1] {
	case '.', '!', '?':
		return s
	}
	return s + "."
}
