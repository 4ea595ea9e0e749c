package reviewer

import (
	"fmt"
	"strings"
)

// helpText answers when there is no pull request to read.
const helpText = `I am Liaison's built-in reviewer. I look at pull requests: give me the evidence of one, and I list what deserves a maintainer's eye, with file and line – workflow and permission changes, credentials, migrations, new dependencies, skipped or deleted tests, leftovers of merges and debugging, odd files and invisible characters.

I was given no pull request, and I cannot answer questions: I am a set of fixed rules, not a language model. Whoever runs Liaison gets answers to questions by setting OPENAI_BASE_URL, for a model of their own, or CURSOR_API_KEY.
`

// Markdown is what is posted on the pull request. Whatever the pull request
// holds, it has no live mention, reference, closing keyword, link or HTML in it,
// no whole credential, and is far shorter than the 65,536 characters that GitHub
// takes.
func (r Report) Markdown() string { return r.write(true) }

// Overview is [Report.Markdown] without the findings, for whoever shows them by
// themselves.
func (r Report) Overview() string { return r.write(false) }

func (r Report) write(findings bool) string {
	if r.NoEvidence {
		return helpText
	}
	var b strings.Builder
	if len(r.Findings) == 0 {
		r.writeQuiet(&b)
	} else {
		fmt.Fprintf(&b, "**%s.**\n\n", r.Summary)
		r.writeAreas(&b)
		if findings {
			r.writeFindings(&b)
		}
	}
	r.writeFooter(&b)
	return b.String()
}

func (r Report) writeQuiet(b *strings.Builder) {
	switch {
	case r.Files == 0:
		b.WriteString("There are no changed files to look at.\n\n")
	case len(r.Unseen) > 0:
		fmt.Fprintf(b, "Nothing stands out in what I could see of %s (%s; %s).\n\n",
			count(r.Files, "changed file"), r.areaWords(), lineCounts(r.Additions, r.Deletions))
	default:
		fmt.Fprintf(b, "Nothing stands out, thank you: %s (%s; %s).\n\n",
			count(r.Files, "changed file"), r.areaWords(), lineCounts(r.Additions, r.Deletions))
	}
}

// writeAreas says what changed: a line for a small change, else a table.
func (r Report) writeAreas(b *strings.Builder) {
	if len(r.Areas) < 3 {
		parts := make([]string, len(r.Areas))
		for i, area := range r.Areas {
			parts[i] = fmt.Sprintf("%s: %s, %s", area.title(), count(area.Files, "file"), lineCounts(area.Additions, area.Deletions))
		}
		if len(parts) > 0 {
			b.WriteString(strings.Join(parts, " · ") + "\n\n")
		}
		return
	}
	b.WriteString("| Area | Files | Lines |\n|---|--:|--:|\n")
	for _, area := range r.Areas {
		fmt.Fprintf(b, "| %s | %s | %s |\n", area.title(), thousands(area.Files), lineCounts(area.Additions, area.Deletions))
	}
	b.WriteString("\n")
	var parts []string
	for _, folder := range r.Folders[:min(3, len(r.Folders))] {
		if folder.Files > 1 {
			parts = append(parts, fmt.Sprintf("%s (%s)", quote(folder.Name, maxQuotedName), thousands(folder.Files)))
		}
	}
	if len(parts) > 0 && len(r.Folders) > 1 {
		fmt.Fprintf(b, "Mostly in %s.\n\n", joinAnd(parts))
	}
}

// title is the area's name with its languages.
func (a Area) title() string {
	if len(a.Languages) == 0 {
		return a.Name
	}
	shown := a.Languages[:min(4, len(a.Languages))]
	title := a.Name + " (" + strings.Join(shown, ", ")
	if len(shown) < len(a.Languages) {
		title += ", …"
	}
	return title + ")"
}

func (r Report) writeFindings(b *strings.Builder) {
	points, rest := r.choose()
	heading := Severity("")
	for _, point := range points {
		f := point[0]
		if f.Severity != heading {
			if heading != "" {
				b.WriteString("\n")
			}
			heading = f.Severity
			b.WriteString(heading.heading())
		}
		b.WriteString("- ")
		if f.Path != "" {
			b.WriteString(places(point) + " ")
		}
		fmt.Fprintf(b, "**%s.** %s", f.Title, f.Body)
		if f.Side == SideLeft {
			b.WriteString(" (Line of the base.)")
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
	if len(rest) == 0 {
		return
	}
	var parts []string
	for _, rule := range rules() {
		if n := rest[rule.name]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s × %s", thousands(n), rule.noun))
		}
	}
	fmt.Fprintf(b, "Not listed one by one: %s.\n\n", joinAnd(parts))
}

// places lists where the findings of one point are.
func places(point []Finding) string {
	var list []string
	for _, f := range point[:min(len(point), maxPlaces)] {
		list = append(list, quotePlace(f.Path, f.Line))
	}
	text := strings.Join(list, ", ")
	if rest := len(point) - len(list); rest > 0 {
		text += " and " + count(rest, "more place")
	}
	return text
}

func (s Severity) heading() string {
	switch s {
	case SeverityError:
		return "### Errors\n"
	case SeverityWarning:
		return "### Warnings\n"
	default:
		return "### Notes\n"
	}
}

// choose puts findings that say the same into one point, picks the points that
// are listed, and counts the other findings by rule.
func (r Report) choose() (points [][]Finding, rest map[string]int) {
	type words struct {
		severity                Severity
		rule, title, body, side string
	}
	index := map[words]int{}
	var all [][]Finding
	for _, f := range r.Findings {
		key := words{f.Severity, f.Rule, f.Title, f.Body, f.Side}
		if f.Path == "" {
			key.body += fmt.Sprint(len(all)) // nothing to list but itself
		}
		i, known := index[key]
		if !known {
			i = len(all)
			index[key] = i
			all = append(all, nil)
		}
		all[i] = append(all[i], f)
	}
	rest = map[string]int{}
	for key, n := range r.omitted {
		rest[key.rule] += n
	}
	perRule := map[string]int{}
	for _, point := range all {
		f := point[0]
		if len(points) == maxListed || f.Severity != SeverityError && perRule[f.Rule] >= maxListedPerRule {
			rest[f.Rule] += len(point)
			continue
		}
		perRule[f.Rule]++
		points = append(points, point)
	}
	return points, rest
}

// writeFooter says who speaks, of what, and what was not seen.
func (r Report) writeFooter(b *strings.Builder) {
	b.WriteString("*Built-in reviewer: fixed rules, no model, nothing was executed. ")
	if r.HeadSHA != "" {
		fmt.Fprintf(b, "Read at head %s.", quote(shortSHA(r.HeadSHA), maxQuotedName))
	} else {
		b.WriteString("The evidence does not say which head it is of.")
	}
	if len(r.Unseen) > 0 {
		fmt.Fprintf(b, " Not seen: %s.", strings.Join(r.Unseen, "; "))
	}
	b.WriteString("*\n")
}

// shortSHA keeps twelve digits, enough to be unique in any repository.
func shortSHA(sha string) string {
	if len(sha) > 12 {
		return sha[:12]
	}
	return sha
}
