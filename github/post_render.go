package github

import (
	"cmp"
	"fmt"
	"strings"
)

// renderReview is a whole review, each text of it in at most limit characters.
func (w *writer) renderReview(d *draft, limit int) reviewRequest {
	r := reviewRequest{CommitID: w.Head, Event: d.Event, Body: w.renderBody(d, limit)}
	for _, f := range d.lines {
		r.Comments = append(r.Comments, lineOf(f, renderFinding(f, d.Request.settings().Suggestions, limit, w.item.SessionID)))
	}
	return r
}

// lineOf puts a text at a finding's place.
func lineOf(f finding, body string) reviewLineByLine {
	c := reviewLineByLine{Path: f.Path, Line: f.Line, Side: cmp.Or(f.Side, sideRight), Body: body}
	if f.StartLine > 0 && f.StartLine < f.Line {
		c.StartLine, c.StartSide = f.StartLine, c.Side
	}
	return c
}

// renderBody is what stands above the comments on lines.
func (w *writer) renderBody(d *draft, limit int) string {
	head := w.postedMark() + "\n" + mark("head", w.Head) + "\n"
	if strings.TrimSpace(d.Body) == "" {
		head += fmt.Sprintf("**Liaison** %s %s.\n\n", did(d.Event), code(short(w.Head)))
	}
	var notes []string
	if d.softened != "" {
		notes = append(notes, fmt.Sprintf("*GitHub does not take the verdict %s from this App here, so that this is a comment.*", code(d.softened)))
	}
	if d.said > 0 {
		notes = append(notes, fmt.Sprintf("*%s said before and not repeated.*", counted(d.said, "finding is", "findings are")))
	}
	if d.over > 0 {
		notes = append(notes, fmt.Sprintf("*%s left out here: one review holds %d at most.*", counted(d.over, "finding is", "findings are"),
			min(d.Request.settings().MaxInline, maxReviewComments)))
	}
	if len(d.demoted) > 0 {
		notes = append(notes, "GitHub did not take the following at their lines.")
	}
	shown := d.demoted[:min(len(d.demoted), limit/2/minDemoted)]
	for _, f := range shown {
		notes = append(notes, renderDemoted(f, min(maxDemoted, limit/2/len(shown))))
	}
	if left := len(d.demoted) - len(shown); left > 0 {
		notes = append(notes, fmt.Sprintf("*%d more have no room here.*", left))
	}
	foot := ""
	if len(notes) > 0 {
		foot = "\n\n" + strings.Join(notes, "\n\n")
	}
	if d.Model != "" {
		foot += "\n\n<sub>Reviewed" + by(d.Model, d.Duration) + ".</sub>\n"
	}
	return head + fit(d.Body, limit-runes(head)-runes(foot), cutNote(w.item.SessionID)) + foot
}

// did says what a review of this event does.
func did(event string) string {
	switch event {
	case eventApprove:
		return "approves"
	case eventRequestChanges:
		return "asks for changes to"
	}
	return "reviewed"
}

// counted is a number with the words that go with it.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// renderFinding is a comment on a line, in at most limit characters.
func renderFinding(f finding, suggestions bool, limit int, session string) string {
	head, foot := mark("finding", f.fingerprint())+"\n", ""
	if suggestions {
		foot = suggestion(f)
	}
	if runes(head)+runes(foot) > limit/2 {
		foot = ""
	}
	return head + fit(words(f), limit-runes(head)-runes(foot), cutNote(session)) + foot
}

// words are a finding's severity, title and text.
func words(f finding) string {
	text := "**" + severityWord(f.Severity) + ":** "
	if title := strings.TrimSpace(oneLine(f.Title)); title != "" {
		text += title + "\n\n"
	}
	return text + f.Body
}

func severityWord(severity string) string {
	switch severity {
	case severityError:
		return "Error"
	case severityWarning:
		return "Warning"
	}
	return "Note"
}

// A finding in the body has at most maxDemoted characters, and is left out where
// it cannot have minDemoted.
const (
	maxDemoted = 2000
	minDemoted = 500
)

// renderDemoted is a finding that stands in the body, with its place, in at most
// limit characters.
func renderDemoted(f finding, limit int) string {
	head := f.where() + "\n\n"
	return head + fit(words(f), limit-runes(head), "…")
}

// suggestion is the block that people can apply with a click, or nothing. Its
// fence is longer than any inside, so that what it holds stays in it. One that
// reads otherwise than it is stored is only shown (https://trojansource.codes).
func suggestion(f finding) string {
	if f.Suggestion == "" || f.Side == sideLeft {
		return ""
	}
	if shown := spellOut(f.Suggestion); shown != f.Suggestion {
		return "\n\n" + fence(shown)
	}
	return "\n\n" + fenceAs("suggestion", f.Suggestion)
}
