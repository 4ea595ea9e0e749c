package github

import (
	"context"
	"fmt"
	"strings"

	gh "github.com/google/go-github/v66/github"

	"github.com/liaison-bot/liaison/github/evidence"
)

// findCheck looks for a check run that an earlier attempt created for this
// turn. The newest wins; id is 0 if there is none.
func (w *writer) findCheck(ctx context.Context) (checkMark, error) {
	mark := checkMark{turn: w.externalID()}
	runs, err := w.ownChecks(ctx, checkName, w.externalID())
	if err != nil {
		return mark, fmt.Errorf("look for the check run: %w", err)
	}
	for _, run := range runs {
		if run.GetID() > mark.id {
			mark.id, mark.done = run.GetID(), run.GetStatus() == "completed"
			mark.annotations = run.GetOutput().GetAnnotationsCount()
		}
	}
	return mark, nil
}

// ownChecks lists our check runs of a name and an external id at the head.
func (w *writer) ownChecks(ctx context.Context, name, external string) ([]*gh.CheckRun, error) {
	owner, repo := w.names()
	opts := &gh.ListCheckRunsOptions{
		CheckName:   gh.String(name),
		Filter:      gh.String("all"),
		AppID:       gh.Int64(w.app.id),
		ListOptions: gh.ListOptions{PerPage: pageSize},
	}
	var own []*gh.CheckRun
	for range maxCheckPages {
		list, resp, err := w.repo.client.Checks.ListCheckRunsForRef(ctx, owner, repo, w.Head, opts)
		if err != nil {
			return nil, err
		}
		for _, run := range list.CheckRuns {
			// The filter by App is newer than some servers; the id decides.
			if run.GetExternalID() == external && run.GetApp().GetID() == w.app.id {
				own = append(own, run)
			}
		}
		if resp.NextPage == 0 {
			break
		}
		opts.Page = resp.NextPage
	}
	return own, nil
}

// createCheck creates the check run, in progress or concluded as p says.
func (w *writer) createCheck(ctx context.Context, p checkPayload, output *gh.CheckRunOutput) (int64, error) {
	owner, repo := w.names()
	opts := gh.CreateCheckRunOptions{
		Name:       checkName,
		HeadSHA:    w.Head,
		ExternalID: gh.String(w.externalID()),
		Status:     gh.String("in_progress"),
		Output:     output,
		DetailsURL: w.sessionPage(),
	}
	if p.Conclusion != "" {
		opts.Status, opts.Conclusion = gh.String("completed"), gh.String(p.Conclusion)
	}
	run, _, err := w.repo.client.Checks.CreateCheckRun(ctx, owner, repo, opts)
	if err == nil && run.GetID() <= 0 {
		err = evidence.ErrNoAnswer
	}
	if err != nil {
		return 0, fmt.Errorf("create the check run: %w", err)
	}
	return run.GetID(), nil
}

// updateCheck brings the check run into the state that p says. Annotations in
// output are added to those that are there.
func (w *writer) updateCheck(ctx context.Context, id int64, p checkPayload, output *gh.CheckRunOutput) error {
	owner, repo := w.names()
	opts := gh.UpdateCheckRunOptions{Name: checkName, Status: gh.String("in_progress"), Output: output, DetailsURL: w.sessionPage()}
	if p.Conclusion != "" {
		opts.Status, opts.Conclusion = gh.String("completed"), gh.String(p.Conclusion)
	}
	run, _, err := w.repo.client.Checks.UpdateCheckRun(ctx, owner, repo, id, opts)
	if err == nil && run.GetID() != id {
		err = evidence.ErrNoAnswer
	}
	if err != nil {
		return fmt.Errorf("update check run %d: %w", id, err)
	}
	return nil
}

// renderCheck fits a check's texts into limit characters each.
func renderCheck(p checkPayload, limit int, session string) *gh.CheckRunOutput {
	return renderCheckWith("", p, limit, session)
}

// renderCheckWith is renderCheck with a note below the text, which is not cut.
func renderCheckWith(note string, p checkPayload, limit int, session string) *gh.CheckRunOutput {
	out := &gh.CheckRunOutput{
		Title:   gh.String(ellipsis(p.Title, maxCheckTitle)),
		Summary: gh.String(fit(p.Summary, limit, cutNote(session))),
	}
	if note != "" {
		note = "\n\n" + note
	}
	if strings.TrimSpace(p.Text+note) != "" {
		out.Text = gh.String(strings.TrimSpace(fit(p.Text, limit-runes(note), cutNote(session)) + note))
	}
	return out
}
