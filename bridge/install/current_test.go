package install

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestCurrentWithoutAny(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none")} {
		if _, err := Current(dir); !errors.Is(err, ErrNotInstalled) {
			t.Errorf("got %v", err)
		}
	}
}

// A copy that is not what was installed is refused, whatever happened to it, and
// installing again mends it.
func TestBrokenCopyIsRefusedAndMended(t *testing.T) {
	t.Parallel()
	edit := func(change func(map[string]any)) func(*testing.T, string, Installed) {
		return func(t *testing.T, dir string, _ Installed) {
			path := filepath.Join(dir, pointerName)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var r map[string]any
			if err := json.Unmarshal(data, &r); err != nil {
				t.Fatal(err)
			}
			change(r)
			if data, err = json.Marshal(r); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	replace := func(put func(path string) error) func(*testing.T, string, Installed) {
		return func(t *testing.T, _ string, in Installed) {
			if err := os.Remove(in.Executable); err != nil {
				t.Fatal(err)
			}
			if err := put(in.Executable); err != nil {
				t.Skipf("not possible here: %v", err)
			}
		}
	}
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("bridge"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name     string
		breakIt  func(*testing.T, string, Installed)
		unixOnly bool
	}{
		{name: "changed", breakIt: func(t *testing.T, _ string, in Installed) {
			if err := os.WriteFile(in.Executable, []byte("bridgE"), 0o755); err != nil {
				t.Fatal(err)
			}
		}},
		{name: "cut off", breakIt: func(t *testing.T, _ string, in Installed) {
			if err := os.Truncate(in.Executable, 0); err != nil {
				t.Fatal(err)
			}
		}},
		{name: "removed", breakIt: replace(func(string) error { return nil })},
		{name: "a folder", breakIt: replace(func(path string) error { return os.Mkdir(path, 0o755) })},
		{name: "a link to the same bytes elsewhere", breakIt: replace(func(path string) error { return os.Symlink(outside, path) })},
		{name: "a link to the same bytes inside", breakIt: func(t *testing.T, _ string, in Installed) {
			if err := os.Rename(in.Executable, in.Executable+".moved"); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(filepath.Base(in.Executable)+".moved", in.Executable); err != nil {
				t.Skipf("not possible here: %v", err)
			}
		}},
		{name: "its folder is a link elsewhere", breakIt: func(t *testing.T, _ string, in Installed) {
			bin := filepath.Dir(in.Executable)
			elsewhere := filepath.Join(t.TempDir(), "bin")
			if err := os.Rename(bin, elsewhere); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(elsewhere, bin); err != nil {
				t.Skipf("not possible here: %v", err)
			}
		}},
		{name: "not executable", unixOnly: true, breakIt: func(t *testing.T, _ string, in Installed) {
			if err := os.Chmod(in.Executable, 0o644); err != nil {
				t.Fatal(err)
			}
		}},
		{name: "writable by everyone", unixOnly: true, breakIt: func(t *testing.T, _ string, in Installed) {
			if err := os.Chmod(in.Executable, 0o757); err != nil {
				t.Fatal(err)
			}
		}},
		{name: "empty pointer", breakIt: func(t *testing.T, dir string, _ Installed) {
			if err := os.Truncate(filepath.Join(dir, pointerName), 0); err != nil {
				t.Fatal(err)
			}
		}},
		{name: "huge pointer", breakIt: func(t *testing.T, dir string, _ Installed) {
			if err := os.Truncate(filepath.Join(dir, pointerName), 1<<30); err != nil {
				t.Fatal(err)
			}
		}},
		{name: "pointer of another schema", breakIt: edit(func(r map[string]any) { r["schema"] = 2 })},
		{name: "pointer to the parent", breakIt: edit(func(r map[string]any) { r["path"] = ".." })},
		{name: "pointer to the top", breakIt: edit(func(r map[string]any) { r["path"] = "." })},
		{name: "pointer out", breakIt: edit(func(r map[string]any) { r["path"] = "../x" })},
		{name: "executable out", breakIt: edit(func(r map[string]any) { r["executable"] = "../../../../bin/sh" })},
		{name: "absolute executable", breakIt: edit(func(r map[string]any) { r["executable"] = "/bin/sh" })},
		{name: "no sum", breakIt: edit(func(r map[string]any) { delete(r, "executableSha256") })},
		{name: "other sum", breakIt: edit(func(r map[string]any) { r["executableSha256"] = strings.Repeat("00", 32) })},
		{name: "gone folder", breakIt: edit(func(r map[string]any) { r["path"] = "gone" })},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.unixOnly && runtime.GOOS == "windows" {
				t.Skip("Windows has no such modes")
			}
			dir := t.TempDir()
			data := bridgeArchive(t, "bridge")
			tt.breakIt(t, dir, mustInstall(t, dir, data).Installed)
			if got, err := Current(dir); !errors.Is(err, ErrBroken) {
				t.Fatalf("got %+v, %v; want ErrBroken", got, err)
			}
			mustInstall(t, dir, data)
			expectCurrent(t, dir, "bridge")
		})
	}
}

func FuzzParseRecord(f *testing.F) {
	good, err := record{
		Schema: schema, Version: "1.2.3", SHA256: strings.Repeat("0a", 32), Path: "1.2.3-0a",
		Executable: "bin/cursor-sdk-bridge", ExecutableSHA256: strings.Repeat("0b", 32),
	}.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"schema":1,"path":"..","executable":"/bin/sh"}`))
	f.Add(bytes.Replace(good, []byte("1.2.3-0a"), []byte("1.2.3/0a"), 1))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := parseRecord(data)
		if err != nil {
			return
		}
		if !filepath.IsLocal(r.Path) || filepath.Base(r.Path) != r.Path || !filepath.IsLocal(filepath.FromSlash(r.Executable)) {
			t.Errorf("%+v leads elsewhere", r)
		}
		again, err := r.encode()
		if err != nil {
			return // a time in the year 10000 of another zone
		}
		same, err := parseRecord(again)
		r.InstalledAt, same.InstalledAt = time.Time{}, time.Time{}
		if err != nil || same != r {
			t.Errorf("%+v became %+v, %v", r, same, err)
		}
	})
}
