package markup

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	extension "github.com/yuin/goldmark/extension/ast"

	"github.com/liaison-bot/liaison/slack/limits"
)

// clean is neutral Markdown as a markdown block takes it: without the HTML that
// would be shown as text or left out, with tables that Slack has no room for as
// code, and without formatting that nobody means.
func clean(src string) string {
	doc, ok := parse(src)
	if !ok {
		return src
	}
	text := []byte(src)
	references := maxReferences
	var edits []edit
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.RawHTML:
			first, last := n.Segments.At(0), n.Segments.At(n.Segments.Len()-1)
			edits = append(edits, edit{first.Start, last.Stop, inlineHTML(n, src[first.Start:last.Stop])})
		case *ast.HTMLBlock:
			if from, until, ok := htmlRange(n, src); ok {
				edits = append(edits, edit{from, until, angles.Replace(htmlText(src[from:until]))})
			}
		case *ast.Link:
			if e, ok := inlined(n, src); ok && len(e.with) <= references {
				references -= len(e.with)
				edits = append(edits, e)
			}
		case *ast.Emphasis:
			if marks, opening, closing, ok := unmeant(n, text); ok {
				literal := strings.ReplaceAll(marks, marks[:1], `\`+marks[:1])
				edits = append(edits, edit{opening, opening + len(marks), literal}, edit{closing, closing + len(marks), literal})
			}
		case *extension.Strikethrough:
			if next := n.NextSibling(); about(n, text) && next != nil && next.Pos() > 0 && src[next.Pos()-1] == '~' {
				edits = append(edits, edit{n.Pos(), n.Pos(), `\`}, edit{next.Pos() - 1, next.Pos() - 1, `\`})
			}
		case *extension.Table:
			if e, ok := largeTable(n, text); ok {
				edits = append(edits, e)
				return ast.WalkSkipChildren, nil
			}
		}
		return ast.WalkContinue, nil
	})
	// What was taken out may have stood within a mention.
	return Neutralise(apply(src, edits))
}

// inlineHTML is what is left of HTML in a line.
func inlineHTML(n ast.Node, html string) string {
	text := htmlText(html)
	if text != "\n" {
		return angles.Replace(text)
	}
	for up := n.Parent(); up != nil; up = up.Parent() {
		if up.Kind() == extension.KindTableCell || up.Kind() == ast.KindHeading {
			return " "
		}
	}
	return "  \n" // a hard line break
}

// angles are written so that a reader of Markdown takes them for text. What looks
// like an element may be one of none, as in Vec<String>, and would be left out.
var angles = strings.NewReplacer("<", "&lt;", ">", "&gt;")

// htmlRange is where a block of HTML stands, when nothing stands between its lines.
func htmlRange(n *ast.HTMLBlock, src string) (from, until int, ok bool) {
	lines := n.Lines()
	if lines.Len() == 0 {
		return 0, 0, false
	}
	from, until = lines.At(0).Start, lines.At(lines.Len()-1).Stop
	for i := 1; i < lines.Len(); i++ {
		if lines.At(i).Start != lines.At(i-1).Stop {
			return 0, 0, false
		}
	}
	if n.HasClosure() {
		if n.ClosureLine.Start != until {
			return 0, 0, false
		}
		until = n.ClosureLine.Stop
	}
	return from, until, strings.Trim(src[from:until], "\n") != ""
}

// largeTable writes a table with more rows, columns or text than Slack shows in one as code.
func largeTable(n *extension.Table, text []byte) (edit, bool) {
	rows, length := 0, 0
	until := n.Pos()
	for r := n.FirstChild(); r != nil; r = r.NextSibling() {
		rows++
		line, _, _ := strings.Cut(string(text[r.Pos():]), "\n")
		length += limits.Length(line)
		until = r.Pos() + len(line)
	}
	if rows <= limits.TableRows && length <= limits.TableText && len(n.Alignments) <= limits.TableColumns {
		return edit{}, false
	}
	if n.Parent().Kind() != ast.KindDocument {
		return edit{}, false
	}
	lines := strings.Join(printer{src: text, plain: true}.alignedTable(n), "\n")
	marks := strings.Repeat("`", max(3, longestRun(lines, '`')+1))
	return edit{n.Pos(), until, marks + "\n" + lines + "\n" + marks}, true
}

// longestRun is how often a mark stands side by side at most.
func longestRun(text string, mark byte) int {
	longest, run := 0, 0
	for i := range len(text) {
		if text[i] != mark {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}
