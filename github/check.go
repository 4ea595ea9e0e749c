package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/liaison-bot/liaison/sessions"
)

// checkName is what people see, and what a branch protection rule can require.
const checkName = "Liaison"

// rememberCheck is the key under which a session remembers its latest check
// run, as "<turn> <id> <open|done> <annotations>".
const rememberCheck = "check"

// checkMark is a check run that we know of.
type checkMark struct {
	turn string
	id   int64
	done bool
	// annotations is how many are in.
	annotations int
}

func (m checkMark) String() string {
	state := "open"
	if m.done {
		state = "done"
	}
	return fmt.Sprintf("%s %d %s %d", m.turn, m.id, state, m.annotations)
}

// externalID is the turn's id, or that of what no turn owes. A turn has one
// check run; another turn, as after "Re-run", makes a new one, so that the old
// verdict never stands on beside the new question
// (https://github.com/cirruslabs/cirrus-ci-docs/issues/701).
func (w *writer) externalID() string {
	if w.Kind == kindMergeGroup {
		return "merge_group:" + w.Head
	}
	return cmp.Or(w.item.TurnID, w.item.ID)
}

// knownCheck returns what the session remembers of this turn's check run.
func (w *writer) knownCheck() checkMark {
	var m checkMark
	var state string
	n, _ := fmt.Sscanf(w.item.Surface[rememberCheck], "%s %d %s %d", &m.turn, &m.id, &state, &m.annotations)
	if n < 3 || m.turn != w.externalID() { // the number of annotations came later
		return checkMark{turn: w.externalID()}
	}
	m.done = state == "done"
	return m
}

// check tells of a state of the check: by a check run or, where the
// installation does not let us, by a commit status.
func (w *writer) check(ctx context.Context, p checkPayload) (sessions.Receipt, error) {
	if w.noChecks(ctx, nil) {
		return w.status(ctx, p)
	}
	receipt, err := w.checkRun(ctx, p)
	var paused *PausedError
	switch {
	case err == nil, errors.As(err, &paused):
		return receipt, err
	case w.noChecks(ctx, err):
		return w.status(ctx, p)
	case w.groupGone(err):
		return sessions.Receipt{Note: "no check run: the merge group is gone, and its commit " + short(w.Head) + " with it"}, nil
	}
	return receipt, err
}

// noChecks reports whether the installation does not grant the writing of
// checks, as far as that is known or, after a refusal, can be found out.
func (w *writer) noChecks(ctx context.Context, refusal error) bool {
	installation := w.repo.transport.actual()
	granted := w.app.knownGrants(installation)
	if granted == nil && forbidden(refusal) {
		granted, _ = w.app.learnGrants(ctx, installation) // else the refusal stands
	}
	return granted != nil && !atLeast(granted["checks"], "write")
}

// groupGone reports whether GitHub refused because a merge group's commit went
// with the group.
func (w *writer) groupGone(err error) bool {
	return w.Kind == kindMergeGroup && refused(err) && strings.Contains(strings.ToLower(err.Error()), "no commit found")
}

func (w *writer) checkRun(ctx context.Context, p checkPayload) (sessions.Receipt, error) {
	switch {
	case p.Conclusion != "":
		return w.concludeCheck(ctx, p)
	case p.Again:
		return w.retellCheck(ctx, p)
	default:
		return w.openCheck(ctx, p)
	}
}

// openCheck creates the check run in progress. One that exists is left as it
// is, whatever its state: a late "in progress" must not open what was concluded.
func (w *writer) openCheck(ctx context.Context, p checkPayload) (sessions.Receipt, error) {
	mark := w.knownCheck()
	if mark.id == 0 && w.item.Attempts > 1 {
		var err error
		if mark, err = w.findCheck(ctx); err != nil {
			return sessions.Receipt{}, err
		}
	}
	if mark.id != 0 {
		return w.checkReceipt("the check run exists already", mark), nil
	}
	switch where, err := w.stand(ctx); {
	case err != nil:
		return sessions.Receipt{}, err
	case where != current:
		return sessions.Receipt{Note: "no check run: the pull request is closed or has another head by now"}, nil
	}
	var id int64
	err := shrinking(maxCheckText, func(limit int) (err error) {
		id, err = w.createCheck(ctx, p, renderCheck(p, limit, w.item.SessionID))
		return err
	})
	if err != nil {
		return sessions.Receipt{}, err
	}
	return w.checkReceipt("check run in progress", checkMark{turn: w.externalID(), id: id}), nil
}

