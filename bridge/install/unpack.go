package install

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// limits bound an archive. The vendor's holds one executable of about 100 MB
// and a dozen small files.
type limits struct {
	download int64 // bytes of the archive itself
	unpacked int64 // bytes of what it unpacks to, padding included
	entries  int
}

var defaultLimits = limits{download: 512 << 20, unpacked: 2 << 30, entries: 10_000}

// target is the file that an entry is written to.
type target interface {
	io.WriteCloser
	Sync() error
}

// unpacker writes an archive's files below a folder that is empty and ours.
type unpacker struct {
	root   *os.Root
	limits limits
	// durable waits for the disk.
	durable bool
	// create makes a file that must not exist; tests let it fail.
	create func(name string, perm fs.FileMode) (target, error)

	files map[string]string // SHA-256 by path
	// spelled maps a path and each folder above it, in lower case, to how it was
	// first written, with a slash for folders.
	spelled map[string]string
}

func newUnpacker(root *os.Root, l limits) *unpacker {
	return &unpacker{
		root: root, limits: l, durable: true,
		create: func(name string, perm fs.FileMode) (target, error) {
			return root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, perm)
		},
		files:   map[string]string{},
		spelled: map[string]string{},
	}
}

// unpack reads a gzip'd tar to its very end and returns the SHA-256 of each file
// by its path. Anything but plain files and folders is refused, and so is
// anything that another program could read differently: a second gzip member,
// data after the end, names that differ in case only. Owners, times and modes are
// not taken over, but for whether a file is executable.
func (u *unpacker) unpack(ctx context.Context, archive io.Reader) (map[string]string, error) {
	// A bufio.Reader is an io.ByteReader, so that gzip takes no byte beyond its member.
	in := bufio.NewReader(&contextReader{ctx, archive})
	zip, err := gzip.NewReader(in)
	if err != nil {
		return nil, damaged(err)
	}
	zip.Multistream(false)
	content := &boundedReader{r: zip, left: u.limits.unpacked}
	entries := tar.NewReader(content)
	for n := 0; ; n++ {
		header, err := entries.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, damaged(err)
		}
		if n == u.limits.entries {
			return nil, fmt.Errorf("%w: %w: more than %d entries", ErrArchive, ErrTooLarge, u.limits.entries)
		}
		if err := u.entry(header, entries); err != nil {
			return nil, err
		}
	}
	if err := expectPadding(content); err != nil {
		return nil, err
	}
	if _, err := in.ReadByte(); !errors.Is(err, io.EOF) {
		if err == nil {
			err = errors.New("there is data after its end")
		}
		return nil, damaged(err)
	}
	return u.files, u.syncFolders()
}

// entry writes one entry.
func (u *unpacker) entry(h *tar.Header, content io.Reader) error {
	if h.Typeflag == tar.TypeXGlobalHeader {
		return nil // a comment for all entries, as git archive writes it
	}
	name, err := checkName(h.Name)
	if err != nil {
		return err
	}
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return fmt.Errorf("%w: %q is a sparse file", ErrArchive, name)
		}
	}
	switch {
	case h.Typeflag == tar.TypeDir && name == "":
		return nil
	case h.Typeflag == tar.TypeDir:
		if err := u.claim(name, true); err != nil {
			return err
		}
		return u.folder(name)
	case h.Typeflag == tar.TypeReg && name != "" && !strings.HasSuffix(h.Name, "/"):
		if err := u.claim(name, false); err != nil {
			return err
		}
		return u.file(name, h.FileInfo().Mode().Perm(), content)
	default:
		return fmt.Errorf("%w: %q is neither a plain file nor a folder (type %q)", ErrArchive, h.Name, h.Typeflag)
	}
}

// claim notes a path and the folders above it, and refuses what a file system
// that ignores case could not hold apart.
func (u *unpacker) claim(name string, folder bool) error {
	if err := u.note(name, folder); err != nil {
		return err
	}
	for above := path.Dir(name); above != "."; above = path.Dir(above) {
		if err := u.note(above, true); err != nil {
			return err
		}
	}
	return nil
}

// note keeps one path. A folder may be named again, a file may not.
func (u *unpacker) note(name string, folder bool) error {
	spelled := name
	if folder {
		spelled += "/"
	}
	key := strings.ToLower(name)
	before, ok := u.spelled[key]
	if ok && (before != spelled || !folder) {
		return fmt.Errorf("%w: %q and %q are one place", ErrArchive, before, spelled)
	}
	u.spelled[key] = spelled
	return nil
}

func (u *unpacker) folder(name string) error {
	if err := u.root.MkdirAll(filepath.FromSlash(name), 0o755); err != nil {
		return fmt.Errorf("unpack %s: %w", name, err)
	}
	return nil
}

func (u *unpacker) file(name string, mode fs.FileMode, content io.Reader) (err error) {
	if above := path.Dir(name); above != "." {
		if err := u.folder(above); err != nil {
			return err
		}
	}
	perm := fs.FileMode(0o644)
	if mode&0o111 != 0 {
		perm = 0o755
	}
	f, err := u.create(filepath.FromSlash(name), perm)
	if err != nil {
		return fmt.Errorf("unpack %s: %w", name, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	sum := sha256.New()
	to := &recordingWriter{w: f}
	if _, err := io.Copy(io.MultiWriter(to, sum), content); err != nil {
		if to.err != nil {
			return fmt.Errorf("unpack %s: %w", name, to.err)
		}
		return damaged(err)
	}
	if u.durable {
		if err := f.Sync(); err != nil {
			return fmt.Errorf("unpack %s: %w", name, err)
		}
	}
	u.files[name] = hex.EncodeToString(sum.Sum(nil))
	return nil
}

// syncFolders makes the entries of every folder durable.
func (u *unpacker) syncFolders() error {
	if !u.durable {
		return nil
	}
	folders := []string{"."}
	for _, name := range u.spelled {
		if folder, ok := strings.CutSuffix(name, "/"); ok {
			folders = append(folders, folder)
		}
	}
	for _, name := range folders {
		if err := syncFolder(func() (*os.File, error) { return u.root.Open(filepath.FromSlash(name)) }); err != nil {
			return fmt.Errorf("unpack %s: %w", name, err)
		}
	}
	return nil
}

// damaged is the error of an archive that cannot be read. Those that say more
// keep saying it.
func damaged(err error) error {
	if errors.Is(err, ErrArchive) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: it ends too early: %w", ErrArchive, err)
	}
	return fmt.Errorf("%w: %w", ErrArchive, err)
}

// expectPadding reads to the end of r, which must hold nothing but zeros.
func expectPadding(r io.Reader) error {
	buffer := make([]byte, 32<<10)
	for {
		n, err := r.Read(buffer)
		for _, b := range buffer[:n] {
			if b != 0 {
				return damaged(errors.New("there is data after its end"))
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return damaged(err)
		}
	}
}
