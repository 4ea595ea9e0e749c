package github

import (
	"context"
	"fmt"
	"strings"

	gh "github.com/google/go-github/v66/github"

	"github.com/liaison-bot/liaison/github/evidence"
	"github.com/liaison-bot/liaison/sessions"
)

// checkName is what people see, and what a branch protection rule can require.
const checkName = "Liaison"

// rememberCheck is the key under which a session remembers its latest check
// run, as "<turn> <id> <open|done>".
const rememberCheck = "check"

// checkMark is a check run that we know of.
type checkMark struct {
	turn string
	id   int64
	done bool
}

func (m checkMark) String() string {
	state := "open"
	if m.done {
		state = "done"
	}
	return fmt.Sprintf("%s %d %s", m.turn, m.id, state)
}

// knownCheck returns what the session remembers of this turn's check run.
func (w *writer) knownCheck() checkMark {
	var m checkMark
	var state string
	if n, _ := fmt.Sscanf(w.item.Surface[rememberCheck], "%s %d %s", &m.turn, &m.id, &state); n != 3 || m.turn != w.item.TurnID {
		return checkMark{turn: w.item.TurnID}
	}
	m.done = state == "done"
	return m
}

func (w *writer) check(ctx context.Context, p checkPayload) (sessions.Receipt, error) {
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
	id, err := w.createCheck(ctx, p)
	if err != nil {
		return sessions.Receipt{}, err
	}
	return w.checkReceipt("check run in progress", checkMark{turn: w.item.TurnID, id: id}), nil
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
	switch err := w.updateCheck(ctx, mark.id, p); {
	case notFound(err):
		return sessions.Receipt{Note: "the check run is gone"}, nil
	case err != nil:
		return sessions.Receipt{}, err
	}
	return w.checkReceipt("check run in progress: "+p.Title, mark), nil
}

// concludeCheck ends the check run, or creates it ended where there is none.
func (w *writer) concludeCheck(ctx context.Context, p checkPayload) (sessions.Receipt, error) {
	mark := w.knownCheck()
	if mark.id == 0 {
		var err error
		if mark, err = w.findCheck(ctx); err != nil {
			return sessions.Receipt{}, err
		}
	}
	if mark.done {
		return w.checkReceipt("the check run was concluded already", mark), nil
	}
	switch where, err := w.stand(ctx); {
	case err != nil:
		return sessions.Receipt{}, err
	case where == stale:
		p.supersede()
	}
	if mark.id != 0 {
		err := w.updateCheck(ctx, mark.id, p)
		if err == nil {
			mark.done = true
			return w.checkReceipt("check run concluded: "+p.Conclusion, mark), nil
		}
		if !notFound(err) {
			return sessions.Receipt{}, err
		}
	}
	if p.Conclusion == concludedCancelled {
		return sessions.Receipt{Note: "no check run to cancel"}, nil
	}
	id, err := w.createCheck(ctx, p)
	if err != nil {
		return sessions.Receipt{}, err
	}
	return w.checkReceipt("check run created, concluded: "+p.Conclusion, checkMark{turn: w.item.TurnID, id: id, done: true}), nil
}

func (w *writer) checkReceipt(note string, m checkMark) sessions.Receipt {
	return sessions.Receipt{Note: note, Remember: map[string]string{rememberCheck: m.String()}}
}

// findCheck looks for a check run that an earlier attempt created for this
// turn. The newest wins; id is 0 if there is none.
func (w *writer) findCheck(ctx context.Context) (checkMark, error) {
	mark := checkMark{turn: w.item.TurnID}
	owner, repo := w.names()
	opts := &gh.ListCheckRunsOptions{
		CheckName:   gh.String(checkName),
		Filter:      gh.String("all"),
		AppID:       gh.Int64(w.app.id),
		ListOptions: gh.ListOptions{PerPage: pageSize},
	}
	for range maxCheckPages {
		list, resp, err := w.repo.client.Checks.ListCheckRunsForRef(ctx, owner, repo, w.Head, opts)
		if err != nil {
			return mark, fmt.Errorf("look for the check run: %w", err)
		}
		for _, run := range list.CheckRuns {
			// The filter by App is newer than some servers; the id decides.
			if run.GetExternalID() == w.item.TurnID && run.GetApp().GetID() == w.app.id && run.GetID() > mark.id {
				mark.id, mark.done = run.GetID(), run.GetStatus() == "completed"
			}
		}
		if resp.NextPage == 0 {
			break
		}
		opts.Page = resp.NextPage
	}
	return mark, nil
}

func (w *writer) createCheck(ctx context.Context, p checkPayload) (int64, error) {
	owner, repo := w.names()
	var id int64
	err := shrinking(maxCheckText, func(limit int) error {
		opts := gh.CreateCheckRunOptions{
			Name:       checkName,
			HeadSHA:    w.Head,
			ExternalID: gh.String(w.item.TurnID),
			Status:     gh.String("in_progress"),
			Output:     w.checkOutput(p, limit),
		}
		if p.Conclusion != "" {
			opts.Status, opts.Conclusion = gh.String("completed"), gh.String(p.Conclusion)
		}
		run, _, err := w.repo.client.Checks.CreateCheckRun(ctx, owner, repo, opts)
		if id = run.GetID(); err == nil && id <= 0 {
			err = evidence.ErrNoAnswer
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("create the check run: %w", err)
	}
	return id, nil
}

func (w *writer) updateCheck(ctx context.Context, id int64, p checkPayload) error {
	owner, repo := w.names()
	err := shrinking(maxCheckText, func(limit int) error {
		opts := gh.UpdateCheckRunOptions{Name: checkName, Status: gh.String("in_progress"), Output: w.checkOutput(p, limit)}
		if p.Conclusion != "" {
			opts.Status, opts.Conclusion = gh.String("completed"), gh.String(p.Conclusion)
		}
		run, _, err := w.repo.client.Checks.UpdateCheckRun(ctx, owner, repo, id, opts)
		if err == nil && run.GetID() != id {
			err = evidence.ErrNoAnswer
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("update check run %d: %w", id, err)
	}
	return nil
}

func (w *writer) checkOutput(p checkPayload, limit int) *gh.CheckRunOutput {
	return renderCheck(p, limit, w.item.SessionID)
}

// renderCheck fits a check's texts into limit characters each.
func renderCheck(p checkPayload, limit int, session string) *gh.CheckRunOutput {
	out := &gh.CheckRunOutput{
		Title:   gh.String(ellipsis(p.Title, maxCheckTitle)),
		Summary: gh.String(fit(p.Summary, limit, cutNote(session))),
	}
	if strings.TrimSpace(p.Text) != "" {
		out.Text = gh.String(fit(p.Text, limit, cutNote(session)))
	}
	return out
}
