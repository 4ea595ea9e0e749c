package github

import (
	"strings"
	"testing"
	"time"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

const note = "*cut*"

// follows reports whether a paragraph after body is a paragraph of its own.
func follows(body string) bool {
	src := []byte(body + "\n\nthe end")
	last, ok := gfm().Parse(text.NewReader(src)).LastChild().(*ast.Paragraph)
	return ok && string(last.Lines().Value(src)) == "the end"
}

// https://github.com/danger/danger/issues/424, https://github.com/renovatebot/renovate/issues/2032
func TestFitKeepsToTheLimit(t *testing.T) {
	t.Parallel()
	texts := map[string]func(n int) string{
		"one line":        func(n int) string { return strings.Repeat("a", n) },
		"four-byte runes": func(n int) string { return strings.Repeat("😀", n) },
		"paragraphs":      func(n int) string { return strings.Repeat("Some words.\n\n", n/13+1) },
		"one fence":       func(n int) string { return "```go\n" + strings.Repeat("x := 1\n", n/7+1) + "```" },
		"fence of blanks": func(n int) string { return "````\n" + strings.Repeat("x\n\n", n/3+1) + "````" },
		"mentions":        func(n int) string { return strings.Repeat("@a ", n/3+1) },
		"details":         func(n int) string { return "<details>\n\n" + strings.Repeat("Some words.\n\n", n/13+1) + "</details>" },
		"comments":        func(n int) string { return strings.Repeat("<!--", n/4+1) },
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, n := range []int{maxComment - 1, maxComment + 1, 300000} {
				got := fit(text(n), maxComment, note)
				if runes(got) > maxComment || runes(got) < maxComment/4 {
					t.Errorf("%d characters became %d", n, runes(got))
				}
				if !follows(got) {
					t.Errorf("%d characters: what follows is swallowed: …%q", n, got[len(got)-40:])
				}
				if strings.Count(got, "<details>") != strings.Count(got, "</details>") {
					t.Errorf("%d characters: details left open", n)
				}
				if n > maxComment && !strings.HasSuffix(got, note) {
					t.Errorf("%d characters: cut without a word: …%q", n, got[len(got)-40:])
				}
			}
		})
	}
}

func TestFitLeavesAloneWhatFits(t *testing.T) {
	t.Parallel()
	exact := strings.Repeat("é", maxComment)
	if got := fit(exact, maxComment, note); got != exact {
		t.Errorf("a text of exactly the limit was changed to %d characters", runes(got))
	}
}

