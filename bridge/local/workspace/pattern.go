package workspace

import (
	"path"
	"strings"
)

// pattern matches slash-separated paths: a path matches when one of the
// alternatives does, segment by segment.
type pattern [][]string

// parsePattern reads a pattern of [path.Match] segments, in which ** is any
// number of directories and {a,b} either.
func parsePattern(text string) (pattern, error) {
	if len(text) > maxPathBytes {
		return nil, refuse("the pattern has %d bytes; at most %d are accepted", len(text), maxPathBytes)
	}
	alternatives, ok := expand(text, maxAlternatives)
	if !ok {
		return nil, refuse("the braces of the pattern stand for more than %d patterns", maxAlternatives)
	}
	var out pattern
	for _, a := range alternatives {
		var segments []string
		for segment := range strings.SplitSeq(a, "/") {
			if segment == "" || segment == "." {
				continue
			}
			if segment == ".." {
				return nil, refuse("the pattern may not hold ..; give the directory as path")
			}
			if segment == "**" && len(segments) > 0 && segments[len(segments)-1] == "**" {
				continue // says the same once
			}
			if _, err := path.Match(segment, ""); err != nil {
				return nil, refuse("the pattern %.200q is malformed: a bracket is not closed", text)
			}
			segments = append(segments, segment)
		}
		if len(segments) == 0 {
			return nil, refuse("the pattern %.200q matches nothing", text)
		}
		out = append(out, segments)
	}
	return out, nil
}

// expand writes out the outermost first braces of a pattern until none are
// left. Braces without a partner, or without a comma, stand for themselves.
func expand(text string, limit int) ([]string, bool) {
	queue, out := []string{text}, []string(nil)
	for len(queue) > 0 {
		next := queue[0]
		queue = queue[1:]
		before, choices, after, ok := braces(next)
		if !ok {
			out = append(out, next)
		}
		for _, c := range choices {
			queue = append(queue, before+c+after)
		}
		if len(out)+len(queue) > limit {
			return nil, false
		}
	}
	return out, true
}

// braces splits a pattern around its first pair of braces with a choice in it.
func braces(s string) (before string, choices []string, after string, ok bool) {
	for start := range len(s) {
		if s[start] != '{' {
			continue
		}
		depth, from := 0, start+1
		choices = nil
		for i := start; i < len(s); i++ {
			switch {
			case s[i] == '{':
				depth++
			case s[i] == ',' && depth == 1:
				choices = append(choices, s[from:i])
				from = i + 1
			case s[i] == '}':
				if depth--; depth > 0 {
					continue
				}
				if choices == nil {
					return braceless(s, i)
				}
				return s[:start], append(choices, s[from:i]), s[i+1:], true
			}
		}
		return "", nil, "", false
	}
	return "", nil, "", false
}

// braceless goes on after braces that hold no choice.
func braceless(s string, closing int) (before string, choices []string, after string, ok bool) {
	before, choices, after, ok = braces(s[closing+1:])
	return s[:closing+1] + before, choices, after, ok
}

func (p pattern) match(name string) bool {
	segments := strings.Split(name, "/")
	for _, alternative := range p {
		if matchSegments(alternative, segments) {
			return true
		}
	}
	return false
}

// matchSegments keeps the set of positions in the pattern that are reached, so
// that its time is the product of the lengths, whatever the pattern.
func matchSegments(pat, name []string) bool {
	reached := make([]bool, len(pat)+1)
	reached[0] = true
	skipStars := func() {
		for i, segment := range pat {
			if reached[i] && segment == "**" {
				reached[i+1] = true
			}
		}
	}
	skipStars()
	for _, segment := range name {
		next := make([]bool, len(pat)+1)
		for i, want := range pat {
			switch {
			case !reached[i]:
			case want == "**":
				next[i] = true
			default:
				if ok, _ := path.Match(want, segment); ok { // it was checked when it was parsed
					next[i+1] = true
				}
			}
		}
		reached = next
		skipStars()
	}
	return reached[len(pat)]
}
