package install

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// testPlatform is what the tests install for, whatever they run on.
var testPlatform = Platform{OS: "linux", Arch: "x64"}

const goodManifest = `{"bridgeVersion":"1.0.0","sdkVersion":"1.2.3","os":"linux","arch":"x64","entrypoint":"bin/cursor-sdk-bridge","protocol":"sdk.v1","distribution":"standalone","runtime":"bun-1.3.9"}`

// entry is one entry of an archive. A zero type is a plain file.
type entry struct {
	name string
	body string
	mode int64
	kind byte
	link string
	pax  map[string]string
}

// archive is a release's archive with these entries.
func archive(t testing.TB, entries ...entry) []byte {
	t.Helper()
	return compress(t, pack(t, entries...))
}

// pack makes a tar.
func pack(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Mode: e.mode, Typeflag: e.kind, Linkname: e.link, PAXRecords: e.pax}
		if e.kind == 0 {
			h.Typeflag = tar.TypeReg
			h.Size = int64(len(e.body))
		}
		if h.Mode == 0 {
			h.Mode = 0o644
		}
		if e.kind == tar.TypeXGlobalHeader {
			h = &tar.Header{Typeflag: e.kind, PAXRecords: e.pax}
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatalf("%s: %v", e.name, err)
		}
		if _, err := w.Write([]byte(e.body)); err != nil {
			t.Fatalf("%s: %v", e.name, err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func compress(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// bridgeArchive is a good archive whose executable is body.
func bridgeArchive(t testing.TB, body string) []byte {
	t.Helper()
	return archive(t, bridgeEntries(goodManifest, body)...)
}

// versionArchive is a good archive of another release.
func versionArchive(t testing.TB, version string) []byte {
	t.Helper()
	return archive(t, bridgeEntries(strings.Replace(goodManifest, "1.2.3", version, 1), "bridge "+version)...)
}

func bridgeEntries(manifest, body string) []entry {
	return []entry{
		{name: "./", kind: tar.TypeDir, mode: 0o755},
		{name: "./bin/", kind: tar.TypeDir, mode: 0o755},
		{name: "./bin/cursor-sdk-bridge", body: body, mode: 0o755},
		{name: "./proto/sdk/v1/sdk_errors.proto", body: `syntax = "proto3";`},
		{name: "./manifest.json", body: manifest},
	}
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// sumsOf is a release's sums file with this archive for the tests' platform.
func sumsOf(data []byte) string {
	return fmt.Sprintf("%s  cursor-sdk-bridge-standalone-darwin-arm64.tar.gz\n%s  %s\n", strings.Repeat("ab", 32), sumOf(data), testPlatform.Archive())
}

// fromFile are options that install this archive from a file.
func fromFile(t testing.TB, dir string, data []byte) Options {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.tar.gz")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return Options{Dir: dir, Platform: testPlatform, Archive: path, SHA256: sumOf(data)}
}

// mustInstall installs an archive.
func mustInstall(t testing.TB, dir string, data []byte) Result {
	t.Helper()
	r, err := Install(t.Context(), fromFile(t, dir, data))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// expectCurrent fails unless the current copy's executable is body, and nothing
// unfinished lies about.
func expectCurrent(t testing.TB, dir, body string) Installed {
	t.Helper()
	got, err := Current(dir)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(got.Executable)
	if err != nil || string(data) != body {
		t.Fatalf("the current bridge is %q, %v; want %q", data, err, body)
	}
	expectNoLitter(t, dir)
	return got
}

// expectNoLitter fails if anything but copies, pointer and lock is in dir.
func expectNoLitter(t testing.TB, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name := e.Name(); name != ".lock" && name != pointerName {
			if _, err := os.Stat(filepath.Join(dir, name, recordName)); err != nil {
				t.Errorf("%s was left behind", name)
			}
		}
	}
}
