package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

// LayOut writes what the agent finds in its workspace, the directory dir: its
// instructions as AGENTS.md, with a catalogue of its scripts, its skills below
// .cursor/skills, its scripts below .liaison/tools, and, where there is nothing
// yet, its seed files.
//
// What stands in .cursor and .liaison/tools belongs to the author alone: whatever
// else is there, from an earlier definition or by an agent's doing, is removed. Links
// that an agent left are not followed there, and nothing is written outside of dir.
func LayOut(ctx context.Context, def *Definition, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("agent: lay out a workspace: %w", err)
	}
	defer root.Close()
	w := workspace{ctx: ctx, root: root}
	if err := w.layOut(def); err != nil {
		return fmt.Errorf("agent: lay out the workspace %s: %w", dir, err)
	}
	return nil
}

// workspace is one being laid out.
type workspace struct {
	ctx  context.Context
	root *os.Root
}

// staging is where files are written before they take their place.
const staging = laidOurs + "/new"

func (w *workspace) layOut(def *Definition) error {
	if err := w.directory("."); err != nil {
		return err
	}
	// Seeds go first: where one would follow a link into what is the author's, that
	// is put right afterwards.
	own, err := w.seeds(def.Seeds)
	if err != nil {
		return err
	}
	for _, s := range def.Skills {
		if err := own.add(path.Join(laidSkills, s.Name), s.Files); err != nil {
			return err
		}
	}
	for _, t := range def.Tools {
		if t.Flavor == OnAgent {
			if err := own.add(path.Join(laidTools, t.Name), t.Files); err != nil {
				return err
			}
		}
	}
	if err := w.directory(laidOurs); err != nil {
		return err
	}
	if err := w.root.RemoveAll(staging); err != nil {
		return err
	}
	if err := w.directory(staging); err != nil {
		return err
	}
	for _, dir := range []string{laidSettings, laidTools} {
		if err := w.prune(dir, own); err != nil {
			return err
		}
	}
	for _, f := range own {
		if err := w.directories(path.Dir(f.path)); err != nil {
			return err
		}
		if err := w.replace(f); err != nil {
			return err
		}
	}
	if err := w.replace(file{path: laidInstructions, data: []byte(def.agentsFile())}); err != nil {
		return err
	}
	return w.root.RemoveAll(staging)
}

// laidOut are the files that the author owns.
type laidOut []file

// add adds all files of a folder.
func (l *laidOut) add(dir string, fsys fs.FS) error {
	return each(fsys, func(name string, data []byte, exec bool) error {
		*l = append(*l, file{path: path.Join(dir, name), data: data, exec: exec})
		return nil
	})
}

// each calls do for each file of a folder.
func each(fsys fs.FS, do func(name string, data []byte, exec bool) error) error {
	return fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		return do(name, data, info.Mode()&0o111 != 0)
	})
}

// has reports whether a file is among them, or stands below a folder.
func (l laidOut) has(name string) (isFile, isDir bool) {
	for _, f := range l {
		isFile = isFile || f.path == name
		isDir = isDir || strings.HasPrefix(f.path, name+"/")
	}
	return isFile, isDir
}

// seeds writes the seed files that are not there yet, and returns those that are
// the author's for good.
func (w *workspace) seeds(fsys fs.FS) (laidOut, error) {
	var own laidOut
	if fsys == nil {
		return nil, nil
	}
	err := each(fsys, func(name string, data []byte, exec bool) error {
		f := file{path: name, data: data, exec: exec}
		if strings.HasPrefix(name, laidSettings+"/") {
			own = append(own, f)
			return nil
		}
		if err := w.ctx.Err(); err != nil {
			return err
		}
		if err := w.seed(f); !errors.Is(err, fs.ErrPermission) {
			return err
		}
		return nil // an agent does not want it there
	})
	return own, err
}

// seed writes a file where there is none. Whatever stands in its way is the
// agent's, and is left alone.
func (w *workspace) seed(f file) error {
	for at := range parents(f.path) {
		switch info, err := w.root.Lstat(at); {
		case errors.Is(err, fs.ErrNotExist):
			if err := w.root.Mkdir(at, 0o755); err != nil {
				return err
			}
		case err != nil:
			return err
		case !info.IsDir():
			return nil
		}
	}
	out, err := w.root.OpenFile(f.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, f.mode())
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = out.Write(f.data)
	return errors.Join(err, out.Close())
}

// parents are the folders above a file, the outermost first.
func parents(name string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for i, c := range name {
			if c == '/' && !yield(name[:i]) {
				return
			}
		}
	}
}

// directories makes the folders on the way to one, and that itself.
func (w *workspace) directories(dir string) error {
	for at := range parents(dir + "/") {
		if err := w.directory(at); err != nil {
			return err
		}
	}
	return nil
}

// directory makes a folder of ours: what is none is removed, a link to one too.
func (w *workspace) directory(dir string) error {
	info, err := w.root.Lstat(dir)
	switch {
	case err == nil && info.IsDir():
		if info.Mode().Perm()&0o700 != 0o700 {
			return w.root.Chmod(dir, 0o755)
		}
		return nil
	case err == nil:
		if err := w.root.Remove(dir); err != nil {
			return err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return w.root.Mkdir(dir, 0o755)
}

// prune removes what is not the author's from a folder that is.
func (w *workspace) prune(dir string, own laidOut) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if _, used := own.has(dir); !used {
		return w.remove(dir)
	}
	if err := w.directory(dir); err != nil {
		return err
	}
	entries, err := fs.ReadDir(w.root.FS(), dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		at := path.Join(dir, e.Name())
		isFile, isDir := own.has(at)
		switch {
		case e.IsDir() && isDir:
			err = w.prune(at, own)
		case !e.IsDir() && isFile:
		default:
			err = w.remove(at)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// remove removes a folder or a file, also one that an agent made unreadable.
func (w *workspace) remove(name string) error {
	if w.root.RemoveAll(name) == nil {
		return nil
	}
	err := fs.WalkDir(w.root.FS(), name, func(at string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = w.directory(at) // before it is listed
		}
		return err
	})
	return errors.Join(w.root.RemoveAll(name), err)
}

// replace puts a file of the author's in its place, at once as a whole. One that
// is there already as it shall be is left alone.
func (w *workspace) replace(f file) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	info, err := w.root.Lstat(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case info.Mode().IsRegular() && w.same(f, info):
		return nil
	case info.IsDir():
		if err := w.remove(f.path); err != nil {
			return err
		}
	}
	const part = staging + "/file"
	if err := w.root.WriteFile(part, f.data, f.mode()); err != nil {
		return err
	}
	return w.root.Rename(part, f.path)
}

// same reports whether a file is as it shall be.
func (w *workspace) same(f file, info fs.FileInfo) bool {
	if info.Size() != int64(len(f.data)) || info.Mode().Perm()&0o100 != f.mode()&0o100 {
		return false
	}
	data, err := w.root.ReadFile(f.path)
	return err == nil && bytes.Equal(data, f.data)
}

func (f file) mode() fs.FileMode { return memoryInfo{f}.Mode() }