// retellCheck has the check run in progress say something else, or creates it
// where there is none. What was concluded stays so.
func (w *writer) retellCheck(ctx context.Context, p checkPayload) (sessions.Receipt, error) {
	mark := w.knownCheck()
	if mark.id == 0 {
		var err error
		if mark, err = w.findCheck(ctx); err != nil {
			return sessions.Receipt{}, err
		}
	}
	if mark.id == 0 {
		return w.openCheck(ctx, p)
	}
	if mark.done {
		return w.checkReceipt("the check run was concluded already", mark), nil
	}
	switch where, err := w.stand(ctx); {
	case err != nil:
		return sessions.Receipt{}, err
	case where != current:
		return w.checkReceipt("the check run is left as it is: the pull request is closed or has another head by now", mark), nil
	}
	err := shrinking(maxCheckText, func(limit int) error {
		return w.updateCheck(ctx, mark.id, p, renderCheck(p, limit, w.item.SessionID))
	})
	switch {
	case notFound(err):
		return sessions.Receipt{Note: "the check run is gone"}, nil
	case err != nil:
		return sessions.Receipt{}, err
	}
	return w.checkReceipt("check run in progress: "+p.Title, mark), nil
}

// concludeCheck ends the check run, or creates it ended where there is none,
// and adds the annotations. The conclusion comes with the first of them: people
// and merge queues wait for it.
func (w *writer) concludeCheck(ctx context.Context, p checkPayload) (sessions.Receipt, error) {
	mark, inside, err := w.checkBefore(ctx, p)
	if err != nil {
		return sessions.Receipt{}, err
	}
	notes, left := annotations(p.Findings)
	if mark.done && inside >= len(notes) {
		mark.annotations = inside
		return w.checkReceipt("the check run was concluded already", mark), nil
	}
	where := current
	if w.Kind != kindMergeGroup { // its commit never moves
		if where, err = w.stand(ctx); err != nil {
			return sessions.Receipt{}, err
		}
	}
	if where == stale && !w.promised() {
		p.supersede()
		notes, left = nil, nil
	}
	p.locate(where)
	run := &annotatedRun{writer: w, payload: p, left: left, limit: maxCheckText}
	switch {
	case mark.done:
		if notes, err = w.missingAnnotations(ctx, mark.id, inside, notes); err != nil {
			return sessions.Receipt{}, err
		}
		run.id = mark.id
	case mark.id == 0 && p.Conclusion == concludedCancelled:
		return sessions.Receipt{Note: "no check run to cancel"}, nil
	default:
		run.id = mark.id
		if notes, err = run.conclude(ctx, notes); err != nil {
			return sessions.Receipt{}, err
		}
	}
	if err := run.add(ctx, notes); err != nil {
		return sessions.Receipt{}, err
	}
	mark.id, mark.done, mark.annotations = run.id, true, inside+run.sent
	note := "check run concluded: " + p.Conclusion
	if mark.annotations > 0 {
		note += fmt.Sprintf(", %d annotations", mark.annotations)
	}
	return w.checkReceipt(note, mark), nil
}

// checkBefore returns this turn's check run as far as it exists, and how many
// annotations it has. After a try whose end is not known GitHub is asked.
func (w *writer) checkBefore(ctx context.Context, p checkPayload) (checkMark, int, error) {
	mark := w.knownCheck()
	if mark.id != 0 && (mark.done || w.item.Attempts <= 1 || len(p.Findings) == 0) {
		return mark, mark.annotations, nil
	}
	found, err := w.findCheck(ctx)
	return found, found.annotations, err
}

func (w *writer) checkReceipt(note string, m checkMark) sessions.Receipt {
	return sessions.Receipt{Note: note, Remember: map[string]string{rememberCheck: m.String()}}
}
