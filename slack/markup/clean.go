package markup

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	extension "github.com/yuin/goldmark/extension/ast"

	"github.com/liaison-bot/liaison/slack/limits"
)

// clean is neutral Markdown as a markdown block takes it: without the HTML that
// would be shown as text, with tables that Slack has no room for as code, and
// without formatting that nobody means.
func clean(src string) string {
	doc, ok := parse(src)
	if !ok {
		return src
	}
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
				edits = append(edits, edit{from, until, htmlText(src[from:until])})
			}
		case *ast.Emphasis:
			if opening, closing, ok := product(n, []byte(src)); ok {
				edits = append(edits, edit{opening, opening, `\`}, edit{closing, closing, `\`})
			}
		case *extension.Strikethrough:
			if next := n.NextSibling(); about(n, []byte(src)) && next != nil && next.Pos() > 0 && src[next.Pos()-1] == '~' {
				edits = append(edits, edit{n.Pos(), n.Pos(), `\`}, edit{next.Pos() - 1, next.Pos() - 1, `\`})
			}
		case *extension.Table:
			if e, ok := largeTable(n, src); ok {
				edits = append(edits, e)
				return ast.WalkSkipChildren, nil
			}
		}
		return ast.WalkContinue, nil
	})
	// What was taken out may have stood within a mention.
	return Neutralise(apply(src, edits))
}

// product reports whether emphasis is none that anybody means, as in 2*3*4, and
// where its marks stand.
func product(n *ast.Emphasis, src []byte) (opening, closing int, ok bool) {
	next, opening := n.NextSibling(), n.Pos()
	if n.Level != 1 || opening < 1 || src[opening] != '*' || next == nil || next.Kind() != ast.KindText {
		return 0, 0, false
	}
	closing = next.Pos() - 1
	if closing <= opening || closing+1 >= len(src) || src[closing] != '*' {
		return 0, 0, false
	}
	return opening, closing, isAlphanumeric(rune(src[opening-1])) && isAlphanumeric(rune(src[closing+1]))
}

// about reports whether a strikethrough has single marks, which say "about" more
// often than they strike out.
func about(n *extension.Strikethrough, src []byte) bool {
	at := n.Pos()
	return at >= 0 && at+1 < len(src) && src[at] == '~' && src[at+1] != '~'
}

// inlineHTML is what is left of HTML in a line.
func inlineHTML(n ast.Node, html string) string {
	text := htmlText(html)
	if text != "\n" {
		return text
	}
	for up := n.Parent(); up != nil; up = up.Parent() {
		if up.Kind() == extension.KindTableCell || up.Kind() == ast.KindHeading {
			return " "
		}
	}
	return "\\\n" // a hard line break
}

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
func largeTable(n *extension.Table, src string) (edit, bool) {
	rows, text := 0, 0
	until := n.Pos()
	for r := n.FirstChild(); r != nil; r = r.NextSibling() {
		rows++
		line := src[r.Pos():]
		if end := strings.IndexByte(line, '\n'); end >= 0 {
			line = line[:end]
		}
		text += limits.Length(line)
		until = r.Pos() + len(line)
	}
	if rows <= limits.TableRows && text <= limits.TableText && len(n.Alignments) <= limits.TableColumns {
		return edit{}, false
	}
	if n.Parent().Kind() != ast.KindDocument {
		return edit{}, false
	}
	lines := strings.Join(printer{src: []byte(src), plain: true}.alignedTable(n), "\n")
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
