package markup

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/liaison-bot/liaison/slack/limits"
)

// checkMessages holds what every message keeps to, whatever it was made from.
func checkMessages(t *testing.T, r Rendered) {
	t.Helper()
	if len(r.Messages) > limits.Messages {
		t.Errorf("%d messages", len(r.Messages))
	}
	if len(r.Overflow) > limits.Snippet {
		t.Errorf("a file of %d bytes", len(r.Overflow))
	}
	for i, m := range r.Messages {
		all := append([]string{m.Text, m.Markdown, m.Context}, m.Texts()...)
		if m.Text == "" {
			t.Errorf("message %d has no text", i)
		}
		if n := limits.Length(m.Markdown); n > limits.Markdown {
			t.Errorf("message %d has %d characters of Markdown", i, n)
		}
		for k, text := range all {
			if k != 1 && len(text) > limits.Text {
				t.Errorf("message %d has a text of %d bytes", i, len(text))
			}
			if !utf8.ValidString(text) {
				t.Errorf("message %d is cut within a character: %q", i, text)
			}
			// What the host calls is typed, and stands before everything else.
			if p := pinged(strings.TrimPrefix(text, m.Mention)); p != "" {
				t.Errorf("message %d calls %q", i, p)
			}
		}
	}
}

func TestAnAnswerIsOneMessage(t *testing.T) {
	t.Parallel()
	r := Render("Hello, **all**.\n", Options{Mention: []string{"U1", "U1", "W2", "<!channel>", "u3"}, Suffix: "gpt_4_x · 3 s"})
	want := Rendered{Messages: []Message{{
		Mention: "<@U1> <@W2>", Markdown: "Hello, **all**.", Context: "gpt_4_x · 3 s",
		Text: "<@U1> <@W2> Hello, *all*.\ngpt_4_x · 3 s",
	}}}
	if !reflect.DeepEqual(r, want) {
		t.Errorf("got  %+v\nwant %+v", r, want)
	}
	blocks, err := json.Marshal(r.Messages[0].Blocks())
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "blocks.json", string(blocks)+"\n")
}

func TestAnEmptyAnswerIsNoMessage(t *testing.T) {
	t.Parallel()
	for _, source := range []string{"", " \n\t\n", "\u200B"} {
		if r := Render(source, Options{Suffix: "x"}); source != "\u200B" && len(r.Messages) != 0 {
			t.Errorf("%q became %+v", source, r)
		}
	}
}

// bolt-js#2509: one character too many and nothing is posted.
func TestMarkdownAtItsLimit(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"x", "🦊"} {
		size := limits.Length(unit)
		for _, n := range []int{limits.Markdown/size - 1, limits.Markdown / size, limits.Markdown/size + 1} {
			r := Render(strings.Repeat(unit, n), Options{})
			checkMessages(t, r)
			if want := (n*size + limits.Markdown - 1) / limits.Markdown; len(r.Messages) != want {
				t.Errorf("%d of %q became %d messages, not %d", n, unit, len(r.Messages), want)
			}
			var b strings.Builder
			for _, m := range r.Messages {
				b.WriteString(m.Markdown)
			}
			if b.String() != strings.Repeat(unit, n) {
				t.Errorf("%d of %q did not arrive whole", n, unit)
			}
		}
	}
}

func TestWhatFiveMessagesDoNotHoldIsAFile(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]bool{limits.Messages * limits.Markdown: false, limits.Messages*limits.Markdown + 1: true} {
		source := strings.Repeat("x", n)
		r := Render(source, Options{Suffix: "m"})
		checkMessages(t, r)
		last := r.Messages[len(r.Messages)-1]
		if (r.Overflow != "") != want || want && (r.Overflow != source || last.Context != goesOn+" · m") {
			t.Errorf("%d characters: %d bytes of file, context %q", n, len(r.Overflow), last.Context)
		}
	}
	if r := Render(strings.Repeat("line\n", limits.Snippet/4), Options{}); len(r.Overflow) > limits.Snippet || !strings.HasSuffix(r.Overflow, "longer than a file may be.]\n") {
		t.Errorf("a file of %d bytes", len(r.Overflow))
	}
}

// longAnswer is an answer of about 200 kB with whatever is hard to cut.
func longAnswer() string {
	var b strings.Builder
	for i := 1; b.Len() < 200_000; i++ {
		fmt.Fprintf(&b, "## Section %d <!channel>\n\n", i)
		for k := range 3 {
			fmt.Fprintf(&b, "Paragraph %d.%d of `some_code` with **bold** and 🦊👩‍👩‍👧‍👦🇩🇪. It goes on: see [the docs](https://example.com/a?b=%d&c=1). ", i, k, i)
			b.WriteString(strings.Repeat("And so on, 日本語, until @here is reached. ", 6) + "\n\n")
		}
		b.WriteString("| File | Lines | What |\n|:-----|------:|------|\n")
		for k := range 20 {
			fmt.Fprintf(&b, "| `pkg/file_%d.go` | %d | <@U%d> 🦊 a \\| b |\n", k, i*k, k)
		}
		b.WriteString("\n1. A step\n   - with <!here>\n\n     ````md\n     ```go\n     func main() {}\n     ```\n     ````\n2. Another one\n\n```go\n")
		for k := range 30 {
			fmt.Fprintf(&b, "\tfmt.Println(%d, \"<!subteam^S1> 🦊 & <b>\")\n", k)
		}
		b.WriteString("```\n\n> A quotation with `code`\n> and more\n\n")
	}
	return b.String()
}

