package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// maxExecutable is what the executable may have, in bytes. A library that brings
// more with it than it is used for shows here.
const maxExecutable = 40 << 20

func TestTheExecutableStaysSmall(t *testing.T) {
	t.Parallel()
	if raceFlag == "-race" && soakOr(0, 1) == 0 {
		t.Skip("without the race detector every package would be built once more")
	}
	path := filepath.Join(t.TempDir(), "liaison")
	build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", path, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	file, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := file.Size(); n > maxExecutable {
		t.Errorf("the executable has %d bytes, at most %d are wanted; what takes them is shown by: go tool nm -size -sort size", n, maxExecutable)
	}
}
