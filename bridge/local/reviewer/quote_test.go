package reviewer

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestQuote(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"plain", "a/b.go", "`a/b.go`"},
		{"mention", "@octo/team", "`@octo/team`"},
		{"backticks", "`a``b", "`\\x60a\\x60\\x60b`"},
		{"line breaks", "a\nb\r\tc", "`a\\nb\\r\\tc`"},
		{"backslash beside a line break", "a\\n\nb", "`a\\\\n\\nb`"},
		{"backslash alone", `a\b`, "`a\\b`"},
		{"bidirectional control", "a\u202eb", "`a\\u{202e}b`"},
		{"zero width", "a\u200bb", "`a\\u{200b}b`"},
		{"no UTF-8", "a\xffb", "`a\\xffb`"},
		{"replacement character", "a\ufffdb", "`a\ufffdb`"},
		{"escape sequence", "\x1b[31m", "`\\x1b[31m`"},
		{"spaces at both ends", " a ", "`  a  `"},
		{"only spaces", "  ", "`\\x20\\x20`"},
		{"hidden mark", "<!-- x --><b>", "`\\x3c!-- x --><b>`"},
		{"nothing", "", "(empty)"},
		{"umlauts", "über/日本.md", "`über/日本.md`"},
	}
	for _, tt := range tests {
		if got := quote(tt.text, 100); got != tt.want {
			t.Errorf("%s: quote(%q) = %q, want %q", tt.name, tt.text, got, tt.want)
		}
	}
}

func TestShortenKeepsBothEnds(t *testing.T) {
	t.Parallel()
	for _, n := range []int{59, 60, 61, 500} {
		text := "a" + strings.Repeat("é", n-2) + "z"
		got := shorten(text, 60)
		if utf8.RuneCountInString(got) != min(n, 60) || got[0] != 'a' || got[len(got)-1] != 'z' {
			t.Errorf("%d characters became %q", n, got)
		}
	}
}

func TestCount(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"1 file": count(1, "file"), "0 files": count(0, "file"), "2 dependencies": count(2, "dependency"),
		"1,000 files": count(1000, "file"), "1,234,567 lines": count(1234567, "line"), "2 days": count(2, "day"), "2 patches": count(2, "patch"),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
