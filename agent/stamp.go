package agent

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"strings"
	"time"
)

// stamp is how a folder looks from outside: it changes when the folder does, and
// costs no reading of files.
type stamp struct {
	sum [sha256.Size]byte
	// newest is when something in it was changed last.
	newest time.Time
}

// stampOf looks at a folder. One that cannot be read has a stamp too.
func stampOf(dir string) stamp {
	h := sha256.New()
	var s stamp
	root, err := os.OpenRoot(dir)
	if err == nil {
		s.walk(root.FS(), h)
		_ = root.Close() // it was only read
	} else {
		fmt.Fprintf(h, "%v", plain(err))
	}
	h.Sum(s.sum[:0])
	return s
}

func (s *stamp) walk(fsys fs.FS, h hash.Hash) {
	entries := 0
	_ = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			fmt.Fprintf(h, "%q %v\n", name, plain(err))
			return nil
		}
		if name != "." && ignored(name) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if entries++; entries > maxFiles {
			return fs.SkipAll
		}
		if name != "." && !strings.Contains(name, "/") && !knownAs(name) {
			fmt.Fprintf(h, "%q\n", name)
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		// Of a link counts what it leads to.
		info, err := fs.Stat(fsys, name)
		if err != nil {
			fmt.Fprintf(h, "%q %v\n", name, plain(err))
			return nil
		}
		fmt.Fprintf(h, "%q %v", name, info.Mode())
		if !info.IsDir() {
			fmt.Fprintf(h, " %d %d", info.Size(), info.ModTime().UnixNano())
		}
		fmt.Fprintln(h)
		if t := info.ModTime(); t.After(s.newest) {
			s.newest = t
		}
		return nil
	})
}
