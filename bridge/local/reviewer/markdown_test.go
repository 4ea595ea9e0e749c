package reviewer

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

var (
	liveReference = regexp.MustCompile(`(^|[^\w&])(#|GH-)\d`)
	closesIssue   = regexp.MustCompile(`(?i)\b(close[sd]?|fix(e[sd])?|resolve[sd]?):?\s+\S*(#|issues/)\d`)
)

// checkInert reports whatever in the Markdown could act when it is posted:
// anything of a stranger must be inside code.
func checkInert(t testing.TB, markdown string) {
	t.Helper()
	if n := utf8.RuneCountInString(markdown); n > 30_000 {
		t.Errorf("the report has %d characters", n)
	}
	if !utf8.ValidString(markdown) {
		t.Error("the report is not UTF-8")
	}
	for _, r := range markdown {
		if isHidden(r) || r < ' ' && r != '\n' {
			t.Errorf("the report has the invisible character U+%04X", r)
		}
	}
	source := []byte(markdown)
	document := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
	var prose strings.Builder
	err := ast.Walk(document, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := node.(type) {
		case *ast.CodeSpan:
			return ast.WalkSkipChildren, nil
		case *ast.RawHTML, *ast.HTMLBlock, *ast.Link, *ast.AutoLink, *ast.Image, *ast.CodeBlock, *ast.FencedCodeBlock, *ast.ThematicBreak:
			t.Errorf("the report has a %s", node.Kind())
		case *ast.Text:
			prose.Write(n.Segment.Value(source))
			prose.WriteString(" ")
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for what, live := range map[string]bool{
		"a mention":         strings.Contains(prose.String(), "@"),
		"a reference":       liveReference.MatchString(prose.String()),
		"a closing keyword": closesIssue.MatchString(prose.String()),
		"an address":        strings.Contains(prose.String(), "://") || strings.Contains(prose.String(), "www."),
		"a stray backtick":  strings.Contains(prose.String(), "`"),
	} {
		if live {
			t.Errorf("the report has %s outside code:\n%s", what, markdown)
		}
	}
}
