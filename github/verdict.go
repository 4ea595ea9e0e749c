package github

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"

	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

// verdict is how severe a review's findings are. It decides how the check is
// concluded, and nothing else.
type verdict struct {
	errors, warnings int
	// counted is set when the review said the numbers itself.
	counted bool
}

// findingsLines find the last line of a review that counts its own findings:
//
//	<!-- liaison:findings errors=1 warnings=2 -->
//
// It is a comment so that a reviewer whose text is read elsewhere shows nothing
// odd. It is taken off before the text is posted. Models are less exact with it
// than programs: the spaces may differ, and it may stand in a code span or in a
// fenced block of its own.
var findingsLines = func() []*lazyregexp.Regexp {
	const line = `<!--\s*liaison:findings\s+errors=([0-9]{1,6})\s+warnings=([0-9]{1,6})\s*-->`
	return []*lazyregexp.Regexp{
		lazyregexp.New(`\n?[ \t]*` + line + `\s*$`),
		lazyregexp.New(`\n?[ \t]*\x60` + line + `\x60\s*$`),
		lazyregexp.New(`\n?[ \t]*\x60{3}[a-z]*[ \t]*\n\s*` + line + `\s*\n[ \t]*\x60{3}\s*$`),
	}
}()

// weigh reads the verdict of a review and returns the text without the line
// that carries it. A review without that line is judged by the list items
// below its headings "Errors" and "Warnings"; one without those has no
// findings worth more than a note. So is one that counts none where it lists
// some: models copy the example of the line as it is, and a pull request can
// talk one into writing it.
func weigh(review string) (verdict, string) {
	for _, line := range findingsLines {
		m := line.FindStringSubmatchIndex(review)
		if m == nil {
			continue
		}
		number := func(i int) int {
			n, _ := strconv.Atoi(review[m[2*i]:m[2*i+1]])
			return n
		}
		v, text := verdict{errors: number(1), warnings: number(2), counted: true}, review[:m[0]]
		listed := listedFindings(text)
		if v.errors == 0 {
			v.errors = listed.errors
		}
		if v.warnings == 0 {
			v.warnings = listed.warnings
		}
		return v, text
	}
	return listedFindings(review), review
}

// listedFindings counts the list items below the headings of a review.
func listedFindings(review string) verdict {
	head, _ := firstRunes(review, 2*maxComment)
	src := []byte(head)
	var v verdict
	var count *int
	for n := parseMarkdown(src).FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Heading:
			switch strings.ToLower(strings.Trim(string(n.Lines().Value(src)), " #*:\n")) {
			case "errors", "error":
				count = &v.errors
			case "warnings", "warning":
				count = &v.warnings
			default:
				count = nil
			}
		case *ast.List:
			for item := n.FirstChild(); count != nil && item != nil; item = item.NextSibling() {
				if !saysNone(item, src) {
					*count++
				}
			}
		}
	}
	return v
}

// saysNone reports whether a list item stands for an empty list.
func saysNone(item ast.Node, src []byte) bool {
	first := item.FirstChild()
	if first == nil {
		return true
	}
	switch strings.ToLower(strings.Trim(string(first.Lines().Value(src)), " \t\n*_.!()")) {
	case "none", "none found", "nothing", "n/a", "no errors", "no errors found", "no warnings", "no warnings found":
		return true
	}
	return false
}

// clean reports whether there is nothing to warn of.
func (v verdict) clean() bool { return v.errors == 0 && v.warnings == 0 }

// String is a title's worth.
func (v verdict) String() string {
	var parts []string
	for _, kind := range []struct {
		n    int
		noun string
	}{{v.errors, "error"}, {v.warnings, "warning"}} {
		switch {
		case kind.n == 1:
			parts = append(parts, "1 "+kind.noun)
		case kind.n > 1:
			parts = append(parts, fmt.Sprintf("%d %ss", kind.n, kind.noun))
		}
	}
	switch {
	case len(parts) > 0:
		return strings.Join(parts, ", ")
	case v.counted:
		return "No errors or warnings"
	}
	return "Reviewed"
}

// headline is what a sentence says after "Liaison reviewed this:".
func (v verdict) headline() string {
	switch {
	case !v.clean():
		return v.String()
	case v.counted:
		return "no errors or warnings"
	}
	return ""
}
