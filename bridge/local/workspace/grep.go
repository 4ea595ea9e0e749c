package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"strings"
)

// search is one grep: what it looks for and what came of it.
type search struct {
	expression *regexp.Regexp
	context    int
	out        report
	matches    int
	full       bool
	scanned    int64
	large      int
}

// grep shows the lines that match a regular expression.
func (w *Workspace) grep(ctx context.Context, args arguments) (string, error) {
	s, only, p, err := w.grepArguments(args)
	if err != nil {
		return "", err
	}
	ctx, cancel := limited(ctx)
	defer cancel()
	var pass walk
	info, err := p.dir.root.Stat(filepath.FromSlash(p.rel))
	switch {
	case err != nil:
		return "", p.explain(err)
	case info.IsDir():
		err = pass.files(ctx, p, func(at place, rel string) bool {
			if only != nil && !only(rel) {
				return true
			}
			if err := s.file(ctx, at); err != nil {
				pass.unreadable++
			}
			return !s.full
		})
	default:
		err = s.file(ctx, p)
	}
	if err != nil {
		return "", err
	}
	timeUp, err := ended(ctx)
	if err != nil {
		return "", err
	}
	pass.timeUp = pass.timeUp || timeUp
	s.remarks()
	pass.remarks(&s.out)
	return s.out.text.String(), nil
}

// grepArguments reads the arguments; only is nil when every file is searched.
func (w *Workspace) grepArguments(args arguments) (s *search, only func(string) bool, p place, err error) {
	expression, err1 := args.text("pattern")
	given, err2 := args.text("path")
	glob, err3 := args.text("glob")
	ignoreCase, err4 := args.flag("ignore_case")
	around, err5 := args.number("context", 0)
	for _, err := range []error{err1, err2, err3, err4, err5} {
		if err != nil {
			return nil, nil, place{}, err
		}
	}
	switch {
	case expression == "":
		return nil, nil, place{}, refuse("the argument pattern is missing")
	case len(expression) > maxPathBytes:
		return nil, nil, place{}, refuse("the pattern has %d bytes; at most %d are accepted", len(expression), maxPathBytes)
	}
	flags := ""
	if ignoreCase {
		flags = "(?i)"
	}
	compiled, err := compile(flags + expression)
	if err != nil {
		return nil, nil, place{}, err
	}
	if given == "" {
		given = "."
	}
	if p, err = w.locate(given); err != nil {
		return nil, nil, place{}, err
	}
	if glob != "" {
		match, err := parsePattern(glob)
		if err != nil {
			return nil, nil, place{}, err
		}
		byName := !strings.Contains(glob, "/")
		only = func(rel string) bool { return match.match(rel) || byName && match.match(path.Base(rel)) }
	}
	return &search{expression: compiled, context: min(max(around, 0), maxContext)}, only, p, nil
}

// compile reads a regular expression. Matching takes time in proportion to its
// size times that of the line, and a line is not interrupted, so that one whose
// repetitions make it huge is refused.
func compile(expression string) (*regexp.Regexp, error) {
	parsed, err := syntax.Parse(expression, syntax.Perl)
	var compiled *regexp.Regexp
	if err == nil {
		if size(parsed) > maxExpression {
			return nil, refuse("the repetitions of the pattern make it too large; use smaller ones, or * and +")
		}
		compiled, err = regexp.Compile(expression)
	}
	if err != nil {
		return nil, refuse("the pattern is not a regular expression of RE2 (no look-around, no back-references): %v", err)
	}
	return compiled, nil
}

// size is about how many instructions an expression becomes, its repetitions
// written out.
func size(e *syntax.Regexp) int {
	n := 1
	if e.Op == syntax.OpLiteral {
		n = len(e.Rune)
	}
	for _, sub := range e.Sub {
		n += size(sub)
	}
	if e.Op == syntax.OpRepeat {
		n *= max(e.Min, e.Max, 1)
	}
	return n
}

// file searches one file. Lines longer than are shown are matched as far as
// they are shown.
func (s *search) file(ctx context.Context, p place) error {
	f, info, err := p.open()
	if err != nil {
		return err
	}
	defer f.Close()
	if info.Size() > maxFileBytes {
		s.large++
		return nil
	}
	lines := newLineReader(f)
	if binary, err := lines.binary(); err != nil {
		return p.explain(err)
	} else if binary {
		return nil
	}
	var before []string // the last lines that were not shown
	after, number := 0, 0
	defer func() { s.scanned += lines.taken }()
	for !s.full {
		if ctx.Err() != nil {
			return nil // the caller asks why
		}
		line, err := lines.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return p.explain(err)
		}
		number++
		switch {
		case s.expression.Match(line):
			if s.matches == maxMatches || s.scanned+lines.taken > maxScannedBytes {
				s.full = true
				return nil
			}
			s.matches++
			for _, b := range before {
				s.show(b)
			}
			before = before[:0]
			s.show(fmt.Sprintf("%s:%d: %s", p.name(), number, clean(line)))
			after = s.context
		case after > 0:
			after--
			s.show(fmt.Sprintf("%s-%d- %s", p.name(), number, clean(line)))
		case s.context > 0:
			if len(before) == s.context {
				before = append(before[:0], before[1:]...)
			}
			before = append(before, fmt.Sprintf("%s-%d- %s", p.name(), number, clean(line)))
		}
		s.full = s.full || s.scanned+lines.taken > maxScannedBytes
	}
	return nil
}

func (s *search) show(line string) {
	if !s.out.line(line) {
		s.full = true
	}
}

// remarks says what is missing in the result.
func (s *search) remarks() {
	switch {
	case s.full:
		s.out.note("there may be more; narrow the pattern or the path")
	case s.matches == 0:
		s.out.note("no line matches")
	}
	if s.large > 0 {
		s.out.note("%d files of more than %d MiB were not searched", s.large, maxFileBytes>>20)
	}
}
