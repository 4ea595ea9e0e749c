package install

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// unpackInto unpacks into a new folder that has a neighbour, and returns both.
func unpackInto(t testing.TB, l limits, data []byte) (map[string]string, string, error) {
	t.Helper()
	outer := t.TempDir()
	inner := filepath.Join(outer, "in")
	if err := os.Mkdir(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(inner)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	u := newUnpacker(root, l)
	u.durable = false // fuzzing would wait for the disk only
	files, err := u.unpack(t.Context(), bytes.NewReader(data))
	return files, outer, err
}

// tree lists what is below dir, folders with a slash.
func tree(t testing.TB, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if e.IsDir() {
			name += "/"
		} else if !e.Type().IsRegular() {
			t.Errorf("%s is a %s", name, e.Type())
		}
		all = append(all, filepath.ToSlash(name))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestUnpack(t *testing.T) {
	t.Parallel()
	data := archive(t,
		entry{kind: tar.TypeXGlobalHeader, pax: map[string]string{"comment": "a commit"}},
		entry{name: "./", kind: tar.TypeDir, mode: 0o755},
		entry{name: "./bin/", kind: tar.TypeDir, mode: 0o2777},
		entry{name: "./bin/", kind: tar.TypeDir, mode: 0o755},
		entry{name: "bin/tool", body: "tool", mode: 0o6755},
		entry{name: "deep/er/notes.txt", body: "notes", mode: 0o666},
		entry{name: "empty"},
	)
	files, outer, err := unpackInto(t, defaultLimits, data)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"in/", "in/bin/", "in/bin/tool", "in/deep/", "in/deep/er/", "in/deep/er/notes.txt", "in/empty"}
	if got := tree(t, outer); !slices.Equal(got, want) {
		t.Errorf("unpacked %v, want %v", got, want)
	}
	if files["bin/tool"] != sumOf([]byte("tool")) || len(files) != 3 {
		t.Errorf("files %v", files)
	}
	if runtime.GOOS == "windows" {
		return
	}
	for name, want := range map[string]fs.FileMode{"bin": fs.ModeDir | 0o755, "bin/tool": 0o755, "deep/er/notes.txt": 0o644} {
		info, err := os.Stat(filepath.Join(outer, "in", name))
		if err != nil {
			t.Fatal(err)
		}
		// The umask of whoever runs the tests may take bits away.
		if got := info.Mode(); got&^want != 0 {
			t.Errorf("%s has mode %s, want at most %s", name, got, want)
		}
	}
}

// What an archive may not hold. Nothing of it is found outside the folder, and
// nothing but plain files in it.
func TestUnpackRefuses(t *testing.T) {
	t.Parallel()
	file := func(name string) []byte { return archive(t, entry{name: name, body: "x"}) }
	good := bridgeArchive(t, "bridge")
	cases := map[string][]byte{
		"absolute":                file("/etc/passwd"),
		"parent":                  file("../outside"),
		"parent in the middle":    file("bin/../../outside"),
		"parent at the end":       archive(t, entry{name: "bin/..", kind: tar.TypeDir}),
		"only parent":             archive(t, entry{name: "..", kind: tar.TypeDir}),
		"dot in the middle":       file("bin/./tool"),
		"dot dot after dot":       file("./../outside"),
		"double slash":            file("bin//tool"),
		"twice dot slash":         file("././tool"),
		"backslash":               file(`bin\tool`),
		"backslash parent":        file(`..\outside`),
		"drive":                   file(`C:evil`),
		"drive path":              file(`c:/evil`),
		"stream":                  file("tool:stream"),
		"device":                  file("bin/NUL"),
		"device with extension":   file("aux.txt"),
		"numbered device":         file("com1"),
		"ends in a dot":           file("bin./tool"),
		"ends in a space":         file("tool "),
		"control character":       file("to\nol"),
		"escape sequence":         file("to\x1b[2Jol"),
		"not ASCII":               file("tööl"),
		"too long":                file(strings.Repeat("long/", maxName/5) + "x"),
		"file that is a folder":   archive(t, entry{name: "bin/", kind: tar.TypeDir}, entry{name: "bin", body: "x"}),
		"folder that is a file":   archive(t, entry{name: "bin", body: "x"}, entry{name: "bin/", kind: tar.TypeDir}),
		"file below a file":       archive(t, entry{name: "bin", body: "x"}, entry{name: "bin/tool", body: "x"}),
		"twice":                   archive(t, entry{name: "tool", body: "x"}, entry{name: "./tool", body: "y"}),
		"twice but for case":      archive(t, entry{name: "tool", body: "x"}, entry{name: "TOOL", body: "y"}),
		"folders but for case":    archive(t, entry{name: "bin/a", body: "x"}, entry{name: "Bin/b", body: "y"}),
		"symlink out":             archive(t, entry{name: "out", kind: tar.TypeSymlink, link: "/etc"}, entry{name: "out/passwd", body: "x"}),
		"symlink up":              archive(t, entry{name: "out", kind: tar.TypeSymlink, link: ".."}),
		"symlink inside":          archive(t, entry{name: "a", body: "x"}, entry{name: "b", kind: tar.TypeSymlink, link: "a"}),
		"hard link out":           archive(t, entry{name: "out", kind: tar.TypeLink, link: "/etc/passwd"}),
		"hard link inside":        archive(t, entry{name: "a", body: "x"}, entry{name: "b", kind: tar.TypeLink, link: "a"}),
		"character device":        archive(t, entry{name: "null", kind: tar.TypeChar}),
		"block device":            archive(t, entry{name: "disk", kind: tar.TypeBlock}),
		"fifo":                    archive(t, entry{name: "pipe", kind: tar.TypeFifo}),
		"unknown type":            archive(t, entry{name: "what", kind: 'Z'}),
		"sparse":                  compress(t, sparseTar(t)),
		"path by PAX":             archive(t, entry{name: strings.Repeat("a/", 120) + "../../../x", body: "x"}),
		"not gzip":                pack(t, entry{name: "a", body: "x"}),
		"empty":                   nil,
		"not tar":                 compress(t, bytes.Repeat([]byte("no tar "), 1000)),
		"two members":             append(bytes.Clone(good), good...),
		"empty second member":     append(bytes.Clone(good), compress(t, nil)...),
		"member of padding":       append(bytes.Clone(good), compress(t, make([]byte, 512))...),
		"trailing garbage":        append(bytes.Clone(good), "more"...),
		"trailing zero":           append(bytes.Clone(good), 0),
		"hidden second archive":   compress(t, append(pack(t, entry{name: "a", body: "x"}), pack(t, entry{name: "b", body: "x"})...)),
		"truncated in the sum":    good[:len(good)-1],
		"truncated before it":     good[:len(good)-9],
		"truncated in the data":   good[:len(good)/2],
		"truncated in gzip":       good[:5],
		"tar truncated in a file": compress(t, pack(t, entry{name: "a", body: strings.Repeat("x", 4096)})[:1024]),
	}
	for name, data := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, outer, err := unpackInto(t, defaultLimits, data)
			if !errors.Is(err, ErrArchive) {
				t.Fatalf("got %v, want ErrArchive", err)
			}
			if strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Errorf("the error carries control characters: %q", err)
			}
			for _, name := range tree(t, outer) {
				if !strings.HasPrefix(name, "in/") {
					t.Errorf("%s is outside", name)
				}
			}
		})
	}
}

