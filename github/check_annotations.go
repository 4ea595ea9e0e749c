package github

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	gh "github.com/google/go-github/v66/github"

	"github.com/liaison-bot/liaison/tools"
)

// annotations turns findings into what stands at lines of a check run, without
// doubles and in order. What GitHub would refuse, and what are too many, is left:
// one bad annotation has a whole request refused
// (https://github.com/cirruslabs/cirrus-ci-docs/issues/485).
func annotations(findings []finding) (list []*gh.CheckRunAnnotation, left []finding) {
	seen := map[string]bool{}
	for _, f := range findings {
		a, ok := annotation(f)
		switch key := annotationKey(a) + "\x00" + a.GetMessage(); {
		case !ok, len(list) == maxAnnotations && !seen[key]:
			left = append(left, f)
		case !seen[key]:
			seen[key] = true
			list = append(list, a)
		}
	}
	return list, left
}

// annotation returns a finding as GitHub takes it. Annotations are plain text
// and name lines of the head's file; columns are not known.
func annotation(f finding) (*gh.CheckRunAnnotation, bool) {
	level := map[string]string{severityError: "failure", severityWarning: "warning"}[f.Severity]
	if level == "" {
		level = "notice"
	}
	start := f.StartLine
	if start == 0 {
		start = f.Line
	}
	message := strings.TrimSpace(spellOut(f.Body))
	if message == "" {
		message = strings.TrimSpace(spellOut(f.Title))
	}
	a := &gh.CheckRunAnnotation{
		Path: gh.String(f.Path), StartLine: gh.Int(start), EndLine: gh.Int(f.Line), AnnotationLevel: gh.String(level),
		Message: gh.String(tools.Cut(message, maxAnnotationMessage, "")),
	}
	if title := strings.TrimSpace(oneLine(spellOut(f.Title))); title != "" {
		a.Title = gh.String(ellipsis(title, maxAnnotationTitle))
	}
	if f.Suggestion != "" {
		a.RawDetails = gh.String(tools.Cut(spellOut(f.Suggestion), maxAnnotationMessage, ""))
	}
	usable := f.Path != "" && len(f.Path) <= maxPath && !strings.ContainsRune(f.Path, utf8.RuneError) && !strings.ContainsRune(f.Path, 0) &&
		!strings.HasPrefix(f.Path, "/") && f.Side != sideLeft && start >= 1 && f.Line >= start && message != ""
	return a, usable
}

// annotationKey tells annotations apart by what GitHub gives back unchanged.
func annotationKey(a *gh.CheckRunAnnotation) string {
	return fmt.Sprintf("%s\x00%d\x00%d\x00%s\x00%s", a.GetPath(), a.GetStartLine(), a.GetEndLine(), a.GetAnnotationLevel(), a.GetTitle())
}

// annotatedRun is a check run that is being concluded.
type annotatedRun struct {
	*writer
	payload checkPayload
	id      int64
	// left are findings without an annotation, and refused how many GitHub would not take.
	left    []finding
	refused int
	// limit is the length of text that GitHub took.
	limit int
	// sent counts the annotations that are in.
	sent int
}

func (r *annotatedRun) output(list []*gh.CheckRunAnnotation) *gh.CheckRunOutput {
	out := renderCheckWith(r.note(), r.payload, r.limit, r.item.SessionID)
	out.Annotations = list
	return out
}

// note says which findings have no annotation.
func (r *annotatedRun) note() string {
	n := len(r.left) + r.refused
	if n == 0 {
		return ""
	}
	const most = 10
	var places []string
	for _, f := range r.left[:min(most, len(r.left))] {
		if place := strings.TrimSpace(oneLine(spellOut(f.Path))); place != "" {
			places = append(places, code(fmt.Sprintf("%s:%d", ellipsis(place, maxBranch), f.Line)))
		}
	}
	at := ""
	if len(places) > 0 {
		at = ", such as at " + strings.Join(slices.Compact(places), ", ")
	}
	if n == 1 {
		return fmt.Sprintf("*1 finding has no annotation at its line%s. It is part of the review all the same.*", at)
	}
	return fmt.Sprintf("*%d findings have no annotations at their lines%s. They are part of the review all the same.*", n, at)
}

// conclude writes the conclusion with the first annotations, and without any
// where GitHub does not take them. It returns those that are not in.
func (r *annotatedRun) conclude(ctx context.Context, list []*gh.CheckRunAnnotation) ([]*gh.CheckRunAnnotation, error) {
	first := list[:min(annotationChunk, len(list))]
	err := r.end(ctx, first)
	if refused(err) && len(first) > 0 {
		first = nil
		err = r.end(ctx, nil)
	}
	if err != nil {
		return nil, err
	}
	r.sent = len(first)
	return list[len(first):], nil
}

// end ends the check run, or creates it ended where there is none.
func (r *annotatedRun) end(ctx context.Context, list []*gh.CheckRunAnnotation) error {
	return shrinking(maxCheckText, func(limit int) error {
		r.limit = limit
		if r.id != 0 {
			err := r.updateCheck(ctx, r.id, r.payload, r.output(list))
			if !notFound(err) {
				return err
			}
			r.id = 0
			if r.payload.Conclusion == concludedCancelled {
				return err
			}
		}
		id, err := r.createCheck(ctx, r.payload, r.output(list))
		r.id = id
		return err
	})
}

// add adds annotations, a chunk at a time. Where a chunk is refused, its halves
// are tried, until the bad ones are found or enough was tried.
func (r *annotatedRun) add(ctx context.Context, list []*gh.CheckRunAnnotation) error {
	refusals := 0
	var add func([]*gh.CheckRunAnnotation) error
	add = func(chunk []*gh.CheckRunAnnotation) error {
		err := r.updateCheck(ctx, r.id, r.payload, r.output(chunk))
		if !refused(err) {
			if err == nil {
				r.sent += len(chunk)
			}
			return err
		}
		if refusals++; len(chunk) == 1 || refusals > maxRefusals {
			r.refused += len(chunk)
			return nil
		}
		half := len(chunk) / 2
		if err := add(chunk[:half]); err != nil {
			return err
		}
		return add(chunk[half:])
	}
	for chunk := range slices.Chunk(list, annotationChunk) {
		if err := add(chunk); err != nil {
			return err
		}
	}
	if r.refused == 0 {
		return nil
	}
	return r.updateCheck(ctx, r.id, r.payload, r.output(nil))
}

// missingAnnotations returns those of list that a concluded run lacks, after a
// try whose end is not known: an update adds to what is there
// (https://github.com/cirruslabs/cirrus-ci-docs/issues/570).
func (w *writer) missingAnnotations(ctx context.Context, id int64, inside int, list []*gh.CheckRunAnnotation) ([]*gh.CheckRunAnnotation, error) {
	if inside == 0 {
		return list, nil
	}
	owner, repo := w.names()
	there := map[string]int{}
	opts := &gh.ListOptions{PerPage: pageSize}
	for range maxAnnotations/pageSize + 1 {
		page, resp, err := w.repo.client.Checks.ListCheckRunAnnotations(ctx, owner, repo, id, opts)
		if err != nil {
			return nil, fmt.Errorf("look for the annotations of check run %d: %w", id, err)
		}
		for _, a := range page {
			there[annotationKey(a)]++
		}
		if resp.NextPage == 0 {
			break
		}
		opts.Page = resp.NextPage
	}
	var missing []*gh.CheckRunAnnotation
	for _, a := range list {
		if key := annotationKey(a); there[key] > 0 {
			there[key]--
		} else {
			missing = append(missing, a)
		}
	}
	return missing, nil
}
