package markup

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"

	"github.com/liaison-bot/liaison/slack/limits"
)

// checkParts holds what Split promises of any text.
func checkParts(t *testing.T, text string, limit int, parts []Part) {
	t.Helper()
	var b strings.Builder
	for i, p := range parts {
		if p.Source == "" {
			t.Errorf("part %d has no source", i)
		}
		if n := limits.Length(p.Text()); n > max(limit, minLimit) {
			t.Errorf("part %d has %d characters of %d", i, n, limit)
		}
		if utf8.ValidString(text) && !utf8.ValidString(p.Text()) {
			t.Errorf("part %d is cut within a character: %q", i, p.Text())
		}
		b.WriteString(p.Source)
	}
	if b.String() != text {
		t.Errorf("the parts together are not the text:\n%q\n%q", b.String(), text)
	}
}

// balanced reports whether a text of Markdown leaves no code block open.
func balanced(t *testing.T, text string) bool {
	t.Helper()
	doc, ok := parse(text + "\n\nafter-the-end\n")
	if !ok {
		t.Fatal("too costly")
	}
	inCode := false
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if f, is := n.(*ast.FencedCodeBlock); is && entering {
			inCode = inCode || strings.Contains(string(f.Lines().Value([]byte(text+"\n\nafter-the-end\n"))), "after-the-end")
		}
		return ast.WalkContinue, nil
	})
	return !inCode
}

func TestAShortTextIsOnePart(t *testing.T) {
	t.Parallel()
	if got := Split("# Hello\n\n```\nunclosed", 100); len(got) != 1 || got[0].Text() != "# Hello\n\n```\nunclosed" {
		t.Errorf("got %+v", got)
	}
	if got := Split("", 100); got != nil {
		t.Errorf("nothing became %+v", got)
	}
	for _, n := range []int{199, 200, 201} {
		if got := Split(strings.Repeat("x", n), 200); len(got) != (n+199)/200 {
			t.Errorf("%d characters became %d parts", n, len(got))
		}
	}
}

func TestATextIsCutWhereAReaderWould(t *testing.T) {
	t.Parallel()
	word := func(n int) string { return strings.TrimSpace(strings.Repeat("word ", n)) }
	for name, test := range map[string]struct {
		text string
		want []string // how each part begins
	}{
		"before a heading rather than a paragraph":  {"# One\n\n" + word(20) + "\n\n## Two\n\n" + word(5) + "\n\n" + word(20), []string{"# One", "## Two"}},
		"between paragraphs rather than lines":      {word(20) + "\n\n" + word(8) + "\nsecond line " + word(20), []string{"word", "word"}},
		"between items rather than within one":      {"- one " + word(15) + "\n- two " + word(15) + "\n  more\n- three " + word(15), []string{"- one", "- two", "- three"}},
		"between sentences rather than words":       {"First. " + word(25) + ". Second " + word(20) + ".", []string{"First.", "Second"}},
		"at words rather than within one":           {word(60), []string{"word", "word"}},
		"before a link rather than within its text": {word(20) + " [the text of a link that is long enough for it](https://example.com/a) " + word(10), []string{"word", "[the text"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parts := Split(test.text, 160)
			checkParts(t, test.text, 160, parts)
			for i, want := range test.want {
				if i >= len(parts) || !strings.HasPrefix(parts[i].Text(), want) {
					t.Errorf("part %d does not begin with %q: %q", i, want, parts)
				}
			}
		})
	}
}

// A code block goes on as one, in the same language, and code inside never ends it.
func TestACodeBlockIsClosedAndOpenedAgain(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ open, line, shut, again string }{
		"in a language":       {"```go\n", "fmt.Println(1)\n", "```\n", "```go\n"},
		"with tildes":         {"~~~\n", "some code here\n", "~~~\n", "~~~\n"},
		"with a fence inside": {"````md\n", "```go\nx\n```\n", "````\n", "````md\n"},
		"in a quotation":      {"> ```sh\n", "> make test\n", "> ```\n", "> ```sh\n"},
		"in a list":           {"- item\n  ```sh\n", "  make test\n", "  ```\n", "  ```sh\n"},
		"in a deep list":      {"- item\n  - item\n    ```sh\n", "    make test\n", "    ```\n", "- …\n  - …\n    ```sh\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := "Before.\n\n" + test.open + strings.Repeat(test.line, 60) + test.shut + "\nAfter.\n"
			parts := Split(text, 300)
			checkParts(t, text, 300, parts)
			if len(parts) < 3 {
				t.Fatalf("only %d parts", len(parts))
			}
			for i, p := range parts {
				if !balanced(t, p.Text()) {
					t.Errorf("part %d leaves a block open:\n%s", i, p.Text())
				}
			}
			if got := parts[1].Open; got != test.again {
				t.Errorf("it is opened again with %q, not %q", got, test.again)
			}
		})
	}
}

