package evidence

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/go-github/v66/github"
)

// Others is how far the checks and statuses of a commit are that are not our own.
type Others struct {
	// Total counts them, and Pending names those that are not over.
	Total   int
	Pending []string
	// Missing says what could not be read; empty when everything was.
	Missing string
}

// OtherChecks asks how far the other checks and statuses of a commit are. Those
// of the App with the id self do not count, by id or by the status's name.
func OtherChecks(ctx context.Context, client *github.Client, owner, repo, sha string, self int64, ownStatus string) (Others, error) {
	if err := checkName(owner, repo); err != nil {
		return Others{}, err
	}
	f := newFetcher(client, owner, repo, 0, Budget{}.orDefault())
	var o Others
	runs, err := pages(ctx, f, needFull, "list the checks", maxListed,
		func(ctx context.Context, opts github.ListOptions) ([]*github.CheckRun, *github.Response, error) {
			l, resp, err := f.client.Checks.ListCheckRunsForRef(ctx, owner, repo, sha,
				&github.ListCheckRunsOptions{Filter: github.String("latest"), ListOptions: opts})
			if err != nil {
				return nil, resp, err
			}
			return l.CheckRuns, resp, nil
		})
	if err != nil {
		return Others{}, err
	}
	if runs.cut != "" {
		o.Missing = "checks: " + runs.cut
	}
	for _, run := range runs.items {
		if run.GetApp().GetID() == self {
			continue
		}
		o.count(run.GetName(), run.GetStatus() != "completed")
	}
	statuses, err := pages(ctx, f, needFull, "list the statuses", maxListed,
		func(ctx context.Context, opts github.ListOptions) ([]*github.RepoStatus, *github.Response, error) {
			l, resp, err := f.client.Repositories.GetCombinedStatus(ctx, owner, repo, sha, &opts)
			if err != nil {
				return nil, resp, err
			}
			return l.Statuses, resp, nil
		})
	if err != nil {
		return Others{}, err
	}
	if statuses.cut != "" && o.Missing == "" {
		o.Missing = "statuses: " + statuses.cut
	}
	for _, s := range statuses.items {
		if s.GetContext() != ownStatus {
			o.count(s.GetContext(), s.GetState() == "pending")
		}
	}
	slices.Sort(o.Pending)
	return o, nil
}

func (o *Others) count(name string, pending bool) {
	o.Total++
	if pending {
		shown, _ := Reveal(cut(name, maxName))
		o.Pending = append(o.Pending, shown)
	}
}

// String names the first of what is pending.
func (o Others) String() string {
	const named = 3
	list := ""
	for i, name := range o.Pending[:min(named, len(o.Pending))] {
		if i > 0 {
			list += ", "
		}
		list += quote(name)
	}
	if more := len(o.Pending) - named; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}
