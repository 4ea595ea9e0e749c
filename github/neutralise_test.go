package github

import (
	"bytes"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	ghtml "github.com/yuin/goldmark/renderer/html"
)

func TestNeutralise(t *testing.T) {
	t.Parallel()
	const b = breaker
	tests := map[string][2]string{
		"person":                  {"thanks @mona", "thanks @" + b + "mona"},
		"team":                    {"ask @octo/backend", "ask @" + b + "octo/backend"},
		"two with a slash":        {"@user1/@user2", "@" + b + "user1/@" + b + "user2"},
		"at the start":            {"@mona", "@" + b + "mona"},
		"after punctuation":       {"(@mona)", "(@" + b + "mona)"},
		"emphasis":                {"**@mona** _@lisa_", "**@" + b + "mona** _@" + b + "lisa_"},
		"address":                 {"a.b@example.com", "a.b@example.com"},
		"lone at":                 {"a @ b, @, @-x", "a @ b, @, @-x"},
		"decimal entity":          {"&#64;mona", "&#64;" + b + "mona"},
		"hexadecimal entity":      {"&#x40;mona", "&#x40;" + b + "mona"},
		"named entity":            {"&commat;mona &num;12", "&commat;" + b + "mona &num;" + b + "12"},
		"entity in the name":      {"@&#109;ona", "@" + b + "&#109;ona"},
		"escaped":                 {`\@mona \#12`, `\@` + b + `mona \#` + b + `12`},
		"issue":                   {"see #12", "see #" + b + "12"},
		"issue elsewhere":         {"octo/shop#12", "octo/shop#" + b + "12"},
		"issue, old form":         {"gh-12 and GH-3", "gh-" + b + "12 and GH-" + b + "3"},
		"no issue":                {"#foo, C# 7, HIGH-12", "#foo, C# 7, HIGH-12"},
		"closing keyword":         {"Fixes #12", "Fixes #" + b + "12"},
		"closing keyword and URL": {"Fixes: https://github.com/o/r/issues/12", "F" + b + "ixes: https://github.com/o/r/issues/12"},
		"URL":                     {"https://x.example/@mona/#12?a=b&c=@d", "https://x.example/@mona/#12?a=b&c=@d"},
		"URL in angle brackets":   {"<https://x.example/@mona>", "<https://x.example/@mona>"},
		"URL as a target":         {"[x](https://x.example/@mona)", "[x](https://x.example/@mona)"},
		"www":                     {"www.example.com/@mona", "www.example.com/@mona"},
		"not a URL":               {"https://!@mona", "https://!@" + b + "mona"},
		"glued to a word":         {"xhttps://x.example/@mona", "xhttps://x.example/@" + b + "mona"},
		"link text":               {"[@mona](https://x.example)", "[@" + b + "mona](https://x.example)"},
		"code span":               {"`@mona #12`", "`@mona #12`"},
		"open code span":          {"`@mona", "`@" + b + "mona"},
		"code block":              {"```\n@mona\n```", "```\n@mona\n```"},
		"indented code":           {"text\n\n    @mona\n\n@lisa", "text\n\n    @mona\n\n@" + b + "lisa"},
		"code block in a list":    {"- a\n  ```\n  @mona\n  ```\n- @lisa", "- a\n  ```\n  @mona\n  ```\n- @" + b + "lisa"},
		"quote":                   {"> @mona", "> @" + b + "mona"},
		"heading":                 {"# @mona #12", "# @" + b + "mona #" + b + "12"},
		"table":                   {"| a |\n|---|\n| @mona |", "| a |\n|---|\n| @" + b + "mona |"},
		"HTML block":              {"<div>\n`@mona`\n</div>", "<div>\n`@" + b + "mona`\n</div>"},
		"HTML block, bare entity": {"<div>&#64mona &#x40mona</div>", "<div>&#" + b + "64mona &#" + b + "x40mona</div>"},
		"address after a URL":     {"https://0.a@mona", "https://0.a@" + b + "mona"},
		"a person called http":    {"@http://a.example", "@" + b + "http://a.example"},
		"in an open bracket":      {"[a https://a.example/#1", "[a https://a.example/#" + b + "1"},
		"no entity":               {"&#000", "&#" + b + "000"},
		"attribute":               {`a <a href="/@mona">x</a> @lisa`, `a <a href="/@mona">x</a> @` + b + `lisa`},
		"after a tag":             {"a<b></b>@mona", "a<b></b>@" + b + "mona"},
		"footnote":                {"[^1]: @mona", "[^1]: @" + b + "mona"},
		"another bot's command":   {"/approve\n  /lgtm cancel", "/" + b + "approve\n  /" + b + "lgtm cancel"},
		"no command":              {"a /b, and/or //c\n`/d`", "a /b, and/or //c\n`/d`"},
		"definition":              {"[a]: https://x.example/@mona", "[a]: https://x.example/@mona"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := neutralise(tt[0])
			if got != tt[1] {
				t.Errorf("got  %s\nwant %s", got, tt[1])
			}
			if again := neutralise(got); again != got {
				t.Errorf("again: %s", again)
			}
		})
	}
}

