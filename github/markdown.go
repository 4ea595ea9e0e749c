package github

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

// gfm parses GitHub's dialect as far as it decides what is code and what is HTML.
var gfm = sync.OnceValue(func() parser.Parser {
	return goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList)).Parser()
})

// What no review has, and what costs the parser work that grows with the square
// of the text's length.
const (
	// maxNesting is how many lists and quotations a line may open.
	maxNesting = 50
	// maxChained is how many links may stand in one word.
	maxChained = 50
)

// parseMarkdown returns an empty document for a text that would cost too much:
// nothing in it counts as code, and its end as nothing that is known.
func parseMarkdown(src []byte) ast.Node {
	if costly(src) {
		return ast.NewDocument()
	}
	return gfm().Parse(text.NewReader(src))
}

// nesting is the beginning of a line that opens too many lists and quotations.
var nesting = lazyregexp.New(`(?m)^(?:[ \t]*(?:>|(?:[-+*]|[0-9]{1,9}[.)])[ \t])){` + strconv.Itoa(maxNesting+1) + `}`)

func costly(src []byte) bool {
	if nesting.Match(src) {
		return true
	}
	for word := range bytes.FieldsSeq(src) {
		if bytes.Count(word, []byte("](")) > maxChained {
			return true
		}
	}
	return false
}

// span is a range of bytes, the end excluded.
type span struct{ start, end int }

// layout is what of a Markdown text is not plain text.
type layout struct {
	// code are the insides of code spans and code blocks; nothing in them has a meaning.
	code []span
	// blocks are those of code that are blocks.
	blocks []span
	// tags are HTML tags between text.
	tags []span
	// html are whole HTML blocks, in which Markdown means nothing.
	html []span
}

func layOut(src []byte) layout {
	var l layout
	add := func(to *[]span, from, until int) {
		if from < until {
			*to = append(*to, span{from, until})
		}
	}
	_ = ast.Walk(parseMarkdown(src), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.CodeSpan:
			for c := n.FirstChild(); c != nil; c = c.NextSibling() {
				if t, ok := c.(*ast.Text); ok {
					add(&l.code, t.Segment.Start, t.Segment.Stop)
				}
			}
			return ast.WalkSkipChildren, nil
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			lines := n.Lines()
			for i := range lines.Len() {
				add(&l.code, lines.At(i).Start, lines.At(i).Stop)
			}
			if lines.Len() > 0 {
				add(&l.blocks, lines.At(0).Start, lines.At(lines.Len()-1).Stop)
			}
		case *ast.RawHTML:
			for i := range n.Segments.Len() {
				add(&l.tags, n.Segments.At(i).Start, n.Segments.At(i).Stop)
			}
		case *ast.HTMLBlock:
			lines := n.Lines()
			for i := range lines.Len() {
				add(&l.html, lines.At(i).Start, lines.At(i).Stop)
			}
			if n.HasClosure() {
				add(&l.html, n.ClosureLine.Start, n.ClosureLine.Stop)
			}
		}
		return ast.WalkContinue, nil
	})
	for _, spans := range []*[]span{&l.code, &l.blocks, &l.tags, &l.html} {
		slices.SortFunc(*spans, func(a, b span) int { return a.start - b.start })
	}
	return l
}

// within returns the span of a sorted list that holds pos.
func within(spans []span, pos int) (span, bool) {
	i, found := slices.BinarySearchFunc(spans, pos, func(s span, p int) int {
		switch {
		case s.end <= p:
			return -1
		case s.start > p:
			return 1
		}
		return 0
	})
	if !found {
		return span{}, false
	}
	return spans[i], true
}

// fence returns text as a code block that it cannot end by itself.
func fence(text string) string { return fenceAs("text", strings.TrimRight(text, "\n")) }

// longestRun is the length of the longest run of backticks.
func longestRun(s string) int {
	longest := 0
	for run := range strings.FieldsFuncSeq(s, func(r rune) bool { return r != '`' }) {
		longest = max(longest, len(run))
	}
	return longest
}

// fenceAs is a code block of a language, with text as it is.
func fenceAs(language, text string) string {
	marks := strings.Repeat("`", max(2, longestRun(text))+1)
	return marks + language + "\n" + text + "\n" + marks
}

// code returns text as a code span on one line. A pipe would end a table's cell.
func code(text string) string {
	text = strings.TrimSpace(strings.NewReplacer("\n", " ", "\r", " ", "|", "¦").Replace(text))
	longest := longestRun(text)
	marks := strings.Repeat("`", longest+1)
	if longest > 0 {
		text = " " + text + " "
	}
	return marks + text + marks
}

// detailsTag is an opening or closing tag of the element that folds text away.
var detailsTag = lazyregexp.New(`(?i)<(/?)details\b`)

// seal closes what text leaves open at its end, so that what follows is not
// swallowed: a code fence, and details elements.
func seal(body string) string {
	const probe = "liaison-end-of-text"
	src := []byte(body + "\n\n" + probe)
	switch last := parseMarkdown(src).LastChild().(type) {
	case *ast.Paragraph:
	case *ast.FencedCodeBlock:
		body = strings.TrimRight(body, "\n") + "\n" + openingFence(src, last)
	default:
		// Something that goldmark and we read differently: show it as it is.
		return fence(body)
	}
	l := layOut([]byte(body))
	depth := 0
	for _, m := range detailsTag.FindAllStringSubmatchIndex(body, -1) {
		if _, code := within(l.code, m[0]); code {
			continue
		}
		if closing := m[2] < m[3]; closing {
			depth = max(0, depth-1)
		} else {
			depth++
		}
	}
	return body + strings.Repeat("\n\n</details>", depth)
}

// openingFence returns the marks that opened a code block.
func openingFence(src []byte, block *ast.FencedCodeBlock) string {
	inside := bytes.LastIndexByte(src[:block.Lines().At(0).Start], '\n') // the end of the opening line
	line := src[bytes.LastIndexByte(src[:inside], '\n')+1 : inside]
	line = bytes.TrimLeft(line, " ")
	return string(line[:len(line)-len(bytes.TrimLeft(line, string(line[:1])))])
}
