package markup

import (
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	extension "github.com/yuin/goldmark/extension/ast"
	"golang.org/x/text/width"
)

// maxTableWidth is how wide a table in code may be, in columns of a fixed-width
// font. Slack wraps wider lines, and nothing stands below anything any more.
const maxTableWidth = 100

// table writes a table, of which mrkdwn has none: in code, aligned, or where that
// would be too wide, row by row as lists.
func (p printer) table(n *extension.Table) []line {
	aligned := p.alignedTable(n)
	if p.plain {
		var lines []line
		for _, text := range aligned {
			lines = append(lines, line{text: text, code: true})
		}
		return lines
	}
	if len(aligned) == 0 || columns(aligned[0]) > maxTableWidth {
		return p.records(n)
	}
	lines := p.code(strings.Join(aligned, "\n"))
	return append(lines, p.tableLinks(n)...)
}

// alignedTable is a table as lines of text without markup. In one that becomes
// code, links are only their labels.
func (p printer) alignedTable(n *extension.Table) []string {
	var rows [][]string
	for r := n.FirstChild(); r != nil; r = r.NextSibling() {
		rows = append(rows, printer{src: p.src, plain: true}.cells(r, !p.plain))
	}
	return align(rows, n.Alignments)
}

// cells are the texts of a row's cells, each on one line.
func (p printer) cells(row ast.Node, labels bool) []string {
	var cells []string
	for c := row.FirstChild(); c != nil; c = c.NextSibling() {
		w := inlineWriter{printer: p, labels: labels}
		w.children(c)
		cells = append(cells, strings.Join(strings.Fields(w.b.String()), " "))
	}
	return cells
}

// align sets rows below one another, with a line below the first.
func align(rows [][]string, alignments []extension.Alignment) []string {
	widths := make([]int, len(alignments))
	for _, row := range rows {
		for i, cell := range row[:min(len(row), len(widths))] {
			widths[i] = max(widths[i], columns(cell), 1)
		}
	}
	var lines []string
	for r, row := range rows {
		var b strings.Builder
		for i, w := range widths {
			if i > 0 {
				b.WriteString(" | ")
			}
			cell := ""
			if i < len(row) {
				cell = row[i]
			}
			space := w - columns(cell)
			left := 0
			switch alignments[i] {
			case extension.AlignRight:
				left = space
			case extension.AlignCenter:
				left = space / 2
			}
			b.WriteString(strings.Repeat(" ", left) + cell + strings.Repeat(" ", space-left))
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
		if r == 0 {
			var rule []string
			for _, w := range widths {
				rule = append(rule, strings.Repeat("-", w))
			}
			lines = append(lines, strings.Join(rule, "-+-"))
		}
	}
	return lines
}

// columns is how wide a text is in a fixed-width font.
func columns(text string) int {
	n := 0
	for _, r := range text {
		switch {
		case unseen(r) || unicode.Is(unicode.Mn, r):
		case width.LookupRune(r).Kind() == width.EastAsianWide, width.LookupRune(r).Kind() == width.EastAsianFullwidth:
			n += 2
		default:
			n++
		}
	}
	return n
}

// records writes each row of a table as a list of what it holds.
func (p printer) records(n *extension.Table) []line {
	header := n.FirstChild()
	names := p.cells(header, false)
	var lines []line
	for row := header.NextSibling(); row != nil; row = row.NextSibling() {
		for i, cell := range p.cells(row, false) {
			marker := bullets[0]
			if i > 0 {
				marker = indent + bullets[1]
			}
			if i < len(names) && names[i] != "" {
				cell = p.bold(names[i]) + ": " + cell
			}
			for k, l := range p.lines(cell) {
				if k == 0 {
					l.text = marker + l.text
				}
				lines = append(lines, l)
			}
		}
	}
	if lines == nil {
		return p.lines(strings.Join(names, " | "))
	}
	return lines
}

// tableLinks writes the links of a table below it, since code holds none.
func (p printer) tableLinks(n ast.Node) []line {
	var links []string
	seen := map[string]bool{}
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n.(type) {
		case *ast.Link, *ast.Image, *ast.AutoLink:
			w := inlineWriter{printer: p}
			w.node(n)
			if link := w.b.String(); strings.Contains(link, "<") && !seen[link] {
				seen[link] = true
				links = append(links, link)
			}
			return ast.WalkSkipChildren, nil
		}
		return ast.WalkContinue, nil
	})
	return p.lines(strings.Join(links, " · "))
}
