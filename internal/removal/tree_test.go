package removal_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/liaison-bot/liaison/internal/removal"
)

func TestTree(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "outside")
	dir := filepath.Join(t.TempDir(), "dir")
	inner := filepath.Join(dir, "a", "b")
	for _, d := range []string{outside, inner} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(inner, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	// Where no links can be made there is nothing to follow.
	_ = os.Symlink(outside, filepath.Join(inner, "link"))
	for _, d := range []string{outside, inner, filepath.Join(dir, "a")} {
		if err := os.Chmod(d, 0o500); err != nil {
			t.Fatal(err)
		}
	}
	before, err := os.Stat(outside)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time there is nothing
		if err := removal.Tree(dir); err != nil {
			t.Errorf("remove: %v", err)
		}
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
	after, err := os.Stat(outside)
	if err != nil || after.Mode() != before.Mode() {
		t.Errorf("what a link leads to was %v and is %v, %v", before.Mode(), after.Mode(), err)
	}
}
