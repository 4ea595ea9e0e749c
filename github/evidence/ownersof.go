package evidence

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-github/v66/github"
)

// ChangedOwners returns those whom the base branch's CODEOWNERS names for the files
// that a pull request changes, as they stand there: "@login", "@org/team" or an
// address. An error says that it is not known who that is; nobody is none.
func ChangedOwners(ctx context.Context, client *github.Client, owner, repo string, number int) ([]string, error) {
	if err := checkName(owner, repo); err != nil {
		return nil, err
	}
	f := newFetcher(client, owner, repo, number, Budget{}.orDefault())
	p, err := f.pull(ctx)
	if err != nil {
		return nil, err
	}
	rules, why, err := f.codeowners(ctx, p.Base.SHA)
	if err == nil && why != "" {
		err = errors.New(why)
	}
	if err != nil {
		return nil, fmt.Errorf("read the code owners of %s/%s: %w", owner, repo, err)
	}
	if len(rules.rules) == 0 {
		return nil, nil
	}
	m, err := f.manifest(ctx, p)
	if err != nil {
		return nil, err
	}
	if _, err := rules.assign(m.Files, maxOwnerMatches); err != nil {
		return nil, err
	}
	var all []string
	for _, file := range m.Files {
		for _, name := range file.Owners {
			if !slices.ContainsFunc(all, func(have string) bool { return strings.EqualFold(have, name) }) {
				all = append(all, name)
			}
		}
	}
	return all, nil
}
