package github

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	extension "github.com/yuin/goldmark/extension/ast"

	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

// spokenLine is a line of a text as a person says it.
type spokenLine struct {
	text string
	// begins is set where the line stands in a paragraph of its own, so that what
	// it begins with is at the margin.
	begins bool
}

// botSuffix ends the login of an App's account.
const botSuffix = "[bot]"

// unspoken stands in a line for what is in it but not said. It bounds no word.
const unspoken = '\uFFFC'

// spokenLines returns the lines of a text without what its author does not say:
// quotations, code, links, what is struck out, and HTML that hides or quotes. A
// text that is too costly to read says nothing.
func spokenLines(body string) []spokenLine {
	src := []byte(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(body))
	s := speech{src: src}
	_ = ast.Walk(parseMarkdown(src), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Blockquote, *ast.FencedCodeBlock, *ast.CodeBlock:
			return ast.WalkSkipChildren, nil
		case *ast.HTMLBlock:
			s.tags(n.Lines().Value(src))
			if n.HasClosure() {
				s.tags(n.ClosureLine.Value(src))
			}
			return ast.WalkSkipChildren, nil
		case *ast.Paragraph, *ast.TextBlock, *ast.Heading, *extension.TableCell:
			s.block(n)
			return ast.WalkSkipChildren, nil
		}
		return ast.WalkContinue, nil
	})
	return s.lines
}

// speech gathers what is said, block by block.
type speech struct {
	src   []byte
	lines []spokenLine
	line  strings.Builder
	// depth counts the open HTML elements whose content is not said.
	depth int
}

func (s *speech) block(n ast.Node) {
	begins := n.Kind() == ast.KindParagraph && n.Parent().Kind() == ast.KindDocument
	s.inline(n, begins)
	s.end(begins)
}

func (s *speech) end(begins bool) {
	s.lines = append(s.lines, spokenLine{text: s.line.String(), begins: begins})
	s.line.Reset()
}

func (s *speech) inline(parent ast.Node, begins bool) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			if s.depth == 0 {
				s.line.Write(n.Segment.Value(s.src))
			}
			if n.SoftLineBreak() || n.HardLineBreak() {
				s.end(begins)
			}
		case *ast.RawHTML:
			s.tags(n.Segments.Value(s.src))
			s.line.WriteRune(unspoken)
		case *ast.CodeSpan, *ast.Link, *ast.AutoLink, *ast.Image, *extension.Strikethrough:
			s.line.WriteRune(unspoken)
		default:
			s.inline(n, begins)
		}
	}
}

// unsaid are tags of HTML elements whose content is quoted, code, a link, struck
// out or not shown.
var unsaid = lazyregexp.New(`(?i)<(/?)(?:a|blockquote|code|del|kbd|pre|q|s|samp|script|strike|style|template|textarea|title|tt)\b[^>]*?(/?)>`)

// tags follows the elements that a piece of HTML opens and closes.
func (s *speech) tags(html []byte) {
	for _, m := range unsaid.FindAllSubmatch(html, -1) {
		switch {
		case len(m[1]) > 0:
			s.depth = max(0, s.depth-1)
		case len(m[2]) == 0:
			s.depth++
		}
	}
}

// silent reports whether lines say nothing.
func silent(lines []spokenLine) bool {
	for _, l := range lines {
		if strings.TrimSpace(l.text) != "" {
			return false
		}
	}
	return true
}

// cutMention cuts a line around the first "@handle" or "@handle[bot]" that
// stands for itself.
func cutMention(line, handle string) (before, after string, ok bool) {
	if handle == "" {
		return "", "", false
	}
	for from := 0; ; {
		at := strings.IndexByte(line[from:], '@')
		if at < 0 {
			return "", "", false
		}
		at += from
		from = at + 1
		rest := line[from:]
		if len(rest) < len(handle) || lowered(rest[:len(handle)]) != lowered(handle) {
			continue
		}
		rest = rest[len(handle):]
		if len(rest) >= len(botSuffix) && lowered(rest[:len(botSuffix)]) == botSuffix {
			rest = rest[len(botSuffix):]
		}
		if startsName(line[:at]) && endsName(rest) {
			return line[:at], rest, true
		}
	}
}

// startsName reports whether "@" after this text begins a name: not in an
// address, a path or another word.
func startsName(before string) bool {
	r, size := utf8.DecodeLastRuneInString(before)
	return size == 0 || unicode.IsSpace(r) || strings.ContainsRune("([{,;:!?\"'*~|>—–…“‘«¿¡、。（「『，：；！？", r)
}

// endsName reports whether a name is over before this text: "@liaison-two",
// "@liaison/team" and "@liaison.dev" are somebody else.
func endsName(after string) bool {
	r, size := utf8.DecodeRuneInString(after)
	switch {
	case size == 0 || unicode.IsSpace(r) || strings.ContainsRune(",:;!?)]}\"*~|<>…—–”»、。）」』，：；！？", r):
		return true
	case r == '.':
		next, size := utf8.DecodeRuneInString(after[1:])
		return size == 0 || unicode.IsSpace(next) || next == '.'
	}
	return false
}
