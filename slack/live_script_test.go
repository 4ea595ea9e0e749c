package slack

import (
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/slack/markup"
)

// What is let go of a growing text stays as it is when more of it comes, and is
// never more than is there.
func TestSettled(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                    "",
		"a word":                              "a word",
		"a word ":                             "a word",
		"a <":                                 "a ",
		"a <!chan":                            "a ",
		"a <!date^1^x and":                    "a ",
		"a <b> c":                             "a <b> c",
		"a < b\nc":                            "a < b\nc",
		"mail me@":                            "mail me",
		"mail me@there ":                      "mail me@there",
		"x &l":                                "x ",
		"[label]":                             "[label",
		"全角の文字":                               "全角の文字",
		"全角＠":                                 "全角",
		strings.Repeat("x", 500) + "<!chan":   strings.Repeat("x", 500),
		"<" + strings.Repeat("x", 500) + "yz": "<" + strings.Repeat("x", 500) + "yz",
	} {
		if got := text[:settled(text)]; got != want {
			t.Errorf("of %q %q is let go, not %q", text, got, want)
		}
	}
}

func TestOpenFence(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                          "",
		"text":                      "",
		"```\ncode":                 "```\n",
		"```go\ncode\n":             "```go\n",
		"```go\ncode\n```":          "",
		"```go\ncode\n```\nmore":    "",
		"````\n```\ncode":           "````\n",
		"````\n```\ncode\n`````\n":  "",
		"~~~ a ` b\ncode\n```\n":    "~~~a\n",
		"```inline``` code\n":       "",
		"    ```\nindented\n":       "",
		"text\n\n   ```sh\nls\n":    "```sh\n",
		"```\na\n``` no end\nb":     "```\n",
		"```\na\n```\n\n~~~\nb\n~~": "~~~\n",
	} {
		if got := openFence(text); got != want {
			t.Errorf("%q leaves %q open, not %q", text, got, want)
		}
	}
}

// Whatever a model writes, in whatever pieces it comes: each state of the streamed
// messages is neutral, and nothing is lost between them.
func FuzzGrowingText(f *testing.F) {
	f.Add("Hello <!channel> and @here, `<@U123>` &lt;!here&gt; [x](!channel)", uint8(3))
	f.Add("```go\n"+strings.Repeat("a := 1 // 🤖\n", 2000)+"```\n", uint8(200))
	f.Add(strings.Repeat("long", 5000), uint8(250))
	f.Fuzz(func(t *testing.T, text string, step uint8) {
		if len(text) > 60_000 {
			return
		}
		text = strings.ToValidUTF8(text, "�")
		p, sent := piece{}, 0
		for n := 0; n < len(text); {
			n = min(len(text), n+int(step)*40+1)
			for n < len(text) && text[n]&0xC0 == 0x80 {
				n++
			}
			part := text[:n]
			part = part[:settled(part)]
			for sent < len(part) {
				cut := p.reach(part, sent)
				if cut < sent || cut > len(part) {
					t.Fatalf("cut at %d of %d after %d", cut, len(part), sent)
				}
				clean := markup.Neutralise(p.lead + part[p.from:cut])
				more, ok := strings.CutPrefix(clean, p.text)
				if !ok {
					return // it goes on with edits, which show a neutral whole
				}
				if found := calls.FindString(p.text + more); found != "" {
					t.Fatalf("%q calls people", found)
				}
				p.text, sent = clean, cut
				if cut < len(part) {
					p = piece{from: sent, lead: openFence(part[:sent])}
				}
			}
		}
	})
}
