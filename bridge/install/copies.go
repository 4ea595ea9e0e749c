package install

import (
	"io/fs"
	"strings"
)

// sweep removes what an installation that was killed left behind. The lock is held.
func (in *installation) sweep() error {
	entries, err := fs.ReadDir(in.root.FS(), ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), stagingPrefix) {
			if err := in.root.RemoveAll(e.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}

// present finds an intact copy of the archive with this sum.
func (in *installation) present(sum string) (record, bool) {
	if in.Force {
		return record{}, false
	}
	for _, r := range in.copies() {
		if r.SHA256 == sum && (in.Version == "" || r.Version == in.Version) && verify(in.root, r) == nil {
			return r, true
		}
	}
	return record{}, false
}

// copies returns what is installed, the current copy first.
func (in *installation) copies() []record {
	var all []record
	if r, err := readRecord(in.root, pointerName); err == nil {
		all = append(all, r)
	}
	entries, err := fs.ReadDir(in.root.FS(), ".")
	if err != nil {
		return all
	}
	for _, e := range entries {
		if r, err := recordOf(in.root, e.Name()); e.IsDir() && err == nil {
			all = append(all, r)
		}
	}
	return all
}

// prune removes all copies but those named. A folder that is not ours is left
// alone, and what cannot be removed, because Windows runs it, is left to the next.
func (in *installation) prune(keep ...string) {
	entries, err := fs.ReadDir(in.root.FS(), ".")
	if err != nil {
		return
	}
	kept := map[string]bool{}
	for _, name := range keep {
		kept[name] = true
	}
	for _, e := range entries {
		if kept[e.Name()] || !isCopy(in.root, e) {
			continue
		}
		_ = in.root.RemoveAll(e.Name())
	}
}