func TestUnhide(t *testing.T) {
	t.Parallel()
	tests := map[string][2]string{
		"comment":           {"a <!-- liaison:review x --> b", "a &lt;!-- liaison:review x --> b"},
		"comment block":     {"<!-- x\n\n@mona -->", "&lt;!-- x\n\n@mona -->"},
		"in code":           {"`<!-- x -->`", "`<!-- x -->`"},
		"in a block":        {"```html\n<!-- x -->\n```", "```html\n<!-- x -->\n```"},
		"code that is none": {"<!-- ` --> `<!-- x -->`", "&lt;!-- ` --> `&lt;!-- x -->`"},
		"pre":               {"<pre>\nx", "&lt;pre>\nx"},
		"script":            {"<SCRIPT >x</script>", "&lt;SCRIPT >x&lt;/script>"},
		"harmless":          {"<details><summary>x</summary></details>", "<details><summary>x</summary></details>"},
		"direction":         {"a\u202eb\u2066c", "a[U+202E]b[U+2066]c"},
		"no shape":          {"a\u200bb\u2062c\ufeffd\U000e0061e\U000e0100", "a[U+200B]b[U+2062]c[U+FEFF]d[U+E0061]e[U+E0100]"},
		"joined":            {"\U0001f469\u200d\U0001f52c \u2764\ufe0f", "\U0001f469\u200d\U0001f52c \u2764\ufe0f"},
		"line ends":         {"a\r\nb\rc", "a\nb\nc"},
		"not UTF-8":         {"a\xffb", "a\uFFFDb"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := unhide(tt[0])
			if got != tt[1] {
				t.Errorf("got  %q\nwant %q", got, tt[1])
			}
			if again := unhide(got); again != got {
				t.Errorf("again: %q", again)
			}
		})
	}
}

var (
	shownAsCode = regexp.MustCompile(`(?is)<pre\b.*?</pre>|<code\b.*?</code>|<a\b.*?</a>`)
	anyTag      = regexp.MustCompile(`(?s)<!--.*?-->|<[^<>]*>`)
	liveMention = regexp.MustCompile(`(?:^|[^A-Za-z0-9_])@[A-Za-z0-9]`)
	liveImage   = regexp.MustCompile(`(?i)<img\b`)
	liveIssue   = regexp.MustCompile(`#[0-9]|(?i:\bgh-[0-9])`)
)

// live returns what GitHub would act on in a text, judged by what is rendered.
func live(t *testing.T, src string) string {
	t.Helper()
	md := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(ghtml.WithUnsafe()))
	var out bytes.Buffer
	must(t, md.Convert([]byte(src), &out))
	shown := shownAsCode.ReplaceAllString(out.String(), "\x01")
	if m := liveImage.FindString(shown); m != "" {
		return m
	}
	for _, text := range strings.Split(anyTag.ReplaceAllString(shown, "\x01"), "\x01") {
		text = html.UnescapeString(text)
		if m := liveMention.FindString(text); m != "" {
			return m
		}
		if m := liveIssue.FindString(text); m != "" {
			return m
		}
	}
	return ""
}

// The judge itself has to see what is live, or the fuzz test proves nothing.
func TestJudgeSeesWhatIsLive(t *testing.T) {
	t.Parallel()
	for _, src := range []string{"@mona", "x **@mona**", "&#64;mona", `\@mona`, "<div>@mona</div>", "see #12", "gh-1", "![x](y)", "<img src=x>"} {
		if live(t, src) == "" {
			t.Errorf("%q counts as dead", src)
		}
	}
	for _, src := range []string{"`@mona`", "```\n@mona\n```", "a@b.example", "https://x.example/@mona"} {
		if m := live(t, src); m != "" {
			t.Errorf("%q counts as live: %q", src, m)
		}
	}
}

var textSeeds = []string{
	"@mona #12", "`@mona` ``@x` `` @y", "```\n@mona\n```\n@lisa", "<div>\n@mona `@x`\n", "[x](https://a.example/@b) @c",
	"<!-- @mona -->\n@x", "- a\n  ```\n  @b\n- @c", "&#64;mona \\@x gh-1", "https://a.example/_@b_ *https://a.example/*@c*",
	"| a | b |\n|---|---|\n| `@x | @y` |", "<details>\n\n@x", "~~~\n@x", "    @x\n@y", "> ```\n> @x\n@y", "$`@x`$ [^1]\n\n[^1]: @y",
	"<a href=\"@x\">@y</a>", "<pre>@x", "www.a.example/@b\u202e@c", "\r@x\x00@y", "<`@x`>", "[`@x](` @y)", "Fixes https://a.example/o/r/issues/1",
	"![x](y) `![x](y)`", "<img src=`x`>", "```\n![x](y)\n```\n![x](y)", "[![x](y)](z)",
}

func FuzzNeutralise(f *testing.F) {
	for _, s := range textSeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		if len(src) > 4096 {
			return
		}
		got := neutralise(inert(unhide(src)))
		if m := live(t, got); m != "" {
			t.Errorf("%q is live in %q (from %q)", m, got, src)
		}
		if again := neutralise(got); again != got {
			t.Errorf("not stable: %q then %q", got, again)
		}
	})
}
