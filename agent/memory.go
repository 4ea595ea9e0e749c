package agent

import (
	"bytes"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// memory are files as they were when they were read, as a file system, so that a
// definition does not change with its folder. They are sorted by path.
type memory []file

// Open implements [fs.FS].
func (m memory) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	prefix := name + "/"
	if name == "." {
		prefix = ""
	}
	var entries []fs.DirEntry
	for _, f := range m {
		if f.path == name {
			return &openFile{memoryInfo{f}, bytes.NewReader(f.data)}, nil
		}
		rest, found := strings.CutPrefix(f.path, prefix)
		if !found {
			continue
		}
		first, _, deeper := strings.Cut(rest, "/")
		var e fs.DirEntry = memoryInfo{f}
		if deeper {
			e = dirInfo(first)
		}
		if n := len(entries); n == 0 || entries[n-1].Name() != first {
			entries = append(entries, e)
		}
	}
	if len(entries) == 0 && name != "." {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return &openDir{dirInfo(path.Base(name)), name, entries}, nil
}

// memoryInfo describes a file.
type memoryInfo struct{ file }

func (i memoryInfo) Name() string               { return path.Base(i.path) }
func (i memoryInfo) Size() int64                { return int64(len(i.data)) }
func (i memoryInfo) ModTime() time.Time         { return time.Time{} }
func (i memoryInfo) IsDir() bool                { return false }
func (i memoryInfo) Sys() any                   { return nil }
func (i memoryInfo) Type() fs.FileMode          { return 0 }
func (i memoryInfo) Info() (fs.FileInfo, error) { return i, nil }
func (i memoryInfo) Mode() fs.FileMode {
	if i.exec {
		return 0o755
	}
	return 0o644
}

// dirInfo describes a folder, which is its name.
type dirInfo string

func (i dirInfo) Name() string               { return string(i) }
func (i dirInfo) Size() int64                { return 0 }
func (i dirInfo) Mode() fs.FileMode          { return fs.ModeDir | 0o755 }
func (i dirInfo) ModTime() time.Time         { return time.Time{} }
func (i dirInfo) IsDir() bool                { return true }
func (i dirInfo) Sys() any                   { return nil }
func (i dirInfo) Type() fs.FileMode          { return fs.ModeDir }
func (i dirInfo) Info() (fs.FileInfo, error) { return i, nil }

type openFile struct {
	memoryInfo
	*bytes.Reader
}

func (f *openFile) Size() int64                { return f.memoryInfo.Size() }
func (f *openFile) Stat() (fs.FileInfo, error) { return f.memoryInfo, nil }
func (f *openFile) Close() error               { return nil }

type openDir struct {
	dirInfo
	path string
	rest []fs.DirEntry
}

func (d *openDir) Stat() (fs.FileInfo, error) { return d.dirInfo, nil }
func (d *openDir) Close() error               { return nil }
func (d *openDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.path, Err: fs.ErrInvalid}
}

// ReadDir implements [fs.ReadDirFile].
func (d *openDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if n <= 0 {
		n = len(d.rest)
	} else if len(d.rest) == 0 {
		return nil, io.EOF
	}
	n = min(n, len(d.rest))
	out := d.rest[:n:n]
	d.rest = d.rest[n:]
	return out, nil
}
