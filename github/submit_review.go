package github

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/liaison-bot/liaison/tools"
)

// toolSubmitReview is the tool by which an agent hands in its review. What it
// lays down is a [submission], under this name.
const toolSubmitReview = "submit_review"

// submitReviewSchema says what a review is. Inside of a finding it only
// describes, so that one that is wrong does not take the others with it.
const submitReviewSchema = `{
  "type": "object",
  "required": ["summary"],
  "properties": {
    "verdict": {"description": "approve, comment or request_changes. Comment is what you use unless the maintainers' instructions say otherwise.", "examples": ["comment"]},
    "summary": {"type": "string", "description": "The review in a few sentences of Markdown, for the maintainers. Do not repeat the findings here."},
    "findings": {"type": "array", "description": "What deserves a look, each by itself.", "items": {
      "description": "One finding, about a file or a place in it.",
      "properties": {
        "path": {"description": "String. The changed file, as pr/files.json names it.", "examples": ["cmd/main.go"]},
        "line": {"description": "Whole number. The last line of the place, which must be in a hunk of the file's patch. Leave it out for the file as a whole.", "examples": [12]},
        "startLine": {"description": "Whole number. The first line, where the place has several; in the same hunk.", "examples": [10]},
        "side": {"description": "RIGHT where line counts in the new file, LEFT where it counts in the old one, as for removed lines.", "examples": ["RIGHT"]},
        "severity": {"description": "error, warning or info.", "examples": ["warning"]},
        "title": {"description": "String. The finding in a few words.", "examples": ["The lock is held while calling out"]},
        "body": {"description": "String. Markdown: why it matters and what to do. Required."},
        "suggestion": {"description": "String. The new text of exactly the lines from startLine to line, for side RIGHT only, without a fence. People can apply it with a click."}
      }
    }}
  }
}`

const submitReviewDescription = "Hand in your review: a verdict, a summary and findings at lines of the diff. " +
	"The host posts it. A finding whose line is not in the diff is moved to the summary, and the answer says which and why; " +
	"hand in the whole review again to correct it, the last one counts."

// Tools are what an agent may call on the host in a turn of this channel.
func (c *Channel) Tools() []tools.Tool {
	return append([]tools.Tool{{
		Name: toolSubmitReview, Description: submitReviewDescription, InputSchema: json.RawMessage(submitReviewSchema),
		Offered: func(t tools.Turn) bool {
			r, err := parseRequest(t.Request)
			return t.Channel == Name && err == nil && r.Kind == kindReview
		},
		Effect: tools.Reads, // what it lays down is posted by the channel itself
		Run:    submitReview,
	}}, c.hostTools()...)
}

// submitReview takes a review: it reads what was handed in, finds each finding's
// place in the change, and lays down what is left for the effects of the turn.
func submitReview(_ context.Context, c tools.Call) (tools.Result, error) {
	r, err := parseRequest(c.Request)
	if err != nil {
		return tools.Result{}, err
	}
	handed, err := readReview(c.Input)
	if err != nil {
		return tools.Result{}, err
	}
	changed := loadChanges(c.Dir)
	defer changed.close()
	s := submission{Verdict: handed.verdict, Summary: handed.summary, Head: r.Head, Since: changed.since(r.Head)}
	set := r.settings()
	for _, h := range handed.findings {
		covered := true
		if h.fault == "" {
			h.finding, covered = changed.place(h.finding, set)
		} else {
			h.Demoted = h.fault
		}
		if !covered {
			handed.leave(h.n, "the repository's configuration does not have its file reviewed")
			continue
		}
		h.tidy(set)
		s.Findings = append(s.Findings, h.numbered())
	}
	s.choose(set)
	told := s.receipt(handed.left)
	raw, err := s.encode()
	if err != nil {
		return tools.Result{}, err
	}
	return tools.Result{Text: told, Output: raw}, nil
}

// receipt tells the agent what became of its findings.
func (s submission) receipt(left []string) string {
	var b strings.Builder
	anchored := 0
	for _, f := range s.Findings {
		if f.anchored() {
			anchored++
		}
	}
	fmt.Fprintf(&b, "The review is taken: %d at their lines, %d in the summary.", anchored, len(s.Findings)-anchored)
	if s.Omitted > 0 {
		fmt.Fprintf(&b, " %d more were left out: at most %d are kept.", s.Omitted, maxFindings)
	}
	again := len(left) > 0
	for _, line := range left {
		b.WriteString("\n- " + line)
	}
	for _, f := range s.Findings {
		if f.Demoted != "" {
			again = true
			fmt.Fprintf(&b, "\n- finding %d stands in the summary: %s", f.number, f.Demoted)
		}
	}
	if again {
		b.WriteString("\n\nWhere that can be put right, hand in the whole review again; the last one counts. Otherwise leave it so.")
	}
	return b.String()
}
