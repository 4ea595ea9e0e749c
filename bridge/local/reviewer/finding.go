package reviewer

import (
	"cmp"
	"slices"
)

// Severity is how much a finding matters.
type Severity string

// The severities. An error should stop a merge, a warning deserves an answer,
// an info is good to know.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
	SeverityInfo    Severity = "info"
)

// rank orders severities, worst first.
func (s Severity) rank() int {
	switch s {
	case SeverityError:
		return 0
	case SeverityWarning:
		return 1
	default:
		return 2
	}
}

// lower is the next milder severity.
func (s Severity) lower() Severity {
	if s == SeverityError {
		return SeverityWarning
	}
	return SeverityInfo
}

// The sides of a diff that a line number counts on.
const (
	SideRight = "RIGHT"
	SideLeft  = "LEFT"
)

// Finding is one thing to look at.
type Finding struct {
	// Path is the file as the pull request names it, raw; empty when the
	// finding is about the pull request as a whole.
	Path string
	// Line counts from 1 on Side; 0 when the finding is about the whole file.
	Line int
	// Side is SideRight for the head's lines and SideLeft for the base's; empty without a line.
	Side     string
	Severity Severity
	// Title and Body are Markdown that is safe to post: what they quote of the
	// pull request is inside code spans.
	Title string
	Body  string
	// Rule is the rule's name as in the package documentation.
	Rule string
}

// collector gathers what rules report and bounds it.
type collector struct {
	rule     string
	findings []Finding
	kept     map[ruleSeverity]int
	omitted  map[ruleSeverity]int
}

type ruleSeverity struct {
	rule     string
	severity Severity
}

func newCollector() *collector {
	return &collector{kept: map[ruleSeverity]int{}, omitted: map[ruleSeverity]int{}}
}

// add keeps the finding under the rule that is running.
func (c *collector) add(f Finding) {
	f.Rule = c.rule
	if f.Line > 0 && f.Side == "" {
		f.Side = SideRight
	}
	key := ruleSeverity{f.Rule, f.Severity}
	if c.kept[key] >= maxKeptPerRule {
		c.omitted[key]++
		return
	}
	c.kept[key]++
	c.findings = append(c.findings, f)
}

// sorted returns the findings worst first, then by rule, path and line.
func (c *collector) sorted(ruleOrder map[string]int) []Finding {
	slices.SortStableFunc(c.findings, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(a.Severity.rank(), b.Severity.rank()),
			cmp.Compare(ruleOrder[a.Rule], ruleOrder[b.Rule]),
			cmp.Compare(a.Path, b.Path),
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Title, b.Title),
		)
	})
	return c.findings
}
