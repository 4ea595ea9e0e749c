package slack

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/slack/limits"
)

// Answers of every length around Slack's limits, of one byte a character and of
// four, are taken as they are: nothing is refused on the way, and nothing is lost.
func TestLengthsAtTheLimits(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"x", "é", "😀", "# Heading\n\n", "| a | b |\n|---|---|\n| 1 | 2 |\n\n", "```go\nx\n```\n\n", "<!channel> ", "&<>|", "- item\n"} {
		t.Run(fmt.Sprintf("%q", unit[:min(len(unit), 8)]), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, unhurried)
			for _, limit := range []int{limits.SectionText, limits.Text, limits.Markdown} {
				for _, more := range []int{-1, 0, 1} {
					p := answer(w, strings.Repeat(unit, (limit+more+len(unit)-1)/len(unit)))
					p.Key = fmt.Sprint(limit + more)
					w.must(w.item(kindPost, p))
				}
			}
			w.nothingRefused()
			w.nobodyCalled()
		})
	}
}

// A page of everything that is hard about an answer arrives whole, in a few
// messages and a file, and calls nobody.
func TestHardAnswer(t *testing.T) {
	t.Parallel()
	const page = "## Findings <!here>\n\n" +
		"| file | line |\n|---|---|\n| `a.go` | <@U0ANN> |\n| b.go | 𝒳𝒴 |\n\n" +
		"````md\n```go\nfmt.Println(\"<!channel>\")\n```\n````\n\n" +
		"1. one\n   - two <!subteam^S0GROUP|@everyone>\n     - three &lt;!channel&gt;\n\n" +
		"> quoted `code` and [a link](https://example.com/?a=1|2>3)\n\n😀😀 @channel @here\n\n"
	w := newWorld(t, unhurried)
	var b strings.Builder
	for i := 0; b.Len() < 200_000; i++ {
		fmt.Fprintf(&b, "# Part %d\n\n%s", i, page)
	}
	item := w.item(kindPost, answer(w, b.String()))
	w.must(item)
	item.Attempts++
	w.must(item)
	w.nothingRefused()
	w.nobodyCalled()
	got := w.answers()
	if len(got) != limits.Messages+1 || len(got[limits.Messages].Files) != 1 {
		t.Fatalf("posted %d messages", len(got))
	}
	file := string(got[limits.Messages].Files[0].Content)
	for i := range strings.Count(b.String(), "# Part ") {
		if !strings.Contains(file, fmt.Sprintf("# Part %d\n", i)) {
			t.Errorf("part %d is not in the file", i)
		}
	}
	if strings.Contains(file, "<!channel>") {
		t.Error("the file calls everybody")
	}
}

// What is put around an answer is cut to what Slack takes, and what is no address
// of a page is left out.
func TestSurroundings(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*postPayload){
		"model":      func(p *postPayload) { p.Model = strings.Repeat("model <!channel> ", 500) },
		"duration":   func(p *postPayload) { p.Duration = time.Minute },
		"link text":  func(p *postPayload) { p.LinkText = strings.Repeat("😀", 500) },
		"no text":    func(p *postPayload) { p.LinkText = "" },
		"long link":  func(p *postPayload) { p.Link = "https://example.com/" + strings.Repeat("x", limits.ButtonURL) },
		"no page":    func(p *postPayload) { p.Link = "javascript:alert(1)" },
		"markup":     func(p *postPayload) { p.Link = "https://example.com/|<!channel>" },
		"mention":    func(p *postPayload) { p.Mention = "U0ANN> <!channel" },
		"plain text": func(p *postPayload) { p.Markdown = strings.Repeat("[", 20_000) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, unhurried)
			p := answer(w, "Yes.")
			change(&p)
			w.must(w.item(kindPost, p))
			w.nothingRefused()
			w.nobodyCalled()
			if len(w.answers()) == 0 {
				t.Error("nothing was posted")
			}
		})
	}
}

func TestSuffix(t *testing.T) {
	t.Parallel()
	for want, took := range map[string]time.Duration{
		"m": 900 * time.Millisecond, "m · 1s": time.Second, "m · 12s": 12*time.Second + 400*time.Millisecond,
		"m · 1m": time.Minute, "m · 1m12s": 72 * time.Second, "m · 1h0m": time.Hour,
	} {
		if got := suffix("m", took); got != want {
			t.Errorf("%s: got %q, want %q", took, got, want)
		}
	}
}
