package markup

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	extension "github.com/yuin/goldmark/extension/ast"
)

// printer writes a document as lines of mrkdwn, or of text without any markup.
type printer struct {
	src   []byte
	plain bool
}

// line is a line of output.
type line struct {
	text string
	// code is set within a code block, and on its fences: Slack knows such a block
	// only at the margin.
	code bool
}

// convert turns a text that is tidy and neutral into another markup. One that is too
// costly to read is shown as it is.
func convert(src string, plain bool) string {
	doc, ok := parse(src)
	if !ok {
		if plain {
			return strings.TrimSpace(src)
		}
		return verbatim(src)
	}
	p := printer{src: []byte(src), plain: plain}
	return join(p.blocks(doc, true))
}

// verbatim is a text in mrkdwn that shows it as it is.
func verbatim(src string) string {
	return strings.TrimSpace(settle(literal.Replace(src)))
}

func join(lines []line) string {
	var b strings.Builder
	for i, l := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(l.text)
	}
	return strings.TrimSpace(b.String())
}

// blocks writes what is below a node, with empty lines between where it is spaced.
func (p printer) blocks(parent ast.Node, spaced bool) []line {
	var lines []line
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		block := p.block(n)
		if len(block) == 0 {
			continue
		}
		if spaced && len(lines) > 0 {
			lines = append(lines, line{})
		}
		lines = append(lines, block...)
	}
	return lines
}

func (p printer) block(n ast.Node) []line {
	switch n := n.(type) {
	case *ast.Heading:
		return p.lines(p.bold(p.inline(n, format{bold: true})))
	case *ast.ThematicBreak:
		return p.lines("———")
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		return p.code(string(n.Lines().Value(p.src)))
	case *ast.HTMLBlock:
		text := string(n.Lines().Value(p.src))
		if n.HasClosure() {
			text += string(n.ClosureLine.Value(p.src))
		}
		return p.lines(p.html(text))
	case *ast.Blockquote:
		return p.quote(n)
	case *ast.List:
		return p.list(n)
	case *extension.Table:
		return p.table(n)
	case *ast.Paragraph, *ast.TextBlock:
		return p.lines(p.inline(n, format{}))
	case *ast.LinkReferenceDefinition:
		return nil
	}
	return p.blocks(n, true)
}

// lines finishes a text whose marks are not written out yet.
func (p printer) lines(text string) []line {
	if !p.plain {
		text = settle(text)
	}
	text = strings.Trim(text, "\n")
	if strings.TrimSpace(text) == "" {
		return nil
	}
	var lines []line
	for l := range strings.SplitSeq(text, "\n") {
		lines = append(lines, line{text: l})
	}
	return lines
}

// code is a code block. Slack has no longer fence, so that one inside is broken.
func (p printer) code(text string) []line {
	text = strings.TrimRight(text, "\n")
	if !p.plain {
		text = escaper.Replace(strings.ReplaceAll(text, "```", "`"+breaker+"`"+breaker+"`"))
	}
	var lines []line
	for l := range strings.SplitSeq(text, "\n") {
		lines = append(lines, line{text: l, code: true})
	}
	if p.plain {
		return lines
	}
	fence := line{text: "```", code: true}
	return append(append([]line{fence}, lines...), fence)
}

// quote marks lines as quoted. Slack has one level, and none around code blocks
// (https://github.com/openclaw/openclaw/issues/92239).
func (p printer) quote(n ast.Node) []line {
	lines := p.blocks(n, true)
	for i, l := range lines {
		beside := l.text == "" && (i > 0 && lines[i-1].code || i+1 < len(lines) && lines[i+1].code)
		if !l.code && !beside && (p.plain || !strings.HasPrefix(l.text, "> ")) {
			lines[i].text = strings.TrimRight("> "+l.text, " ")
		}
	}
	return lines
}

// bullets are the marks of lists by depth.
var bullets = []string{"• ", "◦ ", "▪ "}

// indent is what Slack's own lists are indented by when they are copied as text.
const indent = "    "

func (p printer) list(n *ast.List) []line {
	depth := 0
	for up := n.Parent(); up != nil; up = up.Parent() {
		if up.Kind() == ast.KindList {
			depth++
		}
	}
	bullet := bullets[min(depth, len(bullets)-1)]
	number := n.Start
	var lines []line
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		marker := bullet
		if n.IsOrdered() {
			marker = strconv.Itoa(number) + ". "
			number++
		}
		lines = append(lines, p.item(item, marker)...)
	}
	return lines
}

func (p printer) item(n ast.Node, marker string) []line {
	lines := p.blocks(n, false)
	if len(lines) == 0 {
		return []line{{text: strings.TrimRight(marker, " ")}}
	}
	if first := lines[0]; first.code || strings.HasPrefix(first.text, "> ") && !p.plain {
		lines = append([]line{{text: strings.TrimRight(marker, " ")}}, lines...)
	} else {
		lines[0].text = marker + first.text
	}
	for i, l := range lines {
		if i > 0 && !l.code && !strings.HasPrefix(l.text, "> ") {
			lines[i].text = indent + l.text
		}
	}
	return lines
}

// bold sets a text in bold, line by line.
func (p printer) bold(text string) string {
	if p.plain {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if l = strings.TrimSpace(l); l != "" {
			lines[i] = string(rune(openBold)) + l + string(rune(closeBold))
		}
	}
	return strings.Join(lines, "\n")
}