// A flipped bit anywhere in the compressed data is noticed.
func TestUnpackNoticesDamage(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	body := make([]byte, 2000)
	for i := range body {
		body[i] = byte(random.Uint32())
	}
	good := archive(t, entry{name: "a", body: string(body)})
	for i := 10; i < len(good); i += 7 {
		bad := bytes.Clone(good)
		bad[i] ^= 0x10
		if _, _, err := unpackInto(t, defaultLimits, bad); err == nil {
			t.Errorf("a flipped bit in byte %d of %d was not noticed", i, len(good))
		}
	}
}

// sparseTar is a file of 1 TiB with next to no data, as GNU tar writes it.
func sparseTar(t testing.TB) []byte {
	t.Helper()
	data := pack(t, entry{name: "sparse", body: strings.Repeat("x", 512)})
	header := data[:512]
	header[156] = 'S'
	copy(header[257:], "ustar  \x00")
	// One hole's map entry: 512 bytes of data at offset 0; the real size is 1 TiB.
	clear(header[345:512])
	copy(header[386:], "00000000000\x00")
	copy(header[398:], "00000001000\x00")
	size := header[483:495]
	size[0] = 0x80 // binary
	binary.BigEndian.PutUint64(size[4:], 1<<40)
	copy(header[148:], "        ")
	var sum int64
	for _, b := range header {
		sum += int64(b)
	}
	copy(header[148:], octal(sum))
	return data
}

