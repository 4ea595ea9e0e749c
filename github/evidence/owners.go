package evidence

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hmarr/codeowners"
)

// codeownersPaths are the places of a CODEOWNERS file; GitHub takes the first that exists.
var codeownersPaths = [...]string{".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"}

// ownership is the CODEOWNERS file of the base branch.
type ownership struct {
	path  string // empty when there is none
	text  []byte
	rules codeowners.Ruleset
	// ignored counts lines that could not be read.
	ignored int
}

// codeowners reads the file from the base branch: the head's would let a pull
// request name its own reviewers.
func (f *fetcher) codeowners(ctx context.Context, base string) (ownership, string, error) {
	for _, path := range codeownersPaths {
		content, e, err := f.contentsAt(ctx, path, base, maxCodeowners)
		switch {
		case err == nil && e.mode == "":
			text, _, ok := asText(content)
			if !ok {
				return ownership{}, fmt.Sprintf("%s is not text", path), nil
			}
			rules, ignored := parseOwners(text)
			return ownership{path: path, text: text, rules: rules, ignored: ignored}, "", nil
		// A folder, a link or a submodule of that name is no such file either.
		case err == nil, isNotFound(err), errors.Is(err, errUnusable):
			continue
		case errors.Is(err, errTooLarge):
			return ownership{}, fmt.Sprintf("%s is larger than 3 MB, and GitHub ignores it", path), nil
		}
		why, ok := whyMissing(err)
		if !ok {
			return ownership{}, "", err
		}
		return ownership{}, why, nil
	}
	return ownership{}, "", nil
}

// parseOwners reads the rules line by line, since one bad line must not take away
// the owners of everything: GitHub skips it as well.
func parseOwners(text []byte) (rules codeowners.Ruleset, ignored int) {
	number := 0
	for line := range bytes.Lines(text) {
		number++
		trimmed := bytes.TrimSpace(line)
		if len(trimmed) == 0 || trimmed[0] == '#' {
			continue
		}
		parsed, err := codeowners.ParseFile(bytes.NewReader(trimmed))
		if err != nil || len(parsed) != 1 {
			ignored++
			continue
		}
		// "/" matches nothing, and the library's matcher fails on it.
		if strings.Trim(parsed[0].RawPattern(), "/") == "" {
			ignored++
			continue
		}
		parsed[0].LineNumber = number
		rules = append(rules, parsed[0])
	}
	return rules, ignored
}

// assign gives each file the owners of its path, and of its earlier path: who
// owned what is moved away has a say. It returns how many files it did not get
// to within the limit of work.
func (o ownership) assign(files []File, limit int) (skipped int, err error) {
	work := 0
	for i := range files {
		f := &files[i]
		for _, path := range []string{f.Path, f.PreviousPath} {
			if path == "" {
				continue
			}
			if work += len(o.rules); work > limit {
				return len(files) - i, nil
			}
			rule, err := o.rules.Match(path)
			if err != nil {
				return 0, fmt.Errorf("match code owners: %w", err)
			}
			if rule != nil {
				f.addOwners(rule.Owners)
			}
		}
	}
	return 0, nil
}

func (f *File) addOwners(owners []codeowners.Owner) {
	for _, o := range owners {
		name := o.String()
		if !containsFold(f.Owners, name) {
			f.Owners = append(f.Owners, name)
		}
	}
}

func containsFold(list []string, s string) bool {
	for _, have := range list {
		if strings.EqualFold(have, s) {
			return true
		}
	}
	return false
}