// openclaw's splitter blew up on a line of code longer than a message.
func TestALineOfCodeLongerThanAMessage(t *testing.T) {
	t.Parallel()
	for _, line := range []string{strings.Repeat("x", 5000), strings.Repeat("`", 250) + strings.Repeat("y ", 2000), strings.Repeat("```\n", 700)} {
		text := "````js\n" + line + "\n````\nend\n"
		parts := Split(text, 500)
		checkParts(t, text, 500, parts)
		if len(parts) > 3*len(text)/500 {
			t.Errorf("%d characters became %d parts", len(text), len(parts))
		}
	}
}

func TestATableGoesOnWithItsHeader(t *testing.T) {
	t.Parallel()
	header := "| Name | Count |\n|------|------:|\n"
	var rows strings.Builder
	for i := range 60 {
		fmt.Fprintf(&rows, "| row %d | %d |\n", i, i)
	}
	text := "Before.\n\n" + header + rows.String() + "\nAfter."
	parts := Split(text, 300)
	checkParts(t, text, 300, parts)
	for i, p := range parts[1:] {
		if strings.HasPrefix(p.Source, "| row") && p.Open != header {
			t.Errorf("part %d opens with %q", i+1, p.Open)
		}
		if strings.HasPrefix(p.Source, "|--") {
			t.Errorf("part %d begins below a header", i+1)
		}
	}
}

func TestANestedListGoesOnAsOne(t *testing.T) {
	t.Parallel()
	text := "1. first\n   - " + strings.Repeat("inner\n   - ", 40) + "last\n2. second\n"
	parts := Split(text, 150)
	checkParts(t, text, 150, parts)
	if want := "1. …\n"; parts[1].Open != want {
		t.Errorf("it goes on with %q, not %q", parts[1].Open, want)
	}
	for _, p := range parts {
		doc, _ := parse(p.Text())
		_ = ast.Walk(doc, func(n ast.Node, _ bool) (ast.WalkStatus, error) {
			if n.Kind() == ast.KindCodeBlock {
				t.Errorf("a part became code:\n%s", p.Text())
			}
			return ast.WalkContinue, nil
		})
	}
}

// A number other than one does not begin a list below a paragraph.
func TestANestedNumberedListGoesOnAsOne(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("- item\n")
	for i := range 20 {
		fmt.Fprintf(&b, "  %d. step with some words\n", i+1)
	}
	parts := Split(b.String(), 150)
	checkParts(t, b.String(), 150, parts)
	if doc, _ := parse(parts[1].Text()); parts[1].Open != "- …\n\n" || doc.FirstChild().FirstChild().LastChild().Kind() != ast.KindList {
		t.Errorf("it goes on as %q", parts[1].Text())
	}
}

func TestNoCharacterIsCut(t *testing.T) {
	t.Parallel()
	for _, cluster := range []string{"é", "e\u0301", "👩‍👩‍👧‍👦", "👍🏽", "🇩🇪", "❤️", "日"} {
		text := strings.Repeat(cluster, 400)
		parts := Split(text, 101)
		checkParts(t, text, 101, parts)
		for i, p := range parts {
			if strings.Count(p.Source, cluster)*len(cluster) != len(p.Source) {
				t.Errorf("part %d of %q is cut within one: %q", i, cluster, p.Source)
			}
		}
	}
}

func FuzzSplit(f *testing.F) {
	for _, seed := range []string{
		"# a\n\nb", "```go\nx\n```", "> ```\n> a\n> ```\n", "- a\n  - b\n    ```\n    c\n", "| a |\n|---|\n| b |\n",
		strings.Repeat("word ", 100), strings.Repeat("👍🏽", 80), "~~~\n" + strings.Repeat("```\n", 90), "\\``\n", strings.Repeat("`", 299) + "\n" + strings.Repeat("a", 400),
	} {
		f.Add(seed, 120)
	}
	f.Fuzz(func(t *testing.T, text string, limit int) {
		limit = limit % 5000
		checkParts(t, text, limit, Split(text, limit))
	})
}
