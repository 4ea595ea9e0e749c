package repoconfig

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
)

// maxKept bounds the files of a folder; beyond it a tenth of them goes, those
// that were written longest ago.
const maxKept = 10_000

// Folder is a [Store] in a folder of its own, which one process may use at a time.
type Folder struct {
	root *os.Root

	mu    sync.Mutex
	count int
}

var _ Store = (*Folder)(nil)

// OpenFolder opens the store in dir, which it makes if need be.
func OpenFolder(dir string) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open the folder of configurations: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the folder of configurations: %w", err)
	}
	f := &Folder{root: root}
	kept, err := f.kept()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the folder of configurations: %w", err), root.Close())
	}
	f.count = len(kept)
	return f, nil
}

// Close releases the folder.
func (f *Folder) Close() error { return f.root.Close() }

// Load implements [Store].
func (f *Folder) Load(key string) ([]byte, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	data, err := f.root.ReadFile(fileOf(key))
	return data, err == nil
}

// Save implements [Store]. A file is there as a whole or not at all.
func (f *Folder) Save(key string, data []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	name := fileOf(key)
	_, err := f.root.Stat(name)
	isNew := errors.Is(err, fs.ErrNotExist)
	if isNew && f.count >= maxKept {
		if err := f.thin(); err != nil {
			return fmt.Errorf("keep a configuration: %w", err)
		}
	}
	if err := f.root.WriteFile(unfinished, data, 0o600); err != nil {
		return fmt.Errorf("keep a configuration: %w", err)
	}
	if err := f.root.Rename(unfinished, name); err != nil {
		return fmt.Errorf("keep a configuration: %w", err)
	}
	if isNew {
		f.count++
	}
	return nil
}

// unfinished is where a file is written before it gets its name.
const unfinished = "unfinished"

const suffix = ".json"

// fileOf is the file of a key: keys hold names of branches, which may be any text.
func fileOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:]) + suffix
}

// kept lists the files, those first that were written longest ago.
func (f *Folder) kept() ([]fs.FileInfo, error) {
	entries, err := fs.ReadDir(f.root.FS(), ".")
	if err != nil {
		return nil, err
	}
	var kept []fs.FileInfo
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), suffix) {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return nil, err
		}
		kept = append(kept, info)
	}
	slices.SortFunc(kept, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	return kept, nil
}

func (f *Folder) thin() error {
	kept, err := f.kept()
	if err != nil {
		return err
	}
	f.count = len(kept)
	for _, old := range kept[:min(len(kept), maxKept/10)] {
		if err := f.root.Remove(old.Name()); err != nil {
			return err
		}
		f.count--
	}
	return nil
}
