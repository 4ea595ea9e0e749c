package reviewer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// Review reads the evidence below dir (the workspace, with pr/ in it) and says
// what a maintainer should look at. Missing, damaged or oversized evidence is no
// error: the report says what could not be seen. Without a pr/ folder the report
// says what the reviewer can do.
//
// trace, which may be nil, is told of each step at its start and at its end, on
// the calling goroutine. The error is ctx's, or says that dir cannot be opened.
func Review(ctx context.Context, dir string, trace func(Step)) (Report, error) {
	if err := ctx.Err(); err != nil {
		return Report{}, fmt.Errorf("review: %w", err)
	}
	evidence, err := openFolder(dir)
	if errors.Is(err, fs.ErrNotExist) && dirExists(dir) {
		return Report{Summary: "There is no pull request in the workspace", NoEvidence: true}, nil
	}
	if err != nil {
		return Report{}, fmt.Errorf("review: %w", err)
	}
	defer evidence.close()
	return judge(ctx, &workspace{source: evidence, trace: &tracer{emit: trace}})
}

// judge loads the evidence and puts every rule to it.
func judge(ctx context.Context, w *workspace) (Report, error) {
	p, err := load(ctx, w)
	if err != nil {
		return Report{}, err
	}
	return conclude(ctx, p)
}

// conclude puts every rule to what was loaded.
func conclude(ctx context.Context, p *pull) (Report, error) {
	found := newCollector()
	order := map[string]int{}
	for i, r := range rules() {
		if err := ctx.Err(); err != nil {
			return Report{}, fmt.Errorf("review: %w", err)
		}
		order[r.name], found.rule = i, r.name
		r.check(p, found)
	}
	return report(p, found.sorted(order), found.omitted), nil
}

// report puts together what was found.
func report(p *pull, findings []Finding, omitted map[ruleSeverity]int) Report {
	r := Report{
		HeadSHA: p.headSHA, Findings: findings, Areas: areas(p.changes), Folders: folders(p.changes),
		Unseen: p.gaps.describe(), Deployment: deployment(p.changes), omitted: omitted,
	}
	for _, c := range p.changes {
		r.Files++
		r.Additions += c.Additions
		r.Deletions += c.Deletions
	}
	r.Files += p.gaps.files
	r.Summary = r.summary()
	return r
}

// areas sums the changes up by role.
func areas(changes []*change) []Area {
	sums := map[role]*Area{}
	languages := map[role]map[string]bool{}
	for _, c := range changes {
		area := sums[c.role]
		if area == nil {
			area = &Area{Name: string(c.role)}
			sums[c.role], languages[c.role] = area, map[string]bool{}
		}
		area.Files++
		area.Additions += c.Additions
		area.Deletions += c.Deletions
		if c.role == roleCode && c.language != "" {
			languages[c.role][string(c.language)] = true
		}
	}
	var list []Area
	for _, r := range roles() {
		if area := sums[r]; area != nil {
			area.Languages = slices.Sorted(maps.Keys(languages[r]))
			list = append(list, *area)
		}
	}
	return list
}

// folders counts the files by their first folder, the fullest first.
func folders(changes []*change) []Folder {
	sums := map[string]int{}
	for _, c := range changes {
		if first, _, nested := strings.Cut(c.Path, "/"); nested {
			sums[first+"/"]++
		}
	}
	var list []Folder
	for _, name := range sortedKeys(sums) {
		list = append(list, Folder{Name: name, Files: sums[name]})
	}
	slices.SortStableFunc(list, func(a, b Folder) int { return b.Files - a.Files })
	return list
}

// describe says what could not be seen, one phrase for each kind of gap. Words
// that others wrote are in code spans.
func (g gaps) describe() []string {
	var list []string
	if g.noManifest {
		list = append(list, "the list of changed files is missing or unreadable")
	}
	if g.unlisted {
		phrase := "GitHub does not list every changed file"
		if g.missing != "" {
			phrase += " (" + quote(g.missing, 120) + ")"
		}
		list = append(list, phrase)
	}
	if g.files > 0 {
		list = append(list, count(g.files, "file")+fmt.Sprintf(" beyond the first %s", thousands(maxFiles)))
	}
	if g.unnamed > 0 {
		list = append(list, count(g.unnamed, "file")+" without a usable name")
	}
	if g.patches > 0 {
		list = append(list, "no patch of "+count(g.patches, "text file"))
	}
	if g.cut > 0 {
		list = append(list, count(g.cut, "patch")+" only in part")
	}
	if g.unreadable > 0 {
		list = append(list, count(g.unreadable, "part")+" of the diff cannot be read")
	}
	if g.noFacts {
		list = append(list, "title and author are missing")
	}
	return list
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
