package agent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// maxProblems is how many problems of one folder are told; a folder with more is
// another kind of folder.
const maxProblems = 100

// String is the problem as one line: where, then what.
func (p Problem) String() string {
	where := p.File
	if p.Line > 0 {
		where = fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	if where == "" {
		where = "."
	}
	return fmt.Sprintf("%s: %s: %s", where, p.Severity, p.Text)
}

// InvalidError says that a folder cannot be used. Problems has at least one [Error].
type InvalidError struct {
	Dir      string
	Problems []Problem
}

// Error implements error.
func (e *InvalidError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the agent in %s cannot be used:", e.Dir)
	for _, p := range e.Problems {
		b.WriteString("\n  " + p.String())
	}
	return b.String()
}

// problems gathers what is wrong with a folder.
type problems struct{ all []Problem }

func (p *problems) add(s Severity, file string, line int, format string, args ...any) {
	p.all = append(p.all, Problem{Severity: s, File: file, Line: line, Text: fmt.Sprintf(format, args...)})
}

func (p *problems) fail(file string, line int, format string, args ...any) {
	p.add(Error, file, line, format, args...)
}

func (p *problems) warn(file string, line int, format string, args ...any) {
	p.add(Warning, file, line, format, args...)
}

func (p *problems) failed() bool {
	return slices.ContainsFunc(p.all, func(one Problem) bool { return one.Severity == Error })
}

// sorted returns them in the order of files and lines, errors first where there
// are more than are told.
func (p *problems) sorted() []Problem {
	all := p.all
	if len(all) > maxProblems {
		slices.SortStableFunc(all, func(a, b Problem) int { return cmp.Compare(a.Severity, b.Severity) })
		all = all[:maxProblems]
	}
	slices.SortStableFunc(all, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return slices.Compact(all)
}
