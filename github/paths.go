package github

import (
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// covers reports whether the configuration has any of these files reviewed. The
// names are raw, as Git has them: a pattern that is matched against a quoted name
// can be got around (https://github.com/frankekn/needlefish/issues/99).
func (s settings) covers(names ...string) bool {
	return len(s.Paths) == 0 || slices.ContainsFunc(names, s.coversOne)
}

// coversOne goes through the patterns in order; the last that matches decides.
// Where the first one leaves something out, all else is reviewed.
func (s settings) coversOne(name string) bool {
	covered := strings.HasPrefix(s.Paths[0], "!")
	for _, pattern := range s.Paths {
		glob, out := strings.CutPrefix(pattern, "!")
		// A pattern that is none matches nothing; the configuration was checked.
		if matched, err := doublestar.Match(glob, name); err == nil && matched {
			covered = !out
		}
	}
	return covered
}
