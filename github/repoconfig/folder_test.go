package repoconfig

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFolderKeepsByKey(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "configurations")
	f, err := OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	// Branches may be called almost anything.
	keys := []string{"repo:1:main", "repo:1:../../x", "repo:1:a\x00b", "repo:1:" + string(make([]byte, 300))}
	for i, key := range keys {
		if _, there := f.Load(key); there {
			t.Fatal("there before it was saved")
		}
		for _, data := range []string{"old", string(rune('a' + i))} {
			if err := f.Save(key, []byte(data)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if f, err = OpenFolder(dir); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for i, key := range keys {
		if got, ok := f.Load(key); !ok || string(got) != string(rune('a'+i)) {
			t.Errorf("%q: %q, %t", key, got, ok)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != len(keys) || f.count != len(keys) {
		t.Errorf("%d files, %d counted, %v", len(entries), f.count, err)
	}
}

func TestAFullFolderLetsTheOldestGo(t *testing.T) {
	t.Parallel()
	f, err := OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, key := range []string{"a", "b"} {
		if err := f.Save(key, []byte(key)); err != nil {
			t.Fatal(err)
		}
	}
	f.count = maxKept // as if it were full
	if err := f.Save("c", []byte("c")); err != nil {
		t.Fatal(err)
	}
	_, old := f.Load("a")
	if _, ok := f.Load("c"); !ok || old || f.count != 1 {
		t.Errorf("saved %t, the oldest is there %t, %d counted", ok, old, f.count)
	}
}
