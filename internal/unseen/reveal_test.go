package unseen

import (
	"testing"
	"unicode/utf8"
)

func TestReveal(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in, want string
		n        int
	}{
		"plain":         {"Plain text.\n\tTabbed.", "Plain text.\n\tTabbed.", 0},
		"bidirectional": {"\u202eabc\u202c", "[hidden: U+202E]abc[hidden: U+202C]", 2},
		"tags spell":    {"hi\U000E0068\U000E0069", `hi[hidden: U+E0068 U+E0069 spells "hi"]`, 1},
		"emoji":         {"👩\u200d🚀 ❤\ufe0f", "👩\u200d🚀 ❤\ufe0f", 0},
	} {
		if got, n := Reveal(c.in); got != c.want || n != c.n {
			t.Errorf("%s: %q, %d; want %q, %d", name, got, n, c.want, c.n)
		}
	}
}

func FuzzReveal(f *testing.F) {
	for _, s := range []string{"", "a\u200b\U000E0041", "👩\u200b\u200d🚀"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			t.Skip("callers make texts valid first")
		}
		once, n := Reveal(s)
		if twice, left := Reveal(once); left > 0 {
			t.Errorf("%q is left of %q: %q", twice, s, once)
		}
		if n == 0 && once != s {
			t.Errorf("%q became %q without a marker", s, once)
		}
	})
}
