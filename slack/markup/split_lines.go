package markup

import (
	"slices"
	"sort"
	"strings"

	"github.com/yuin/goldmark/ast"
	extension "github.com/yuin/goldmark/extension/ast"
)

// rank says how bad a place is to cut at; lower is better.
type rank int

// The ranks, from best to worst.
const (
	rankHeading rank = -4
	rankBlock   rank = 1
	rankItem    rank = 2 // and one more for each level of nesting, up to rankDeep
	rankDeep    rank = 4
	rankRow     rank = 5
	// rankCodeBlank is after an empty line of code.
	rankCodeBlank rank = 6
	rankLine      rank = 7
	rankSentence  rank = 8
	rankCode      rank = 9
	rankWord      rank = 10
	rankAnywhere  rank = 11
	rankFenceEnd  rank = 12
	// rankBelowHeading would leave a heading alone at the end.
	rankBelowHeading rank = 13
	rankInSpan       rank = 25
	rankNever        rank = 40
)

// sourceLine is a line of the text as a place to cut.
type sourceLine struct {
	start int
	rank  rank
	// whole is set for a line that is not cut itself.
	whole bool
	// before is what a cut before the line is in the middle of, and inside what one
	// within the line is.
	before, inside *middle
}

func (l sourceLine) closingRoom() int {
	if l.inside == nil || l.inside.fence == nil {
		return 0
	}
	return len(l.inside.fence.prefix) + len(l.inside.fence.longer) + 1
}

// fence is a fenced code block.
type fence struct {
	at int
	// list is the list that the block is in, if it would be none of it without.
	list string
	// prefix stands before the marks where they are written again.
	prefix, marks, info string
	// longer are marks that no line inside can be taken for, however it is cut.
	longer string
}

func (f *fence) opening() string { return f.list + f.prefix + f.longer + f.info + "\n" }

// span is a range of bytes, the end excluded.
type span struct{ start, end int }

// layOut finds the lines and what they are. A text that is too costly to read is
// only lines and paragraphs.
func (s *splitter) layOut() {
	blank := true
	for start := 0; start < len(s.src); {
		end := start + strings.IndexByte(s.src[start:], '\n') + 1
		if end == start {
			end = len(s.src)
		}
		s.lines = append(s.lines, sourceLine{start: start, rank: rankNever})
		start = end
	}
	doc, ok := parse(s.src)
	if !ok {
		for i := range s.lines {
			s.lines[i].rank = rankLine
			if blank {
				s.lines[i].rank = rankBlock
			}
			blank = strings.TrimSpace(s.line(i)) == ""
		}
		return
	}
	s.blocks(doc, len(s.lines), 0)
	sort.Slice(s.spans, func(i, j int) bool { return s.spans[i].start < s.spans[j].start })
}

// line is the text of a line, with its end.
func (s *splitter) line(i int) string {
	if i+1 < len(s.lines) {
		return s.src[s.lines[i].start:s.lines[i+1].start]
	}
	return s.src[s.lines[i].start:]
}

// lineAt is the line that holds a byte.
func (s *splitter) lineAt(at int) int {
	i, found := slices.BinarySearchFunc(s.lines, at, func(l sourceLine, at int) int { return l.start - at })
	if found {
		return i
	}
	return max(0, i-1)
}

// blocks ranks the lines of the blocks below a node, which ends before the line
// end, depth containers down.
func (s *splitter) blocks(parent ast.Node, end, depth int) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if n.Type() != ast.TypeBlock || n.Pos() < 0 {
			continue
		}
		first := s.lineAt(n.Pos())
		until := end
		for next := n.NextSibling(); next != nil; next = next.NextSibling() {
			if next.Type() == ast.TypeBlock && next.Pos() >= 0 {
				until = s.lineAt(next.Pos())
				break
			}
		}
		s.block(n, first, until, depth)
	}
}

func (s *splitter) better(i int, r rank) {
	s.lines[i].rank = min(s.lines[i].rank, r)
}

