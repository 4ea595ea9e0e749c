package evidence

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func newCache(t *testing.T, dir string, limit int64) *DiskCache {
	t.Helper()
	c, err := NewDiskCache(dir, limit)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// TestBlobID compares with what "git hash-object" prints.
func TestBlobID(t *testing.T) {
	t.Parallel()
	const sha1 = "ce013625030ba8dba906f756967f9e9ca394464a"
	if got := blobID(sha1, []byte("hello\n")); got != sha1 {
		t.Errorf("SHA-1 name is %s, want %s", got, sha1)
	}
	const sha256 = "2cf8d83d9ee29543b34a87727421fdecb7e3f3a183d337639025de576db9ebb4"
	if got := blobID(sha256, []byte("hello\n")); got != sha256 {
		t.Errorf("SHA-256 name is %s, want %s", got, sha256)
	}
}

func TestDiskCache(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := newCache(t, dir, 1<<20)
	content := []byte("hello\n")
	name := blobID("", content)
	if _, ok := c.Get(1, name); ok {
		t.Error("an empty cache has the blob")
	}
	if err := c.Put(1, name, content); err != nil {
		t.Fatal(err)
	}
	if got, ok := c.Get(1, name); !ok || !bytes.Equal(got, content) {
		t.Errorf("got %q, %t", got, ok)
	}
	if _, ok := c.Get(2, name); ok {
		t.Error("another repository reads the blob")
	}
	for _, bad := range []string{"", "..", "../../" + name[6:], strings.ToUpper(name), name[1:], strings.Repeat("a", 40)} {
		if err := c.Put(1, bad, content); err == nil {
			t.Errorf("the blob was kept as %q", bad)
		}
		if _, ok := c.Get(1, bad); ok {
			t.Errorf("there is a blob %q", bad)
		}
	}
	if err := c.Put(0, name, content); err == nil {
		t.Error("the blob was kept for no repository")
	}
	// What is there is still there for the next process.
	if _, ok := newCache(t, dir, 1<<20).Get(1, name); !ok {
		t.Error("the blob is gone after opening again")
	}
	// A torn write is found out, and makes room for a whole one.
	file := filepath.Join(dir, "1", name[:2], name[2:])
	if err := os.WriteFile(file, content[:3], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok := c.Get(1, name); ok {
		t.Error("a torn blob was given out")
	}
	if err := c.Put(1, name, content); err != nil {
		t.Fatal(err)
	}
	if _, ok := c.Get(1, name); !ok {
		t.Error("the blob was not kept again")
	}
}

func TestDiskCacheForgetsTheLeastUsed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := newCache(t, dir, 1000)
	blobs := map[int]string{}
	put := func(i, size int) {
		t.Helper()
		content := bytes.Repeat([]byte{byte('a' + i)}, size)
		blobs[i] = blobID("", content)
		if err := c.Put(1, blobs[i], content); err != nil {
			t.Fatal(err)
		}
		// The order of use must not hang on how fine the file system's clock is.
		age := testNow.Add(time.Duration(i) * time.Minute)
		name := filepath.Join(dir, "1", blobs[i][:2], blobs[i][2:])
		if _, err := os.Stat(name); err == nil {
			if err := os.Chtimes(name, age, age); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := range 10 {
		put(i, 100)
	}
	if _, ok := c.Get(1, blobs[0]); !ok { // now the most recently used
		t.Fatal("the cache forgot below its limit")
	}
	put(10, 100)
	put(11, 1001) // larger than the cache: not kept, nothing lost
	for i, want := range map[int]bool{0: true, 1: false, 2: false, 3: true, 9: true, 10: true, 11: false} {
		if _, ok := c.Get(1, blobs[i]); ok != want {
			t.Errorf("blob %d is there: %t, want %t", i, ok, want)
		}
	}
	var size int64
	for _, b := range must1(c.list()) {
		size += b.size
	}
	if size > 1000 || size != c.size {
		t.Errorf("the cache holds %d bytes and counts %d, limit 1000", size, c.size)
	}
}

var testNow = time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)

func must1[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestDiskCacheSideBySide(t *testing.T) {
	t.Parallel()
	c := newCache(t, t.TempDir(), 2000)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 20 {
				content := fmt.Appendf(nil, "%d %s", (i+j)%10, strings.Repeat("x", 200))
				name := blobID("", content)
				if err := c.Put(1, name, content); err != nil {
					t.Error(err)
				}
				if got, ok := c.Get(1, name); ok && !bytes.Equal(got, content) {
					t.Errorf("got %q", got)
				}
			}
		})
	}
	wg.Wait()
}
