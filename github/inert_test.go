package github

import (
	"fmt"
	"strings"
	"testing"
)

func TestInert(t *testing.T) {
	t.Parallel()
	tests := map[string][2]string{
		"image":                     {"see ![x](https://a.example/?d=1)", "see &#33;[x](https://a.example/?d=1)"},
		"image by reference":        {"![x][r]\n\n[r]: https://a.example", "&#33;[x][r]\n\n[r]: https://a.example"},
		"image in a link":           {"[![x](y)](z)", "[&#33;[x](y)](z)"},
		"HTML image":                {"a <IMG\nsrc=y>", "a &lt;IMG\nsrc=y>"},
		"what HTML reads as one":    {"<image src=y>", "&lt;image src=y>"},
		"picture":                   {"<picture><source srcset=y></picture>", "&lt;picture>&lt;source srcset=y></picture>"},
		"video":                     {"<div>\n<video src=y>", "<div>\n&lt;video src=y>"},
		"code":                      {"`![x](y)` `<img>`", "`![x](y)` `<img>`"},
		"block of code":             {"```md\n![x](y)\n```", "```md\n![x](y)\n```"},
		"code that is none":         {"`![x](y)", "`&#33;[x](y)"},
		"alert and macro":           {"> [!NOTE]\n> vec![1]", "> [!NOTE]\n> vec&#33;[1]"},
		"issue elsewhere":           {"https://github.com/o/r/issues/1", "https://redirect.github.com/o/r/issues/1"},
		"pull request as a target":  {"[x](HTTP://www.GitHub.com/o/r/pull/12/files#d)", "[x](https://redirect.github.com/o/r/pull/12/files#d)"},
		"discussion in HTML":        {`<a href="https://github.com/o/r/discussions/1">x</a>`, `<a href="https://redirect.github.com/o/r/discussions/1">x</a>`},
		"file elsewhere":            {"https://github.com/o/r/blob/main/a.go", "https://github.com/o/r/blob/main/a.go"},
		"suggestion":                {"so:\n```suggestion\nx\n```", "so:\n```text\nx\n```"},
		"suggestion, other marks":   {"~~~~  Suggestion x\nx\n~~~~", "~~~~text x\nx\n~~~~"},
		"suggestion in a quotation": {"> - ```suggestion\n>   x\n>   ```", "> - ```text\n>   x\n>   ```"},
		"suggestion in entities":    {"```s&#117;ggestion\nx\n```", "```text#117;ggestion\nx\n```"},
		"suggestion in code":        {"````\n```suggestion\n````", "````\n```suggestion\n````"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := inert(tt[0])
			if got != tt[1] {
				t.Errorf("got  %q\nwant %q", got, tt[1])
			}
			if again := inert(got); again != got {
				t.Errorf("again: %q", again)
			}
		})
	}
}

// What is hard to read must cost no more for being long: compare the sizes.
func BenchmarkInert(b *testing.B) {
	for name, part := range map[string]string{
		"images": "![", "fences": "```&&\n", "entities": "```" + strings.Repeat("&", 50) + "\n", "prefixes": "> - 1. ", "addresses": "https://github.com/",
	} {
		for _, size := range []int{maxComment / 8, 2 * maxComment} {
			text := strings.Repeat(part, size/len(part))
			b.Run(fmt.Sprintf("%s/%dKiB", name, size>>10), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					inert(text)
				}
			})
		}
	}
}

// Suggestions are the host's to make: one in the words of a finding was checked
// against no line, and stands where the repository wants none.
func TestNoSuggestionComesFromWords(t *testing.T) {
	t.Parallel()
	f := found("x")
	f.Body = "Do this:\n\n```suggestion\nrm -rf /\n```"
	for _, wanted := range []bool{true, false} {
		if got := renderFinding(f, wanted, maxComment, "ses_1"); strings.Contains(got, "```suggestion") {
			t.Errorf("suggestions %t:\n%s", wanted, got)
		}
	}
	f.Suggestion = "ok"
	if got := renderFinding(f, true, maxComment, "ses_1"); strings.Count(got, "```suggestion\nok\n```") != 1 {
		t.Errorf("the host's own is gone:\n%s", got)
	}
}
