package reviewer

import (
	"strings"
	"testing"
)

func TestUnicode(t *testing.T) {
	t.Parallel()
	runRule(t, "unicode", []ruleTest{
		{"bidirectional override in code", one("a.go", "x := \"\u202e\""), []string{"error a.go:10 Bidirectional control character U+202E"}},
		{"bidirectional isolate in a document", one("a.md", "\u2067x\u2069"), []string{"warning a.md:10 Bidirectional control character U+2067"}},
		{"zero width space in code", one("a.go", "us\u200ber := 1"), []string{"warning a.go:10 Invisible character U+200B"}},
		{"invisible letter as a name", one("a.js", "const \u3164 = 1"), []string{"warning a.js:10 Invisible character U+3164"}},
		{"hidden tag text", one("a.md", "hi\U000E0068\U000E0069"), []string{"error a.md:10 Invisible tag character U+E0068"}},
		{"tags that are no flag any more", one("a.md", "\U0001F3F4"+strings.Repeat("\U000E0068", maxFlagTags+1)), []string{"error a.md:10 Invisible tag character U+E0068"}},
		{"byte order mark inside", one("a.go", "x\ufeffy"), []string{"warning a.go:10 Invisible character U+FEFF"}},
		{"byte order mark at the start", []file{{path: "a.cs", patch: "@@ -0,0 +1,1 @@\n+\ufeffusing System;\n"}}, nil},
		{"Cyrillic letter in a name", one("a.go", "us\u0435r := admin"), []string{"warning a.go:10 Look-alike letters in one word"}},
		{"hidden in the name of a file", one("src/a\u202egnp.go", "x"), []string{"error src/a\u202egnp.go:0 Bidirectional control character U+202E in the file's name"}},
		{"look-alike in the name of a file", one("p\u0430yment.go", "x"), []string{"warning p\u0430yment.go:0 Look-alike letters in the file's name"}},
		{"direction mark in a document", one("he.md", "\u05e9\u05dc\u05d5\u05dd\u200f"), []string{"info he.md:10 Invisible character U+200F"}},

		{"emoji that is joined", one("a.md", "\U0001F468\u200d\U0001F469\u200d\U0001F467"), nil},
		{"flag of Scotland", one("a.md", "\U0001F3F4\U000E0067\U000E0062\U000E0073\U000E0063\U000E0074\U000E007F"), nil},
		{"Persian with joiners", one("fa.md", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"), nil},
		{"Russian comment", one("a.go", "// \u0434\u043b\u044f \u0442\u0435\u0441\u0442\u0430"), nil},
		{"Russian text in a string", one("a.go", "x := \"\u043f\u0440\u0438\u0432\u0435\u0442\""), nil},
		{"mathematics", one("a.jl.go", "\u0394t := \u03c3x"), nil},
		{"no UTF-8", one("latin1.go", "caf\xe9\xe9", "x := 1 // \xff"), nil},
		{"accents", one("a.go", "na\u00efve := \"caf\u00e9\""), nil},
		{"ideographs", one("\u65e5\u672c.md", "\u65e5\u672c\u8a9e"), nil},
		{"removed", []file{{path: "a.go", patch: removed("\u202e")}}, nil},
	})
}

func TestUnicodeOfThePullRequest(t *testing.T) {
	t.Parallel()
	dir := evidence{title: "Fix\u202e", ref: "fe\u200bature", files: one("a.md", "x")}.write(t)
	text := review(t, dir).Markdown()
	for _, want := range []string{"U+202E in the pull request's title", "U+200B in the pull request's head branch's name"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
}
