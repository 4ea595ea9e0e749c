package evidence

import (
	"context"
	"fmt"
	"time"

	"github.com/google/go-github/v66/github"
)

// Checks is checks.json: the check runs of the head.
type Checks struct {
	HeadSHA string `json:"head_sha"`
	Total   int    `json:"total"`
	Missing string `json:"missing"`
	// Checks holds the latest run of each name.
	Checks []Check `json:"checks"`
}

// Check is one check run. Title is the words of whoever ran it.
type Check struct {
	Name        string    `json:"name"`
	App         string    `json:"app"`
	Status      string    `json:"status"`
	Conclusion  string    `json:"conclusion"`
	Title       string    `json:"title"`
	StartedAt   time.Time `json:"started_at,omitzero"`
	CompletedAt time.Time `json:"completed_at,omitzero"`
	URL         string    `json:"url"`
}

// checks lists the check runs of a commit. A second result that is not empty
// says why there is nothing.
func (f *fetcher) checks(ctx context.Context, head string) (*Checks, string, error) {
	total := 0
	l, err := pages(ctx, f, needFull, "list the checks", maxListed,
		func(ctx context.Context, o github.ListOptions) ([]*github.CheckRun, *github.Response, error) {
			runs, resp, err := f.client.Checks.ListCheckRunsForRef(ctx, f.owner, f.repo, head,
				&github.ListCheckRunsOptions{Filter: github.String("latest"), ListOptions: o})
			if err != nil {
				return nil, resp, err
			}
			total = runs.GetTotal()
			return runs.CheckRuns, resp, nil
		})
	if err != nil {
		return nil, "", err
	}
	if l.items == nil && l.cut != "" {
		return nil, l.cut, nil
	}
	c := &Checks{HeadSHA: head, Total: max(total, len(l.items)), Checks: make([]Check, 0, len(l.items))}
	for _, run := range l.items {
		title, _ := Reveal(cut(run.GetOutput().GetTitle(), maxMessage))
		name, _ := Reveal(run.GetName())
		c.Checks = append(c.Checks, Check{
			Name:        name,
			App:         run.GetApp().GetSlug(),
			Status:      run.GetStatus(),
			Conclusion:  run.GetConclusion(),
			Title:       title,
			StartedAt:   run.GetStartedAt().UTC(),
			CompletedAt: run.GetCompletedAt().UTC(),
			URL:         run.GetHTMLURL(),
		})
	}
	if l.cut != "" {
		c.Missing = fmt.Sprintf("the first %d of %d are listed: %s", len(c.Checks), c.Total, l.cut)
	}
	return c, "", nil
}
