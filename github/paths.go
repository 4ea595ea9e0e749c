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
	return slices.ContainsFunc(names, func(name string) bool { return matches(s.Paths, name) })
}

// matches goes through globs in order; the last that matches decides, and "!"
// leaves out. Where there are none but such as leave out, all else is in.
func matches(globs []string, name string) bool {
	in := !slices.ContainsFunc(globs, func(glob string) bool { return !strings.HasPrefix(glob, "!") })
	for _, pattern := range globs {
		glob, out := strings.CutPrefix(pattern, "!")
		// A pattern that is none matches nothing; the configuration was checked.
		if matched, err := doublestar.Match(glob, name); err == nil && matched {
			in = !out
		}
	}
	return in
}
