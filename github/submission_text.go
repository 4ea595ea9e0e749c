package github

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxListed is how many findings the table of a review names.
const maxListed = 50

// markdown is a review as people read it: the summary, a table of the findings,
// and in full those that have no line to stand at. What the agent said beside it
// stands in for a missing summary.
func (s submission) markdown(said string) string {
	var b strings.Builder
	summary := strings.TrimSpace(s.Summary)
	if summary == "" {
		summary = strings.TrimSpace(said)
	}
	if summary != "" {
		b.WriteString(dress(summary) + "\n\n")
	}
	s.writeTable(&b)
	s.writeDemoted(&b)
	if s.Since != "" {
		fmt.Fprintf(&b, "Only what came after %s was reviewed now; an earlier review went up to there.\n", code(short(s.Since)))
	}
	return strings.TrimSpace(b.String())
}

func (s submission) writeTable(b *strings.Builder) {
	if len(s.Findings) == 0 {
		return
	}
	b.WriteString("| | Where | What |\n|---|---|---|\n")
	for _, f := range s.Findings[:min(len(s.Findings), maxListed)] {
		fmt.Fprintf(b, "| %s | %s | %s |\n", f.Severity, f.where(), cell(f.name()))
	}
	if more := max(0, len(s.Findings)-maxListed) + s.Omitted; more > 0 {
		fmt.Fprintf(b, "\nand %d more.\n", more)
	}
	b.WriteString("\n")
}

func (s submission) writeDemoted(b *strings.Builder) {
	for _, f := range s.Findings {
		if f.anchored() {
			continue
		}
		title := f.Title
		if title == "" {
			title = f.Severity
		}
		fmt.Fprintf(b, "#### %s: %s\n\n", f.where(), cell(title))
		if f.Body != "" {
			b.WriteString(dress(f.Body) + "\n\n")
		}
		if f.Suggestion != "" {
			b.WriteString("Instead:\n\n" + fence(f.Suggestion) + "\n\n")
		}
		if f.Demoted != "" && f.Line > 0 {
			fmt.Fprintf(b, "<sub>Here and not at its line: %s.</sub>\n\n", cell(f.Demoted))
		}
	}
}

// where says which place a finding is about.
func (f finding) where() string {
	place := f.Path
	switch {
	case place == "":
		return "Pull request"
	case f.Line == 0:
	case f.StartLine > 0:
		place = fmt.Sprintf("%s:%d-%d", place, f.StartLine, f.Line)
	default:
		place = fmt.Sprintf("%s:%d", place, f.Line)
	}
	shown := code(ellipsis(spellOut(oneLine(place)), 200))
	if f.Side == sideLeft {
		shown += " (before)"
	}
	return shown
}

// name is what a finding says in a few words.
func (f finding) name() string {
	if f.Title != "" {
		return f.Title
	}
	first, _, _ := strings.Cut(f.Body, "\n")
	return ellipsis(first, maxFindingTitle)
}

// cell is text on one line that ends neither a table's cell nor what is around
// it, and opens no element.
func cell(text string) string {
	text = strings.ReplaceAll(strings.TrimSpace(oneLine(spellOut(text))), "|", "¦")
	code := layOut([]byte(text)).code
	var b strings.Builder
	for i := range len(text) {
		if _, inside := within(code, i); text[i] == '<' && !inside {
			b.WriteString("&lt;")
			continue
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// scope says what was looked at, where that is not everything.
func (s submission) scope() string {
	if s.Since == "" {
		return ""
	}
	return " (only what came after " + code(short(s.Since)) + ")"
}

// annotated are the findings that can become annotations: those at a line of a
// file as it is now, also outside of the diff.
func (s submission) annotated() []finding {
	var out []finding
	for _, f := range s.Findings {
		if f.Path != "" && f.Line > 0 && f.Side != sideLeft && !f.Elsewhere {
			out = append(out, f)
		}
	}
	return out
}

// lowerFirst has a sentence's first letter small.
func lowerFirst(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToLower(r)) + s[size:]
}