func (s *splitter) block(n ast.Node, first, until, depth int) {
	own := min(rankBlock+rank(depth), rankDeep)
	if before := n.PreviousSibling(); before != nil && before.Kind() == ast.KindHeading {
		own = rankBelowHeading
	}
	switch n := n.(type) {
	case *ast.Heading:
		if depth == 0 && own != rankBelowHeading {
			own = rankHeading
		}
		s.better(first, own)
		s.inlines(n)
	case *ast.List:
		s.better(first, own)
		s.blocks(n, until, depth)
	case *ast.ListItem:
		if n.PreviousSibling() != nil {
			s.better(first, min(rankItem+rank(depth), rankDeep))
		}
		s.item(n, first, until)
		s.blocks(n, until, depth+1)
	case *ast.Blockquote:
		s.better(first, own)
		s.blocks(n, until, depth+1)
	case *ast.FencedCodeBlock:
		s.better(first, own)
		s.fenced(n, first, until)
	case *extension.Table:
		s.better(first, own)
		s.table(n, first)
	default:
		s.better(first, own)
		lines := n.Lines()
		r := rankLine
		if n.Kind() == ast.KindCodeBlock || n.Kind() == ast.KindHTMLBlock {
			r = rankCode
		}
		for i := 1; i < lines.Len(); i++ {
			s.better(s.lineAt(lines.At(i).Start), r)
		}
		s.inlines(n)
	}
}

// item says what lines of a list item are in the middle of.
func (s *splitter) item(n *ast.ListItem, first, until int) {
	end := min(len(s.src), n.Pos()+max(n.Offset, 1))
	own := strings.TrimRight(s.src[s.lines[first].start:end], "\n")
	if !strings.HasSuffix(own, " ") {
		own += " "
	}
	outer := ""
	if in := s.lines[first].before; in != nil {
		outer = in.open
	}
	in := &middle{open: outer + own + "…\n"}
	s.lines[first].inside = in
	for i := first + 1; i < until; i++ {
		s.lines[i].before, s.lines[i].inside = in, in
	}
}

func (s *splitter) fenced(n *ast.FencedCodeBlock, first, until int) {
	head := strings.TrimRight(s.src[n.Pos():s.lines[first].start+len(s.line(first))], "\n")
	info := strings.TrimLeft(head, head[:1])
	f := &fence{at: n.Pos(), marks: head[:len(head)-len(info)], info: info}
	f.prefix = fencePrefix(s.src[s.lines[first].start:n.Pos()])
	if in := s.lines[first].inside; in != nil && indented(f.prefix) {
		f.list = in.open
	}
	longest, run := 0, 0
	lines := n.Lines()
	for i := range lines.Len() {
		for _, c := range []byte(s.src[lines.At(i).Start:lines.At(i).Stop]) {
			if c != head[0] {
				run = 0
				continue
			}
			run++
			longest = max(longest, run)
		}
	}
	f.longer = strings.Repeat(head[:1], max(len(f.marks), longest+1))
	in := &middle{fence: f}
	blank := false
	for i := range lines.Len() {
		l := s.lineAt(lines.At(i).Start)
		s.lines[l].before, s.lines[l].inside = in, in
		if i > 0 {
			r := rankCode
			if blank {
				r = rankCodeBlank
			}
			s.better(l, r)
		}
		blank = strings.TrimSpace(s.line(l)) == ""
	}
	s.lines[first].whole = true
	if last := first + lines.Len() + 1; last < until {
		s.lines[last].whole, s.lines[last].before = true, in
		s.better(last, rankFenceEnd)
	}
}

// fencePrefix is what stands before a fence that is written again, when before stood
// before it the first time: the marks of quotations, without those of lists.
func fencePrefix(before string) string {
	return strings.Map(func(r rune) rune {
		if r == '>' || r == '\t' {
			return r
		}
		return ' '
	}, before)
}

// table lets rows be cut apart, with the header said again.
func (s *splitter) table(n *extension.Table, first int) {
	header := s.lines[first].start
	if first+1 < len(s.lines) {
		s.lines[first+1].whole = true
	}
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		s.inlinesOf(row)
		l := s.lineAt(row.Pos())
		if l < first+2 {
			continue
		}
		open := s.src[header:s.lines[first+2].start]
		if indented(open) {
			open = ""
		}
		s.lines[l].before = &middle{open: open}
		s.lines[l].inside = nil
		s.better(l, rankRow)
	}
}

// indented reports whether a text at the beginning of a part would be code.
func indented(text string) bool {
	return strings.HasPrefix(strings.TrimLeft(text, " "), "\t") || len(text)-len(strings.TrimLeft(text, " ")) > 3
}

func (s *splitter) inlinesOf(row ast.Node) {
	for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
		s.inlines(cell)
	}
}

// inlines notes what in a paragraph is not cut.
func (s *splitter) inlines(n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if c.Kind() == ast.KindText || c.Type() != ast.TypeInline || c.Pos() < 0 {
			continue
		}
		end := -1
		if next := c.NextSibling(); next != nil {
			end = next.Pos()
		} else if lines := n.Lines(); lines != nil && lines.Len() > 0 {
			end = lines.At(lines.Len() - 1).Stop
		}
		if end > c.Pos() {
			s.spans = append(s.spans, span{c.Pos(), end})
		}
	}
}