func TestCutEndsAtAParagraph(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text  string
		limit int
		want  string
	}{
		"paragraph":      {"first\n\nsecond\n\nthird", 16, "first\n\nsecond"},
		"not in a fence": {"first part\n\n```\na\n\nb\n```", 18, "first part"},
		"line in a long fence": {"a\n\n```\n" + strings.Repeat("line\n\n", 20) + "```", 60,
			"a\n\n```\n" + strings.Repeat("line\n\n", 8) + "line"},
		"line":      {"first line\nsecond line", 16, "first line"},
		"character": {"ééééé", 3, "ééé"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := cut(tt.text, tt.limit); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// https://github.com/The-PR-Agent/pr-agent/pull/2945
func TestSealClosesWhatIsOpen(t *testing.T) {
	t.Parallel()
	tests := map[string][2]string{
		"nothing open":        {"a\n\n```\nb\n```", "a\n\n```\nb\n```"},
		"fence":               {"```go\na", "```go\na\n```"},
		"longer fence":        {"`````\n```\na\n```", "`````\n```\na\n```\n`````"},
		"tildes":              {"~~~~\n```", "~~~~\n```\n~~~~"},
		"indented fence":      {"  ```\n  a", "  ```\n  a\n```"},
		"fence in a list":     {"- ```\n  a\n  ```", "- ```\n  a\n  ```"},
		"open in a list":      {"- ```\n  a", "- ```\n  a"},
		"open in a quote":     {"> ```\n> a", "> ```\n> a"},
		"details":             {"<details>\n\na", "<details>\n\na\n\n</details>"},
		"details and fence":   {"<details>\n\n```\na", "<details>\n\n```\na\n```\n\n</details>"},
		"details in code":     {"`<details>`", "`<details>`"},
		"closed too often":    {"</details>\n\n<details>\n\na", "</details>\n\n<details>\n\na\n\n</details>"},
		"fence without lines": {"```", "```\n```"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := seal(tt[0])
			if got != tt[1] {
				t.Errorf("got  %q\nwant %q", got, tt[1])
			}
			if !follows(got) {
				t.Errorf("%q swallows what follows", got)
			}
		})
	}
}

func TestFenceIsLongerThanAnyInside(t *testing.T) {
	t.Parallel()
	for _, runs := range []int{0, 1, 3, 4, 7} {
		inside := strings.Repeat("`", runs)
		got := fence("a " + inside + "\n" + inside + "\n@mona")
		if neutralise(got) != got || !follows(got) {
			t.Errorf("a run of %d marks escapes: %q", runs, got)
		}
		span := code("@mona " + inside + " @lisa")
		if neutralise(span) != span {
			t.Errorf("a run of %d marks escapes the span: %q", runs, span)
		}
	}
}

// Work that grows with the square of a text's length would stop a delivery
// for minutes, and with it the worker: a thousand times what an ordinary text of
// the same length costs. Hostile texts cost up to ten times as much, and the bound
// is far above that, so that a busy machine does not matter.
func TestHostileTextCostsLittle(t *testing.T) {
	const bound = 500
	ordinary := strings.Repeat("an ordinary word\n", 2*maxComment/17)
	began := time.Now()
	_, review := weigh(ordinary)
	fit(review, maxComment, note)
	limit := bound * time.Since(began)
	for _, unit := range []string{"@a", "/@a", "1. ", "> 1. ", ">", "- > ", "[a](", "![a]([b]("} {
		src := strings.Repeat(unit, 2*maxComment/len(unit))
		done := make(chan string, 1)
		go func() {
			_, review := weigh(src)
			done <- fit(review, maxComment, note)
		}()
		select {
		case got := <-done:
			if runes(got) > maxComment {
				t.Errorf("%q: %d characters", unit, runes(got))
			}
			if !follows(got) {
				t.Errorf("%q: swallows what follows", unit)
			}
			if m := live(t, got); m != "" {
				t.Errorf("%q: %q is live", unit, m)
			}
		case <-time.After(limit):
			t.Fatalf("%q: not done after %s", unit, limit)
		}
	}
}

func TestTooDeepNestingIsShownAsText(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("1. ", maxNesting+1) + "@mona\n\n```"
	if got := dress(deep); !strings.HasPrefix(got, "````text\n") || !follows(got) {
		t.Errorf("got %q", got)
	}
	for _, ordinary := range []string{strings.Repeat("[a](b)", maxChained), strings.Repeat("-", 200), strings.Repeat("> ", 20) + "a", strings.Repeat("*", 200)} {
		if got := dress(ordinary); got != ordinary {
			t.Errorf("%q became %q", ordinary, got)
		}
	}
}

func FuzzFit(f *testing.F) {
	for _, s := range textSeeds {
		f.Add(s, 100)
	}
	f.Add(strings.Repeat("a\n\n```\n", 50), 120)
	f.Fuzz(func(t *testing.T, src string, limit int) {
		if limit < 0 || limit > 2000 || len(src) > 4096 {
			return
		}
		got := fit(src, limit, note)
		if runes(got) > limit {
			t.Errorf("%d characters, limit %d", runes(got), limit)
		}
		if limit > 50 && !follows(got) {
			t.Errorf("%q swallows what follows", got)
		}
		if m := live(t, got); m != "" {
			t.Errorf("%q is live in %q (from %q)", m, got, src)
		}
	})
}
