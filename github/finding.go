package github

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// The severities of a finding.
const (
	severityInfo    = "info"
	severityWarning = "warning"
	severityError   = "error"
)

// The verdicts of a review, as the agent gives them. What becomes of one is the
// base branch's configuration to say.
const (
	verdictApprove        = "approve"
	verdictComment        = "comment"
	verdictRequestChanges = "request_changes"
)

// submission is a review as the agent handed it in by the tool submit_review.
type submission struct {
	Verdict  string    `json:"verdict"`
	Summary  string    `json:"summary"`
	Findings []finding `json:"findings,omitempty"`
	// Head is the commit that was reviewed, and Since the one up to which an earlier
	// review went; empty when everything was looked at.
	Head  string `json:"head,omitempty"`
	Since string `json:"since,omitempty"`
	// Omitted counts findings that were too many to be kept.
	Omitted int `json:"omitted,omitempty"`
}

// finding is one remark of a review about a place.
type finding struct {
	Path string `json:"path"`
	// Line is the last line of the place and StartLine the first, where it has
	// several; on Side "RIGHT" they count in the new file, on "LEFT" in the old one.
	Line       int    `json:"line"`
	StartLine  int    `json:"startLine,omitempty"`
	Side       string `json:"side,omitempty"`
	Severity   string `json:"severity"`
	Title      string `json:"title,omitempty"`
	Body       string `json:"body"`
	Suggestion string `json:"suggestion,omitempty"`
	// Demoted says why the finding cannot stand at its line; it then stands in
	// the summary. Empty when it can.
	Demoted string `json:"demoted,omitempty"`

	// Elsewhere is set when Path is no file that the pull request changes.
	Elsewhere bool `json:"elsewhere,omitempty"`

	// number is the finding's place in what the agent handed in, from 1.
	number int
}

// fingerprint is the same for what is found again, also where it has moved to
// another line: the file, the severity and the words count, whatever their case
// and spaces.
func (f finding) fingerprint() string {
	h := sha256.New()
	plain := func(s string) string { return strings.Join(strings.Fields(strings.ToLower(s)), " ") }
	for _, part := range []string{f.Path, f.Severity, plain(f.Title), plain(f.Body)} {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// rank orders severities, the worst first.
func rank(severity string) int {
	switch severity {
	case severityError:
		return 0
	case severityWarning:
		return 1
	}
	return 2
}

// verdict counts what the findings are worth.
func (s submission) verdict() verdict {
	v := verdict{counted: true}
	for _, f := range s.Findings {
		switch f.Severity {
		case severityError:
			v.errors++
		case severityWarning:
			v.warnings++
		}
	}
	return v
}

// anchored reports whether the finding can stand at its line.
func (f finding) anchored() bool { return f.Demoted == "" && f.Path != "" && f.Line > 0 }
