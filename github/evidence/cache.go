package evidence

import (
	"crypto/sha1" //nolint:gosec // git names its blobs by SHA-1
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Cache keeps blobs between reviews. The repository is part of the key, so that
// one repository's pull request cannot read another's content by naming its blob.
type Cache interface {
	// Get returns the content of a blob, if it is there and whole.
	Get(repository int64, blob string) ([]byte, bool)
	// Put keeps a blob. An error costs nothing but a later request.
	Put(repository int64, blob string, content []byte) error
}

// DiskCache is a [Cache] in a folder of its own, which one process may use at a
// time. It is safe for concurrent use.
type DiskCache struct {
	root *os.Root
	max  int64

	mu   sync.Mutex
	size int64
}

// NewDiskCache opens the cache in dir, which it makes if need be, and keeps it
// below maxBytes by removing what was not used for longest.
func NewDiskCache(dir string, maxBytes int64) (*DiskCache, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open blob cache: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open blob cache: %w", err)
	}
	c := &DiskCache{root: root, max: maxBytes}
	blobs, err := c.list()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open blob cache: %w", err), root.Close())
	}
	for _, b := range blobs {
		c.size += b.size
	}
	return c, nil
}

// Close releases the folder.
func (c *DiskCache) Close() error { return c.root.Close() }

// Get implements [Cache]. What does not have the content that its name promises
// is removed.
func (c *DiskCache) Get(repository int64, blob string) ([]byte, bool) {
	name, ok := cacheName(repository, blob)
	if !ok {
		return nil, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	content, err := c.root.ReadFile(name)
	if err != nil {
		return nil, false
	}
	if blobID(blob, content) != blob {
		if c.root.Remove(name) == nil {
			c.size -= int64(len(content))
		}
		return nil, false
	}
	now := time.Now()
	// The time only decides what is removed first; a failure does not matter.
	_ = c.root.Chtimes(name, now, now)
	return content, true
}

// Put implements [Cache]. It refuses content that does not have the name blob.
func (c *DiskCache) Put(repository int64, blob string, content []byte) error {
	name, ok := cacheName(repository, blob)
	if !ok || blobID(blob, content) != blob {
		return fmt.Errorf("keep blob %q: the content has another name", blob)
	}
	size := int64(len(content))
	if size > c.max {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.root.Stat(name); err == nil {
		return nil
	}
	if err := c.makeRoom(size); err != nil {
		return fmt.Errorf("keep blob: %w", err)
	}
	if err := c.root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return fmt.Errorf("keep blob: %w", err)
	}
	// A torn write is found when the content is checked on reading.
	if err := c.root.WriteFile(name, content, 0o600); err != nil {
		return fmt.Errorf("keep blob: %w", err)
	}
	c.size += size
	return nil
}

// makeRoom removes the blobs that were not used for longest until size fits. It
// goes on to nine tenths of the limit, so that not every Put has to look.
func (c *DiskCache) makeRoom(size int64) error {
	if c.size+size <= c.max {
		return nil
	}
	blobs, err := c.list()
	if err != nil {
		return err
	}
	slices.SortFunc(blobs, func(a, b cachedBlob) int { return a.used.Compare(b.used) })
	for _, b := range blobs {
		if c.size+size <= c.max/10*9 {
			break
		}
		if err := c.root.Remove(b.name); err != nil {
			return err
		}
		c.size -= b.size
	}
	return nil
}

type cachedBlob struct {
	name string
	size int64
	used time.Time
}

func (c *DiskCache) list() ([]cachedBlob, error) {
	var blobs []cachedBlob
	err := fs.WalkDir(c.root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		blobs = append(blobs, cachedBlob{name: name, size: info.Size(), used: info.ModTime()})
		return nil
	})
	return blobs, err
}

// cacheName is where a blob lies: below its repository, spread over 256 folders.
func cacheName(repository int64, blob string) (string, bool) {
	if repository <= 0 || !isObjectID(blob) {
		return "", false
	}
	return path.Join(strconv.FormatInt(repository, 10), blob[:2], blob[2:]), true
}

// blobID is the name that git gives to content, by the algorithm of the id like.
func blobID(like string, content []byte) string {
	h := sha1.New() //nolint:gosec // see the import
	if len(like) == 2*sha256.Size {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", len(content))
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}
