package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// list shows the entries of a directory.
func (w *Workspace) list(ctx context.Context, args arguments) (string, error) {
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
	entries, more, err := p.entries(ctx)
	if err != nil {
		return "", err
	}
	var out report
	for i, e := range entries {
		if i == maxListed || !out.line(describe(e)) {
			out.note("%d more entries are not shown; use glob with a pattern", len(entries)-i)
			break
		}
	}
	if more {
		out.note("the directory has more than %d entries; only these were looked at", maxEntries)
	}
	if len(entries) == 0 {
		out.note("the directory is empty")
	}
	return out.text.String(), nil
}

func describe(e fs.DirEntry) string {
	switch {
	case e.IsDir():
		return show(e.Name()) + "/"
	case e.Type()&fs.ModeSymlink != 0:
		return show(e.Name()) + " (symbolic link)"
	case !e.Type().IsRegular():
		return show(e.Name()) + " (not a regular file)"
	}
	info, err := e.Info()
	if err != nil {
		return show(e.Name()) + " (gone)"
	}
	return fmt.Sprintf("%s %d", show(e.Name()), info.Size())
}

// entries reads a directory, sorted by name; more says that there are too many.
func (p place) entries(ctx context.Context) (found []fs.DirEntry, more bool, err error) {
	local := filepath.FromSlash(p.rel)
	info, err := p.dir.root.Stat(local)
	if err != nil {
		return nil, false, p.explain(err)
	}
	if !info.IsDir() {
		return nil, false, refuse("%s is not a directory; read shows a file", p.name())
	}
	f, err := p.dir.root.OpenFile(local, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, false, p.explain(err)
	}
	defer f.Close()
	for len(found) < maxEntries {
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		some, err := f.ReadDir(1000)
		found = append(found, some...)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, false, p.explain(err)
		}
	}
	if more = len(found) >= maxEntries; more {
		found = found[:maxEntries]
	}
	slices.SortFunc(found, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return found, more, nil
}
