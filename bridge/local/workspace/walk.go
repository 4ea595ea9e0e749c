package workspace

import (
	"context"
	"io/fs"
	"strings"
)

// gitDir is left out of walks: what is in it is no file of the project.
const gitDir = ".git"

// walk is one pass over the files below a directory.
type walk struct {
	seen int
	// The rest is what a result has to say about what is missing in it.
	unreadable int
	cut        bool // too many entries, or too deep
	timeUp     bool
}

// files calls visit for every regular file below p, by depth and in order of
// names, until it returns false. Symbolic links are not followed. The error is
// that of ctx alone, or about p itself.
func (w *walk) files(ctx context.Context, p place, visit func(p place, rel string) bool) error {
	_, err := w.below(ctx, p, "", 0, visit)
	return err
}

func (w *walk) below(ctx context.Context, p place, rel string, depth int, visit func(place, string) bool) (bool, error) {
	if timeUp, err := ended(ctx); timeUp || err != nil {
		w.timeUp = timeUp
		return false, err
	}
	entries, more, err := p.entries(ctx)
	if err != nil {
		timeUp, ctxErr := ended(ctx)
		switch {
		case timeUp || ctxErr != nil:
			w.timeUp = timeUp
			return false, ctxErr
		case depth == 0:
			return false, err
		}
		w.unreadable++
		return true, nil
	}
	w.cut = w.cut || more
	for _, e := range entries {
		if w.seen++; w.seen > maxWalked {
			w.cut = true
			return false, nil
		}
		below := e.Name()
		if rel != "" {
			below = rel + "/" + e.Name()
		}
		goOn := true
		switch {
		case e.IsDir() && e.Name() == gitDir:
		case e.IsDir() && depth+1 >= maxDepth:
			w.cut = true
		case e.IsDir():
			goOn, err = w.below(ctx, p.join(e.Name()), below, depth+1, visit)
		case e.Type()&fs.ModeType == 0:
			goOn = visit(p.join(e.Name()), below)
		}
		if err != nil || !goOn {
			return false, err
		}
	}
	return true, nil
}

// remarks says what is missing in a result.
func (w *walk) remarks(out *report) {
	if w.timeUp {
		out.note("stopped after %d seconds; narrow the path or the pattern", roundSeconds(maxWalkTime))
	}
	if w.cut {
		out.note("the directory is too large or too deep to be walked whole; narrow the path")
	}
	if w.unreadable > 0 {
		out.note("%d files or directories could not be read", w.unreadable)
	}
}

// glob shows the files whose paths match.
func (w *Workspace) glob(ctx context.Context, args arguments) (string, error) {
	text, err := args.text("pattern")
	if err != nil {
		return "", err
	}
	if text == "" {
		return "", refuse("the argument pattern is missing")
	}
	given, err := args.text("path")
	if err != nil {
		return "", err
	}
	if given == "" {
		given = "."
	}
	p, err := w.locate(given)
	if err != nil {
		return "", err
	}
	match, err := parsePattern(strings.TrimPrefix(text, "./"))
	if err != nil {
		return "", err
	}
	ctx, cancel := limited(ctx)
	defer cancel()
	var out report
	var pass walk
	found := 0
	err = pass.files(ctx, p, func(at place, rel string) bool {
		if !match.match(rel) {
			return true
		}
		if found == maxFound || !out.line(at.name()) {
			out.note("there are more; narrow the pattern")
			return false
		}
		found++
		return true
	})
	if err != nil {
		return "", err
	}
	if found == 0 {
		out.note("no file matches")
	}
	pass.remarks(&out)
	return out.text.String(), nil
}
