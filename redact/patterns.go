package redact

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// The limits of patterns: each is held against everything that is written.
const (
	MaxPatterns = 50
	// MaxPattern is the length of one in bytes.
	MaxPattern = 500
)

// AddPatterns registers forms of secrets as RE2 expressions
// (https://github.com/google/re2/wiki/Syntax); all of a match is masked. It takes
// all of them or, with an error that says which one is wrong, none.
func (r *Redactor) AddPatterns(exprs ...string) error {
	var add []*regexp.Regexp
	for _, expr := range exprs {
		re, err := compilePattern(expr)
		if err != nil {
			return err
		}
		add = append(add, re)
	}
	for {
		old := r.patterns.Load()
		all := add
		if old != nil {
			all = append(slices.Clone(*old), add...)
		}
		if len(all) > MaxPatterns {
			return fmt.Errorf("%d patterns of secrets; at most %d are taken", len(all), MaxPatterns)
		}
		if r.patterns.CompareAndSwap(old, &all) {
			return nil
		}
	}
}

// probe has one of most things at whose borders an expression can match nothing.
const probe = " a_Z-0.\n\t/\"é"

func compilePattern(expr string) (*regexp.Regexp, error) {
	if len(expr) > MaxPattern {
		return nil, fmt.Errorf("the pattern %.40q… has %d bytes; at most %d are taken", expr, len(expr), MaxPattern)
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, fmt.Errorf("the pattern %q is no RE2 expression: %w", expr, err)
	}
	for _, text := range []string{"", probe} {
		for _, at := range re.FindAllStringIndex(text, -1) {
			if at[0] == at[1] {
				return nil, fmt.Errorf("the pattern %q matches nothing at all, which is everywhere", expr)
			}
		}
	}
	return re, nil
}

// maskPattern masks what a pattern matches. What was masked before stays as it is,
// or is masked with what stands around it.
func maskPattern(re *regexp.Regexp, s string) string {
	found := re.FindAllStringIndex(s, -1)
	if found == nil {
		return s
	}
	var out strings.Builder
	done := 0
	for _, at := range found {
		from, to := at[0], at[1]
		if from == to || to <= done {
			continue
		}
		from = max(from, done)
		// Half of a mask would not be known as one.
		around := max(done, from-len(Mask)+1)
		end := min(len(s), to+len(Mask)-1)
		for i := around; i < end; i++ {
			if !strings.HasPrefix(s[i:], Mask) {
				continue
			}
			if i < from && from < i+len(Mask) {
				from = i
			}
			if i < to && to < i+len(Mask) {
				to = i + len(Mask)
			}
		}
		out.WriteString(s[done:from] + Mask)
		done = to
	}
	return out.String() + s[done:]
}
