package reviewer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// nearLines is how far from the line in question a finding may be to be meant.
const nearLines = 3

// question is what somebody asked.
type question struct {
	Verb string `json:"verb"`
	Text string `json:"text"`
	Path string `json:"path"`
	Line int    `json:"line"`
}

// Answer answers what is asked in the workspace below dir, as far as fixed rules
// can: why a rule fired, and what the rules find in a file or at a line. asked is
// false when nothing is asked and a review is wanted. trace and the error are as
// with [Review].
func Answer(ctx context.Context, dir string, trace func(Step)) (text string, asked bool, err error) {
	evidence, err := openFolder(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(filepath.Join(dir, "issue", "question.json")); err == nil {
			return aboutMe + "An issue has no change that I could look at, so I have nothing to say about it. " + getModel + "\n", true, nil
		}
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("answer: %w", err)
	}
	defer evidence.close()
	w := &workspace{source: evidence, trace: &tracer{emit: trace}}
	questions, asked := w.questions()
	if !asked {
		return "", false, nil
	}
	p, err := load(ctx, w)
	if err != nil {
		return "", true, err
	}
	report, err := conclude(ctx, p)
	if err != nil {
		return "", true, err
	}
	var b strings.Builder
	b.WriteString(aboutMe)
	for _, q := range questions {
		if len(questions) > 1 {
			fmt.Fprintf(&b, "**On %s:** ", q.subject())
		}
		report.answer(&b, q, p.changes)
	}
	report.writeFooter(&b)
	return b.String(), true, nil
}

const (
	aboutMe = "I am a set of fixed rules and no language model: I can say what the rules found and why they look there. "
	// getModel says what a person can do to get more.
	getModel = "To have questions answered, set a model in Liaison's configuration."
)

// questions reads what is asked; false means that nothing is.
func (w *workspace) questions() ([]question, bool) {
	if _, _, err := w.read("question.json", 1); errors.Is(err, fs.ErrNotExist) {
		return nil, false
	}
	var all struct{ Questions []question }
	_, _, _ = w.tracedRead("question.json", maxQuestionBytes, "what is asked", func(data []byte) string {
		if err := decode(data, &all); err != nil {
			return "cannot be understood"
		}
		return count(len(all.Questions), "question")
	})
	if len(all.Questions) == 0 {
		// Something is asked all the same, and it is no review.
		return []question{{}}, true
	}
	return all.Questions[:min(len(all.Questions), maxQuestions)], true
}

func (q question) subject() string {
	switch {
	case q.Path != "":
		return quotePlace(q.Path, q.Line)
	case q.Text != "":
		return quote(firstLine(q.Text), maxQuotedPath)
	}
	return "what was asked"
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// answer writes what the rules have to say to a question.
func (r Report) answer(b *strings.Builder, q question, changes []*change) {
	near, where := r.meant(q, changes)
	switch {
	case len(near) > 0:
		fmt.Fprintf(b, "%s, they found this:\n\n", where)
		r.explain(b, near)
	case where != "":
		fmt.Fprintf(b, "%s, they found nothing. That says only that no rule fires there, and not that all is well.\n\n", where)
	case q.Verb == "explain":
		b.WriteString("This is what changes:\n\n")
		r.writeAreas(b)
		fmt.Fprintf(b, "By my rules: %s.\n\n", lowerFirst(r.Summary))
	default:
		fmt.Fprintf(b, "This question I cannot answer. Ask about a changed file, a line or a rule, and I say what I know. My review in a sentence: %s. %s\n\n",
			lowerFirst(r.Summary), getModel)
	}
}

// meant returns the findings that a question is about, and where they are, in
// words that can begin a sentence; empty when the question names no place.
func (r Report) meant(q question, changes []*change) ([]Finding, string) {
	in := func(match func(Finding) bool) []Finding {
		var found []Finding
		for _, f := range r.Findings {
			if match(f) {
				found = append(found, f)
			}
		}
		return found
	}
	if q.Path != "" {
		near := in(func(f Finding) bool {
			return f.Path == q.Path && f.Line > 0 && q.Line > 0 && f.Line >= q.Line-nearLines && f.Line <= q.Line+nearLines
		})
		if len(near) > 0 {
			return near, "Around " + quotePlace(q.Path, q.Line)
		}
		return in(func(f Finding) bool { return f.Path == q.Path }), "In " + quote(q.Path, maxQuotedPath)
	}
	text := strings.ToLower(q.Text)
	var named []string
	for _, c := range changes {
		if strings.Contains(text, strings.ToLower(c.Path)) {
			named = append(named, c.Path)
		}
	}
	if len(named) > 0 {
		return in(func(f Finding) bool { return slices.Contains(named, f.Path) }), "In " + quoteNames(named)
	}
	for _, rule := range rules() {
		if strings.Contains(text, rule.name) || strings.Contains(text, rule.noun) {
			return in(func(f Finding) bool { return f.Rule == rule.name }), fmt.Sprintf("With the rule `%s`", rule.name)
		}
	}
	return nil, ""
}

// explain lists findings with what their rules look for, each rule once.
func (r Report) explain(b *strings.Builder, findings []Finding) {
	told := map[string]bool{}
	for _, f := range findings[:min(len(findings), maxListed)] {
		fmt.Fprintf(b, "- %s **%s.** %s", quotePlace(f.Path, f.Line), f.Title, f.Body)
		if why := about(f.Rule); why != "" && !told[f.Rule] {
			told[f.Rule] = true
			fmt.Fprintf(b, " (The rule `%s`: %s.)", f.Rule, why)
		}
		b.WriteString("\n")
	}
	if more := len(findings) - maxListed; more > 0 {
		fmt.Fprintf(b, "- and %s\n", count(more, "more finding"))
	}
	b.WriteString("\n")
}

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