func TestALongAnswerArrivesCompleteReadableAndHarmless(t *testing.T) {
	t.Parallel()
	source := longAnswer()
	r := Render(source, Options{Mention: []string{"U1"}, Suffix: "model · 12 s"})
	checkMessages(t, r)
	if len(r.Messages) != limits.Messages {
		t.Fatalf("%d messages", len(r.Messages))
	}
	if r.Overflow != strings.Trim(Neutralise(source), "\n") {
		t.Error("the file is not the answer")
	}
	// All of it is there: the messages hold the beginning, word by word, and whoever
	// posts without blocks posts no less.
	want := strings.Fields(Plain(source, 400_000))
	for name, texts := range map[string]func(Message) []string{
		"blocks": func(m Message) []string { return []string{Plain(m.Markdown, 100_000)} },
	} {
		at := 0
		for _, m := range r.Messages {
			for _, text := range texts(m) {
				for _, word := range strings.Fields(text) {
					if at < len(want) && word == want[at] {
						at++
					}
				}
			}
		}
		if at < 5000 {
			t.Errorf("%s hold %d words in order", name, at)
		}
	}
	for i, m := range r.Messages {
		if !balanced(t, m.Markdown) {
			t.Errorf("message %d leaves code open", i)
		}
		golden(t, fmt.Sprintf("long/%d.block.md", i+1), m.Markdown+"\n")
		golden(t, fmt.Sprintf("long/%d.text", i+1), m.Text+"\n")
	}
	golden(t, "long/1.without-blocks", strings.Join(r.Messages[0].Texts(), "\n=== next text ===\n")+"\n")
}

func TestWhatCannotBeReadIsShownAsItIs(t *testing.T) {
	t.Parallel()
	source := strings.Repeat("[", 5000) + " <!channel> *x*"
	r := Render(source, Options{Mention: []string{"U1"}, Suffix: "m"})
	checkMessages(t, r)
	var b strings.Builder
	for _, m := range r.Messages {
		if m.Markdown != "" || m.Blocks() != nil {
			t.Error("it is given to a reader of Markdown")
		}
		b.WriteString(m.Text)
	}
	if strings.Count(b.String(), "[") != 5000 || !strings.HasPrefix(b.String(), "<@U1>") || !strings.HasSuffix(b.String(), "\nm") {
		t.Errorf("got %.60q … %q", b.String(), b.String()[len(b.String())-20:])
	}
}

func FuzzRender(f *testing.F) {
	for _, seed := range []string{
		"<!channel> @here", "&lt;!here&gt;", "[x](!here)", "# a\n\n| a |\n|-|\n| <@U1> |", "<<b>!channel>", "```\n<!here>\n", "`\\`` <!here>",
		"[a]: !channel\n[a]", "<!--\n<!here>\n-->", "@<b>here</b>", "<&#x200b;!here>", "*@*here", "**_~`a`~_**", "a<br>b", "![x](y)", "\\@here",
	} {
		f.Add(seed, 3000)
	}
	f.Fuzz(func(t *testing.T, source string, limit int) {
		checkMessages(t, Render(source, Options{Mention: []string{"U1"}, Suffix: source}))
		limit = (limit%4000 + 4000) % 4000
		for name, text := range map[string]string{"mrkdwn": Mrkdwn(source, limit), "plain": Plain(source, limit)} {
			if len(text) > limit {
				t.Errorf("%s has %d bytes of %d", name, len(text), limit)
			}
			if p := pinged(text); p != "" {
				t.Errorf("%s calls %q: %q", name, p, text)
			}
		}
		once := Neutralise(source)
		if again := Neutralise(once); again != once {
			t.Errorf("%q is not neutral: %q", once, again)
		}
	})
}

func BenchmarkRender(b *testing.B) {
	for name, source := range map[string]string{
		"long": longAnswer(), "stars": strings.Repeat("*", 1<<20), "brackets": strings.Repeat("[a](", 1<<18), "depth": strings.Repeat("> ", 1<<19),
		"fences": strings.Repeat("\\```\n", 1<<18), "comments": strings.Repeat("<!--|x<div>\n", 1<<16), "mentions": strings.Repeat("<!here> ", 1<<17), "entities": strings.Repeat("&amp;", 1<<17) + "lt;!here>",
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(source)))
			for b.Loop() {
				Render(source, Options{})
			}
		})
	}
}
