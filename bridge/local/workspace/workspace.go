package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Workspace is the directories that an agent may read. It is safe for
// concurrent use until it is closed.
type Workspace struct {
	roots []dir
}

// dir is one directory. The first is the working directory, whose files are
// named by relative paths; those of the others are named by absolute ones.
type dir struct {
	path string
	root *os.Root
}

// Refusal is why a call was refused or came to nothing: a text for the model,
// which can do something about it.
type Refusal struct{ Reason string }

func (r *Refusal) Error() string { return r.Reason }

func refuse(format string, args ...any) error {
	return &Refusal{Reason: fmt.Sprintf(format, args...)}
}

// Open opens the working directory and further directories, all absolute.
// Directories that are missing are an error.
func Open(workDir string, further ...string) (*Workspace, error) {
	w := new(Workspace)
	for _, p := range append([]string{workDir}, further...) {
		if !filepath.IsAbs(p) {
			return nil, errors.Join(fmt.Errorf("open the workspace: %q is not an absolute path", p), w.Close())
		}
		root, err := openDir(p)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("open the workspace: %w", err), w.Close())
		}
		w.roots = append(w.roots, dir{path: filepath.Clean(p), root: root})
	}
	return w, nil
}

// openDir opens a directory and nothing else: opening a pipe would wait for its
// other end.
func openDir(p string) (*os.Root, error) {
	info, err := os.Stat(p)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is not a directory", p)
	}
	return os.OpenRoot(p)
}

// Close lets go of the directories.
func (w *Workspace) Close() error {
	var errs []error
	for _, d := range w.roots {
		errs = append(errs, d.root.Close())
	}
	return errors.Join(errs...)
}

// place is a path that lies lexically in one of the directories. That it does so
// on disk is for [os.Root] to see.
type place struct {
	dir  dir
	rel  string // slash-separated, "." for the directory itself
	main bool   // in the working directory
}

// locate reads a path that the model gave.
func (w *Workspace) locate(given string) (place, error) {
	switch {
	case len(given) > maxPathBytes:
		return place{}, refuse("the path has %d bytes; at most %d are accepted", len(given), maxPathBytes)
	case strings.ContainsRune(given, 0):
		return place{}, refuse("the path holds a zero byte")
	}
	local := filepath.FromSlash(given)
	if filepath.IsAbs(local) {
		local = filepath.Clean(local)
		for i, d := range w.roots {
			rel, err := filepath.Rel(d.path, local)
			if err == nil && filepath.IsLocal(rel) {
				return place{dir: d, rel: filepath.ToSlash(rel), main: i == 0}, nil
			}
		}
		return place{}, refuse("%s is outside the working directory; give a path relative to it, such as README.md", show(given))
	}
	clean := path.Clean(filepath.ToSlash(local))
	if !filepath.IsLocal(filepath.FromSlash(clean)) {
		return place{}, refuse("%s is outside the working directory; give a path below it", show(given))
	}
	return place{dir: w.roots[0], rel: clean, main: true}, nil
}

// join is a place below p; elem may come from the disk and be any bytes.
func (p place) join(elem string) place {
	if p.rel == "." {
		p.rel = elem
	} else {
		p.rel += "/" + elem
	}
	return p
}

// name is how the model and a person know the place.
func (p place) name() string {
	if p.main {
		return show(p.rel)
	}
	return show(filepath.ToSlash(filepath.Join(p.dir.path, filepath.FromSlash(p.rel))))
}

// show quotes a name that could be taken for something else: one with line
// breaks or other control characters, or that is not UTF-8.
func show(name string) string {
	for _, r := range name {
		if r == utf8.RuneError || !strconv.IsPrint(r) {
			return strconv.Quote(name)
		}
	}
	return name
}

// open opens a regular file. A symbolic link is followed inside the directory only.
func (p place) open() (*os.File, fs.FileInfo, error) {
	local := filepath.FromSlash(p.rel)
	// Asked before opening, because opening a device can have effects.
	info, err := p.dir.root.Stat(local)
	if err != nil {
		return nil, nil, p.explain(err)
	}
	if err := p.mustBeFile(info); err != nil {
		return nil, nil, err
	}
	// The file may have been replaced meanwhile by a pipe, which must not block.
	f, err := p.dir.root.OpenFile(local, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, nil, p.explain(err)
	}
	info, err = f.Stat()
	if err == nil {
		err = p.mustBeFile(info)
	}
	if err != nil {
		_ = f.Close() // opened for reading only
		return nil, nil, p.explain(err)
	}
	return f, info, nil
}

func (p place) mustBeFile(info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return refuse("%s is a directory; ls lists it", p.name())
	case !info.Mode().IsRegular():
		return refuse("%s is not a regular file", p.name())
	}
	return nil
}

// explain turns an error of the system into one for the model, without paths
// that lie outside.
func (p place) explain(err error) error {
	var refused *Refusal
	switch {
	case errors.As(err, &refused):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return refuse("%s does not exist", p.name())
	case errors.Is(err, fs.ErrPermission):
		return refuse("%s may not be read", p.name())
	}
	if info, statErr := p.dir.root.Lstat(filepath.FromSlash(p.rel)); statErr == nil && info.Mode()&fs.ModeSymlink != 0 {
		return refuse("%s is a symbolic link that leads out of the working directory, or nowhere", p.name())
	}
	return refuse("%s cannot be read", p.name())
}
