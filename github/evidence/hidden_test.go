package evidence

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/liaison-bot/liaison/internal/unseen"
)

func TestReveal(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in, want string
		n        int
	}{
		"plain":                    {"Plain text, <b>bold</b>, a < b.\n\tTabbed.", "Plain text, <b>bold</b>, a < b.\n\tTabbed.", 0},
		"line ends":                {"a\r\nb\rc", "a\nb[hidden: U+000D]c", 1},
		"comment":                  {"a<!-- obey -->b", "a[hidden markup: obey]b", 1},
		"comment over lines":       {"<!--\nobey\n-->", "[hidden markup: obey]", 1},
		"comment never closed":     {"a<!-- the rest", "a[hidden markup, never closed: the rest]", 1},
		"comment in a comment":     {"<!-- <!-- x --> y", "[hidden markup: ‹!-- x] y", 1},
		"shortest comments":        {"<!-->a<!--->b", "[hidden: empty comment]a[hidden: empty comment]b", 2},
		"declaration":              {"<!DOCTYPE obey>x", "[hidden markup: DOCTYPE obey]x", 1},
		"instruction":              {"<?obey?>x", "[hidden markup: obey]x", 1},
		"data":                     {"<![CDATA[obey]]>x", "[hidden markup: obey]x", 1},
		"an arrow is none":         {"a <! b <", "a <! b <", 0},
		"link as a comment":        {"[//]: # (obey)\n[x]: <> \"obey\"\n", "[hidden link definition: [//]: # (obey)]\n[hidden link definition: [x]: <> \"obey\"]\n", 2},
		"link":                     {"[1]: https://example.com", "[1]: https://example.com", 0},
		"zero width":               {"a\u200bb", "a[hidden: U+200B]b", 1},
		"a run":                    {"a\u200b\u200b\u200b\u2060b", "a[hidden: U+200B×3 U+2060]b", 1},
		"bidirectional":            {"\u202eabc\u202c", "[hidden: U+202E]abc[hidden: U+202C]", 2},
		"isolates":                 {"\u2066x\u2069", "[hidden: U+2066]x[hidden: U+2069]", 2},
		"byte order mark":          {"\ufeffx", "[hidden: U+FEFF]x", 1},
		"soft hyphen":              {"co\u00adop", "co[hidden: U+00AD]op", 1},
		"tags spell":               {"hi\U000E0068\U000E0069", `hi[hidden: U+E0068 U+E0069 spells "hi"]`, 1},
		"variation selectors":      {"x\ufe01\U000E0100", "x[hidden: U+FE01 U+E0100]", 1},
		"escape":                   {"\x1b[31mred", "[hidden: U+001B][31mred", 1},
		"line separator":           {"a\u2028b", "a[hidden: U+2028]b", 1},
		"Hangul filler":            {"\u3164", "[hidden: U+3164]", 1},
		"emoji keep their joiners": {"👩\u200d🚀 ❤\ufe0f 1\ufe0f", "👩\u200d🚀 ❤\ufe0f 1\ufe0f", 0},
		"joiner between letters":   {"a\u200db", "a[hidden: U+200D]b", 1},
		"joiner after a run":       {"👩\u200b\u200d🚀", "👩[hidden: U+200B U+200D]🚀", 1},
		"invalid UTF-8":            {"a\xffb", "a\uFFFDb", 0},
		"a comment split by a run": {"<!\u200b-- x -->", "<![hidden: U+200B]-- x -->", 1},
		"long runs": {
			strings.Repeat("\u200b\u200c", 10),
			"[hidden:" + strings.Repeat(" U+200B U+200C", 6) + " and 8 more]", 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, n := Reveal(c.in)
			if got != c.want || n != c.n {
				t.Errorf("Reveal(%q) is %q, %d; want %q, %d", c.in, got, n, c.want, c.n)
			}
		})
	}
}

func FuzzReveal(f *testing.F) {
	for _, s := range []string{"", "plain", "<!-- x -->", "<!-->-->", "<!--->", "<?x", "[//]: # x", "a\u200b\U000E0041", "\r\n\r", "\xff<!\xff--", "👩\u200d🚀"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		out, n := Reveal(s)
		if !utf8.ValidString(out) {
			t.Errorf("not UTF-8: %q", out)
		}
		if strings.Contains(out, "<!--") || strings.Contains(out, "\r") {
			t.Errorf("hidden text is left in %q", out)
		}
		if again, left := unseen.Reveal(out); left > 0 {
			t.Errorf("%d runs of hidden characters are left in %q: %q", left, out, again)
		}
		if n == 0 && utf8.ValidString(s) && !strings.Contains(s, "\r") && out != s {
			t.Errorf("%q became %q without a marker", s, out)
		}
	})
}
