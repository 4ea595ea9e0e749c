package limits

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestLengthIsNeverLessThanThatOfCodePoints(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"": 0, "abc": 3, "é": 1, "日本": 2, "🦊": 2, "👍🏽": 4, "\xff": 1} {
		if got := Length(text); got != want || got < utf8.RuneCountInString(text) {
			t.Errorf("%q has %d, not %d", text, got, want)
		}
	}
}

func TestPrefixFits(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"x", "é", "🦊"} {
		size := Length(unit)
		for _, n := range []int{ButtonText - 1, ButtonText, ButtonText + 1} {
			text := strings.Repeat(unit, n)
			got := text[:Prefix(text, ButtonText)]
			want := min(n, ButtonText/size)
			if utf8.RuneCountInString(got) != want || Length(got) > ButtonText {
				t.Errorf("%d of %q: %d are left, not %d", n, unit, utf8.RuneCountInString(got), want)
			}
		}
	}
	if Prefix("abc", 0) != 0 || Prefix("abc", -1) != 0 || Prefix("", 5) != 0 {
		t.Error("nothing has room in nothing")
	}
}
