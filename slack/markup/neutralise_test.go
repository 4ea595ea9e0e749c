package markup

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
)

// pings is what Slack acts on, told apart in another way than the code does it:
// by looking at every text that a chain of careless readers could make of one.
var pings = regexp.MustCompile(`(?i)<(?:!(?:channel|here|everyone|group|subteam|date)|@[a-z0-9])|(?-i:<#[CDG][A-Z0-9])|\]\(\s*<?(?:!(?:channel|here|everyone)|@[a-z0-9])`)

// bare is a mention of everybody without brackets. A zero-width space behind the
// "@" makes it harmless, so that one is not taken out before it is looked for.
var bare = regexp.MustCompile(`(?i)(?:^|[^\pL\pN_])@(?:channel|here|everyone)(?:$|[^\pL\pN_])`)

var zeroWidth = regexp.MustCompile("[\u00AD\u200B-\u200F\u2060-\u2064\uFE00-\uFE0F\uFEFF]")

// pinged returns what in a text calls somebody, or nothing.
func pinged(text string) string {
	if m := bare.FindString(text); m != "" {
		return m
	}
	seen := text
	for range 4 {
		for _, reading := range []string{seen, zeroWidth.ReplaceAllString(seen, ""), strings.ReplaceAll(seen, `\`, ""), norm.NFKC.String(seen)} {
			if m := pings.FindString(reading); m != "" {
				return m
			}
		}
		seen = html.UnescapeString(norm.NFKC.String(zeroWidth.ReplaceAllString(seen, "")))
	}
	return ""
}

func TestNothingInATextCallsAnybody(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"<!channel>", "<!here>", "<!everyone>", "<!HERE|here>", "<!subteam^S1>", "<!subteam^S1|@oncall>",
		"<@U2>", "<@W2|bob>", "<#C1>", "<#C012AB|general>", "<http://x|<!here>>", "<!date^0^{date}^https://evil.example|x>",
		"&lt;!channel&gt;", "&amp;lt;!channel&amp;gt;", "&amp;amp;lt;!here&amp;amp;gt;", "&#60;!channel>", "&#x3c;!channel>",
		"<&#33;channel>", "<!&#99;hannel>", "&lt!channel>", "&lt!here;", "&#60!here>", "&#x3C!here>", "&ampLT;!here>", `\<!channel>`, `<\!channel>`, `\\<!channel>`, `\&lt;!here&gt;`,
		"＜!channel＞", "<！channel>", "＜＠U2＞", "<!ｃｈａｎｎｅｌ>", "<\u200B!channel>", "<!\u200Dchannel>", "<!cha\u00ADnnel>", "<!ch\uFE0Fannel>",
		"<<b></b>!channel>", "<!<!---->channel>", "<!chan**nel**>", "<!`here`>",
		"[x](!channel)", "[x](<!channel>)", "[x]( @U2)", "[x]: !here", "[x](#C012)",
		"@channel", "@here", "@everyone", "@Channel!", "(@here)", "@<here@x.example>", "<@<U2@x.example>>", "*@here*", "@cha\u200Bnnel", "&#64;here", "＠here", "see https://x.example/@here",
	} {
		for name, with := range map[string]string{
			"alone": text, "in a sentence": "Hello " + text + ", all.", "in code": "`" + text + "`", "in a block": "```\n" + text + "\n```",
			"quoted": "> " + text, "in a list": "- " + text, "in a table": "| a |\n|---|\n| " + text + " |",
		} {
			neutral := Neutralise(with)
			if m := pinged(neutral); m != "" {
				t.Errorf("%s %q: %q is left in %q", name, text, m, neutral)
			}
			if again := Neutralise(neutral); again != neutral {
				t.Errorf("%s %q: again it becomes %q, was %q", name, text, again, neutral)
			}
			for _, m := range Render(with, Options{}).Messages {
				if p := pinged(m.Markdown); p != "" {
					t.Errorf("%s %q: %q is left in Markdown %q", name, text, p, m.Markdown)
				}
				if p := pinged(m.Text); p != "" {
					t.Errorf("%s %q: %q is left in text %q", name, text, p, m.Text)
				}
			}
			if got := Mrkdwn(with, 500); pinged(got) != "" {
				t.Errorf("%s %q: mrkdwn %q", name, text, got)
			}
			if got := Plain(with, 500); pinged(got) != "" {
				t.Errorf("%s %q: plain %q", name, text, got)
			}
		}
	}
}

func TestWhatCallsNobodyStays(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"<!DOCTYPE html>", "<!-- a comment -->", "a <!b", "me@here.example", "@channels", "@hereabouts", "x <- y", "#123", "[x](#heading)",
		"AT&T", "&amp; &lt;b&gt;", "git@channel.example:x", "a@channel", "<https://example.com|text>", "if a<b && c>d {",
	} {
		if got := Neutralise(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// What a person reads is what was written, but for the brackets.
func TestANeutralMentionIsReadable(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"<!channel> hi":            "‹!channel› hi",
		"&lt;!here&gt;":            "‹!here›",
		"@here":                    "@\u200Bhere",
		"https://x.example/@here/": "https://x.example/%40here/",
		"[x](!channel)":            "[x](%21channel)",
	} {
		if got := Neutralise(text); got != want {
			t.Errorf("%q became %q, not %q", text, got, want)
		}
	}
}
