package github

import "testing"

func TestGlobsInOrder(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		globs   []string
		in, out string
	}{
		{nil, "a", ""},
		{[]string{"!docs/**"}, "a", "docs/a"},
		{[]string{"src/**"}, "src/a", "a"},
		{[]string{"src/**", "!src/gen/**"}, "src/a", "src/gen/a"},
		{[]string{"!src/gen/**", "src/**"}, "src/gen/a", "a"},
		{[]string{"!docs/**", "src/**"}, "src/a", "README.md"},
		{[]string{"!docs/**", "docs/api/**"}, "docs/api/a", "docs/a"},
	} {
		if !matches(tt.globs, tt.in) || tt.out != "" && matches(tt.globs, tt.out) {
			t.Errorf("%q: %s is in: %t; %s is in: %t", tt.globs, tt.in, matches(tt.globs, tt.in), tt.out, matches(tt.globs, tt.out))
		}
	}
}
