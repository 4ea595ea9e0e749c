package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestBackup(t *testing.T) {
	t.Parallel()
	f := newFakeService(t)
	f.answer("GET /v1/backup", 200, "an archive")
	dir := t.TempDir()
	name := filepath.Join(dir, "b")
	content := func() string {
		t.Helper()
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	f.liaison(t, "backup", name).wants(t, 0, "10 B in "+name, "")
	if content() != "an archive" {
		t.Errorf("saved %q", content())
	}
	if info, err := os.Stat(name); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}

	if err := os.WriteFile(name, []byte("older"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.liaison(t, "backup", name).wants(t, exitUnusable, "", "--force")
	if content() != "older" {
		t.Error("a file was replaced without --force")
	}
	f.liaison(t, "backup", "--force", "--json", name).wants(t, 0, `"bytes": 10`, "")
	if content() != "an archive" {
		t.Error("--force does not replace")
	}

	if got := f.liaison(t, "backup", "-"); got.status != 0 || got.stdout != "an archive" {
		t.Error(got)
	}
	f.liaison(t, "backup", filepath.Join(dir, "none", "b")).wants(t, exitUnusable, "", "none")
	leftOver(t, dir, "b")
}

// Of an archive that is not whole nothing stays, and an older one is as it was.
func TestBackupThatIsCut(t *testing.T) {
	t.Parallel()
	f := newFakeService(t)
	f.HandleFunc("GET /v1/backup", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, strings.Repeat("half of it", 1<<10))
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	dir := t.TempDir()
	name := filepath.Join(dir, "b")
	f.liaison(t, "backup", name).wants(t, exitUnreachable, "", "the archive is not whole")
	leftOver(t, dir)
	f.liaison(t, "backup", "-").wants(t, exitUnreachable, "", "the archive is not whole")

	if err := os.WriteFile(name, []byte("older"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.liaison(t, "backup", "--force", name).wants(t, exitUnreachable, "", "the archive is not whole")
	if text, err := os.ReadFile(name); err != nil || string(text) != "older" {
		t.Errorf("%q, %v", text, err)
	}
	leftOver(t, dir, "b")

	if err := os.WriteFile(name+".partial", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f.liaison(t, "backup", "--force", name).wants(t, exitUnusable, "", "b.partial exists")
	leftOver(t, dir, "b", "b.partial")
}

// leftOver fails unless a folder holds just these files.
func leftOver(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if strings.Join(names, " ") != strings.Join(want, " ") {
		t.Errorf("the folder holds %v, want %v", names, want)
	}
}
