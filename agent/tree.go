package agent

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// file is one of a folder, as it was when it was read.
type file struct {
	// path is below the folder, with slashes.
	path string
	// data is nil for what only runs from the disk.
	data []byte
	sum  [sha256.Size]byte
	// exec is set for what can be executed.
	exec bool
}

// tree is what a folder had in it when it was read.
type tree struct {
	files []file
	// dirs are its folders, also those with nothing in them.
	dirs map[string]bool
	// others are files at its top that are no part of an agent.
	others []string
}

// readTree reads a folder. What cannot be read is a problem. Within is where fsys
// stands in the folder of an agent; it is empty for that folder itself.
func readTree(fsys fs.FS, within string, p *problems) *tree {
	t := &tree{dirs: map[string]bool{}}
	entries, kept := 0, 0
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			if name == "." {
				return err
			}
			p.fail(name, 0, "cannot be read: %v", plain(err))
			return nil
		}
		if name == "." {
			return nil
		}
		if ignored(path.Join(within, name)) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if within == "" && !strings.Contains(name, "/") && !knownAs(name) {
			return t.unknown(name, d)
		}
		if entries++; entries > maxFiles {
			p.fail("", 0, "the folder has more than %d files; is it the right one?", maxFiles)
			return fs.SkipAll
		}
		if d.IsDir() {
			if strings.Count(name, "/") >= maxDepth {
				p.fail(name, 0, "folders are nested more than %d deep", maxDepth)
				return fs.SkipDir
			}
			t.dirs[name] = true
			return nil
		}
		f, err := readFile(fsys, name, d, limitOf(path.Join(within, name)))
		if err != nil {
			p.fail(name, 0, "%v", err)
			return nil
		}
		if kept += len(f.data); kept > maxKeptInAll {
			p.fail("", 0, "skills, scripts and seed files have more than %d MiB together", maxKeptInAll>>20)
			return fs.SkipAll
		}
		t.files = append(t.files, f)
		return nil
	})
	if err != nil {
		p.fail("", 0, "the folder cannot be read: %v", plain(err))
	}
	slices.SortFunc(t.files, func(a, b file) int { return strings.Compare(a.path, b.path) })
	return t
}

// unknown notes that something stands in the folder which is no part of an agent.
// What is in it is not read.
func (t *tree) unknown(name string, d fs.DirEntry) error {
	if d.IsDir() {
		t.dirs[name] = true
		return fs.SkipDir
	}
	t.others = append(t.others, name)
	return nil
}

// ignored reports whether something is none of the author's: what is hidden at the
// top, such as .git, and what programs leave behind.
func ignored(name string) bool {
	if strings.HasPrefix(name, ".") {
		return true
	}
	switch base := path.Base(name); base {
	case ".git", ".DS_Store", "__pycache__", "Thumbs.db":
		return true
	default:
		return strings.HasSuffix(base, "~") || strings.HasPrefix(base, ".#") || strings.HasSuffix(base, ".swp")
	}
}

// readFile reads one file. The error says what is wrong with it, without its name.
func readFile(fsys fs.FS, name string, d fs.DirEntry, limit int64) (file, error) {
	// A link is followed as far as fsys does; what it leads to may be no file.
	info, err := fs.Stat(fsys, name)
	link := d.Type()&fs.ModeSymlink != 0
	switch {
	case err != nil && link:
		return file{}, errors.New("is a link that leads nowhere, or out of the folder; put the file itself there")
	case err != nil:
		return file{}, fmt.Errorf("cannot be read: %w", plain(err))
	case info.IsDir():
		return file{}, errors.New("is a link to a folder; put the folder itself there")
	case !info.Mode().IsRegular():
		return file{}, errors.New("is not a file")
	}
	if info.Size() > limit {
		return file{}, fmt.Errorf("has %d bytes; at most %d are taken", info.Size(), limit)
	}
	f := file{path: name, exec: info.Mode()&0o111 != 0}
	in, err := fsys.Open(name)
	if err != nil {
		return file{}, fmt.Errorf("cannot be read: %w", plain(err))
	}
	defer in.Close()
	// Programs are not kept in memory, since they only run from the disk.
	keep := limit < maxExecutable || info.Size() <= maxScript
	var data bytes.Buffer
	sum := sha256.New()
	out := io.Writer(sum)
	if keep {
		out = io.MultiWriter(sum, &data)
	}
	n, err := io.Copy(out, io.LimitReader(in, limit+1))
	switch {
	case err != nil:
		return file{}, fmt.Errorf("cannot be read: %w", plain(err))
	case n > limit:
		return file{}, fmt.Errorf("has more than %d bytes", limit)
	}
	sum.Sum(f.sum[:0])
	if keep {
		f.data = data.Bytes()
	}
	return f, nil
}

// limitOf bounds a file in bytes.
func limitOf(name string) int64 {
	top, _, _ := strings.Cut(name, "/")
	switch {
	case top == "sandbox", top == "skills" && path.Base(name) != skillFile:
		return maxKept
	case top == "tools" && path.Base(name) != toolFile:
		return maxExecutable
	case strings.HasSuffix(name, ".yaml"):
		return maxSettings
	}
	return maxInstructions
}

// file returns a file, or nil.
func (t *tree) file(name string) *file {
	i, found := slices.BinarySearchFunc(t.files, name, func(f file, name string) int { return strings.Compare(f.path, name) })
	if !found {
		return nil
	}
	return &t.files[i]
}

// below returns the files of a folder, their paths below that.
func (t *tree) below(dir string) []file {
	var out []file
	for _, f := range t.files {
		if rest, found := strings.CutPrefix(f.path, dir+"/"); found {
			f.path = rest
			out = append(out, f)
		}
	}
	return out
}

// entry is what stands directly in a folder.
type entry struct {
	name string
	dir  bool
}

// list returns what stands directly in a folder, by name; "." is the top.
func (t *tree) list(dir string) []entry {
	var out []entry
	for name := range t.dirs {
		if path.Dir(name) == dir {
			out = append(out, entry{path.Base(name), true})
		}
	}
	for _, f := range t.files {
		if path.Dir(f.path) == dir {
			out = append(out, entry{path.Base(f.path), false})
		}
	}
	if dir == "." {
		for _, name := range t.others {
			out = append(out, entry{name, false})
		}
	}
	slices.SortFunc(out, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	return out
}

// fingerprint identifies files: their paths, what is in them, and which of them
// can be executed.
func fingerprint(files []file) string {
	h := sha256.New()
	for _, f := range files {
		fmt.Fprintf(h, "%q %t %x\n", f.path, f.exec, f.sum)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Fingerprint identifies all that stands in a tool's folder, as [Tool.Fingerprint]
// did when the folder was read.
func Fingerprint(dir fs.FS) (string, error) {
	var p problems
	t := readTree(dir, "tools/x", &p)
	if p.failed() {
		return "", fmt.Errorf("agent: the tool's folder cannot be read: %s", p.sorted()[0])
	}
	return fingerprint(t.files), nil
}

// plain is an error without the name of the file, which is told anyway.
func plain(err error) error {
	if pathError, ok := errors.AsType[*fs.PathError](err); ok {
		return pathError.Err
	}
	return err
}