func octal(n int64) string {
	digits := []byte("000000\x00 ")
	for i := 5; i >= 0; i-- {
		digits[i] = byte('0' + n&7)
		n >>= 3
	}
	return string(digits)
}

// The tests above would pass if the sparse file were merely malformed.
func TestSparseTarIsWellFormed(t *testing.T) {
	t.Parallel()
	h, err := tar.NewReader(bytes.NewReader(sparseTar(t))).Next()
	if err != nil || h.Typeflag != tar.TypeGNUSparse || h.Size != 1<<40 {
		t.Fatalf("%+v, %v", h, err)
	}
}

func TestUnpackLimits(t *testing.T) {
	t.Parallel()
	entries := []entry{{name: "a", body: strings.Repeat("x", 100)}, {name: "b"}}
	size := int64(len(pack(t, entries...)))
	for _, tt := range []struct {
		name   string
		limits limits
		fails  bool
	}{
		{"one byte less", limits{unpacked: size - 1, entries: 2}, true},
		{"as many bytes", limits{unpacked: size, entries: 2}, false},
		{"one byte more", limits{unpacked: size + 1, entries: 2}, false},
		{"one entry less", limits{unpacked: size, entries: 1}, true},
		{"one entry more", limits{unpacked: size, entries: 3}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, _, err := unpackInto(t, tt.limits, archive(t, entries...))
			if tt.fails != errors.Is(err, ErrTooLarge) || !tt.fails && err != nil {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("longest name", func(t *testing.T) {
		t.Parallel()
		name := strings.Repeat("a/", maxName/2-1) + "ab"
		if _, _, err := unpackInto(t, defaultLimits, archive(t, entry{name: name})); err != nil {
			t.Errorf("%d bytes: %v", len(name), err)
		}
		if _, _, err := unpackInto(t, defaultLimits, archive(t, entry{name: name + "c"})); !errors.Is(err, ErrArchive) {
			t.Errorf("%d bytes: %v", len(name)+1, err)
		}
	})
}

// A small archive that unpacks to more than the limit stops there.
func TestUnpackBomb(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	bomb := archive(t, entry{name: "bomb", body: strings.Repeat("\x00", 64<<20)})
	_, outer, err := unpackInto(t, limits{unpacked: limit, entries: 10}, bomb)
	if !errors.Is(err, ErrTooLarge) || !errors.Is(err, ErrArchive) {
		t.Fatalf("got %v", err)
	}
	info, err := os.Stat(filepath.Join(outer, "in", "bomb"))
	if err == nil && info.Size() > limit {
		t.Errorf("%d bytes were written", info.Size())
	}
	// Padding after the end of the tar counts too.
	padded := compress(t, append(pack(t, entry{name: "a"}), make([]byte, 2*limit)...))
	if _, _, err := unpackInto(t, limits{unpacked: limit, entries: 10}, padded); !errors.Is(err, ErrTooLarge) {
		t.Errorf("padding: got %v", err)
	}
}

func TestUnpackEndsWithItsContext(t *testing.T) {
	t.Parallel()
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := newUnpacker(root, defaultLimits).unpack(ctx, bytes.NewReader(bridgeArchive(t, "x"))); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// fullDisk is a file on a disk that is full after some bytes.
type fullDisk struct {
	target
	room int
	sync error
}

func (f *fullDisk) Write(p []byte) (int, error) {
	if len(p) > f.room {
		n, err := f.target.Write(p[:f.room])
		return n, errors.Join(err, syscall.ENOSPC)
	}
	f.room -= len(p)
	return f.target.Write(p)
}

func (f *fullDisk) Sync() error { return errors.Join(f.target.Sync(), f.sync) }

// A full disk is told as what it is, and not as a bad archive.
func TestUnpackOntoAFullDisk(t *testing.T) {
	t.Parallel()
	for name, disk := range map[string]fullDisk{
		"while writing": {room: 10},
		"while syncing": {room: 1 << 20, sync: syscall.ENOSPC},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, err := os.OpenRoot(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			defer root.Close()
			u := newUnpacker(root, defaultLimits)
			u.create = func(name string, perm fs.FileMode) (target, error) {
				f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, perm)
				return &fullDisk{target: f, room: disk.room, sync: disk.sync}, err
			}
			_, err = u.unpack(t.Context(), bytes.NewReader(bridgeArchive(t, strings.Repeat("x", 100))))
			if !errors.Is(err, syscall.ENOSPC) || errors.Is(err, ErrArchive) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// FuzzUnpack feeds tars as they are, so that the fuzzer is not held up by gzip.
// Whatever comes: nothing is outside, all is plain, and the limits hold.
func FuzzUnpack(f *testing.F) {
	f.Add(pack(f, bridgeEntries(goodManifest, "bridge")...))
	f.Add(pack(f, entry{name: "../outside", body: "x"}))
	f.Add(pack(f, entry{name: "a", kind: tar.TypeSymlink, link: ".."}, entry{name: "a/b", body: "x"}))
	f.Add(pack(f, entry{name: "a", kind: tar.TypeLink, link: "/etc/passwd"}))
	f.Add(pack(f, entry{name: strings.Repeat("a/", 120) + "b"}))
	f.Add(sparseTar(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		const limit = 1 << 20
		files, outer, err := unpackInto(t, limits{unpacked: limit, entries: 50}, compress(t, data))
		var size int64
		seen := map[string]bool{}
		for _, name := range tree(t, outer) {
			if name != "in/" && !strings.HasPrefix(name, "in/") {
				t.Errorf("%q is outside", name)
			}
			if key := strings.ToLower(name); seen[key] {
				t.Errorf("%q is there twice", name)
			} else {
				seen[key] = true
			}
			if strings.HasSuffix(name, "/") {
				continue
			}
			content, readErr := os.ReadFile(filepath.Join(outer, filepath.FromSlash(name)))
			if readErr != nil {
				t.Fatal(readErr)
			}
			size += int64(len(content))
			if err == nil && files[strings.TrimPrefix(name, "in/")] != sumOf(content) {
				t.Errorf("%q is not what was reported", name)
			}
		}
		if size > limit {
			t.Errorf("%d bytes were unpacked", size)
		}
	})
}

// FuzzUnpackCompressed feeds files as they would be downloaded.
func FuzzUnpackCompressed(f *testing.F) {
	f.Add(bridgeArchive(f, "bridge"))
	f.Add([]byte{0x1f, 0x8b})
	f.Fuzz(func(t *testing.T, data []byte) {
		_, outer, err := unpackInto(t, limits{unpacked: 1 << 20, entries: 50}, data)
		if err != nil && !errors.Is(err, ErrArchive) && !errors.Is(err, io.EOF) {
			t.Errorf("unexpected kind of error: %v", err)
		}
		for _, name := range tree(t, outer) {
			if !strings.HasPrefix(name, "in/") {
				t.Errorf("%q is outside", name)
			}
		}
	})
}
