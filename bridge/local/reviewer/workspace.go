package reviewer

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// evidenceDir is where the host writes evidence, below the workspace.
const evidenceDir = "pr"

// errNotRegular means that evidence is something other than a file with content.
var errNotRegular = errors.New("not a regular file")

// source gives evidence by its name below the evidence folder, with slashes. It
// returns at most limit bytes, and whether there is more.
type source interface {
	read(name string, limit int) (data []byte, more bool, err error)
}

// workspace reads evidence and tells of it.
type workspace struct {
	source
	trace *tracer
}

// folder is evidence on disk. No name leads out of it, no link is followed, and
// no read is without a bound.
type folder struct{ root *os.Root }

// openFolder opens the evidence below dir. The error is [fs.ErrNotExist] when
// there is none.
func openFolder(dir string) (*folder, error) {
	// Asked before opening: a named pipe would block.
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not a folder", dir)
	}
	if err != nil {
		return nil, fmt.Errorf("open the workspace: %w", err)
	}
	outer, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the workspace: %w", err)
	}
	defer func() { _ = outer.Close() }() // opened for reading only
	info, err = outer.Lstat(evidenceDir)
	if err != nil {
		return nil, fmt.Errorf("look for evidence: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("look for evidence: %s is not a folder: %w", evidenceDir, fs.ErrNotExist)
	}
	root, err := outer.OpenRoot(evidenceDir)
	if err != nil {
		return nil, fmt.Errorf("open the evidence: %w", err)
	}
	return &folder{root: root}, nil
}

func (f *folder) close() { _ = f.root.Close() } // opened for reading only

func (f *folder) read(name string, limit int) (data []byte, more bool, err error) {
	local := filepath.FromSlash(name)
	if !filepath.IsLocal(local) {
		return nil, false, fmt.Errorf("read evidence: %q: %w", name, fs.ErrInvalid)
	}
	// Asked before opening: a named pipe would block.
	info, err := f.root.Lstat(local)
	if err != nil {
		return nil, false, fmt.Errorf("read evidence: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, false, fmt.Errorf("read evidence: %q: %w", name, errNotRegular)
	}
	file, err := f.root.Open(local)
	if err != nil {
		return nil, false, fmt.Errorf("read evidence: %w", err)
	}
	defer func() { _ = file.Close() }() // opened for reading only
	data, err = io.ReadAll(io.LimitReader(file, int64(limit)+1))
	if err != nil {
		return nil, false, fmt.Errorf("read evidence: %w", err)
	}
	if len(data) > limit {
		return data[:limit], true, nil
	}
	return data, false, nil
}

// tracedRead is read with a step around it; found says what came of it.
func (w *workspace) tracedRead(name string, limit int, purpose string, found func(data []byte) string) ([]byte, bool, error) {
	done := w.trace.start(toolRead, path.Join(evidenceDir, path.Clean(name)), purpose)
	data, more, err := w.read(name, limit)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		done("not there", 0, err)
	case err != nil:
		done("cannot be read", 0, err)
	default:
		done(found(data), int64(len(data)), nil)
	}
	return data, more, err
}
