package backup

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/boltstore"
	"github.com/liaison-bot/liaison/state/internal/durable"
	"github.com/liaison-bot/liaison/state/internal/volume"
)

var (
	// ErrNotEmpty means that the folder to restore into holds something.
	ErrNotEmpty = errors.New("the folder is not empty")
	// ErrBadArchive means that an archive is not whole, not ours, or not harmless.
	ErrBadArchive = errors.New("not a whole backup")
)

// tempName is the folder in which an archive is unpacked and verified.
const tempName = ".restoring"

// reserve stays free on the volume, in bytes.
const reserve = 16 << 20

// Restore puts what an archive holds into a folder that is empty or not there
// yet. Nothing of it is in place before all of it was verified. An error wraps
// [ErrNotEmpty], [ErrBadArchive], [state.ErrNoSpace] or [state.ErrNewerSchema],
// or is the system's; the folder is then as it was.
func Restore(ctx context.Context, r io.Reader, dir string) (state.BackupInfo, error) {
	info, err := restore(ctx, r, dir)
	if err != nil {
		return state.BackupInfo{}, fmt.Errorf("restore into %s: %w", dir, err)
	}
	return info, nil
}

func restore(ctx context.Context, r io.Reader, dir string) (info state.BackupInfo, err error) {
	created, err := prepare(dir)
	if err != nil {
		return info, err
	}
	temp := filepath.Join(dir, tempName)
	if err := os.Mkdir(temp, 0o700); err != nil {
		return info, err
	}
	defer func() {
		err = errors.Join(err, os.RemoveAll(temp))
		if err != nil && created {
			_ = os.Remove(dir) // not if something is in it
		}
	}()
	m, err := unpack(ctx, r, temp)
	if err != nil {
		return info, err
	}
	schema, err := boltstore.Verify(filepath.Join(temp, databaseName))
	if err != nil {
		return info, err
	}
	if schema != m.Schema {
		return info, fmt.Errorf("the database has schema %d, and the manifest says %d: %w", schema, m.Schema, ErrBadArchive)
	}
	return m.BackupInfo, place(temp, dir)
}

// prepare makes the folder, or sees that nothing is in it, and reports whether
// it made it. A volume's own lost+found is nothing.
func prepare(dir string) (created bool, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return true, durable.MkdirAll(dir)
	}
	for _, e := range entries {
		if e.Name() != "lost+found" {
			return false, fmt.Errorf("it holds %q: %w; choose another, or move away what is there", e.Name(), ErrNotEmpty)
		}
	}
	return false, err
}

// unpack writes the files of an archive below dir, syncs them, and verifies the
// manifest.
func unpack(ctx context.Context, r io.Reader, dir string) (manifest, error) {
	dec, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(8*window))
	if err != nil {
		return manifest{}, err
	}
	defer dec.Close()
	there, err := volume.Of(dir)
	if err != nil {
		return manifest{}, err
	}
	u := &unpacking{ctx: ctx, dir: dir, tar: tar.NewReader(dec), seal: newSeal(), room: there.Free - reserve}
	m, err := u.run()
	if err != nil {
		return m, err
	}
	if err := syncFolders(dir); err != nil {
		return m, err
	}
	return m, nil
}

// unpacking is one archive on its way into a folder.
type unpacking struct {
	ctx  context.Context // of the one call that it lives for
	dir  string
	tar  *tar.Reader
	seal *seal
	room int64
	// sessions counts records.
	sessions int
}

func (u *unpacking) run() (manifest, error) {
	for {
		h, err := u.tar.Next()
		if errors.Is(err, io.EOF) {
			return manifest{}, fmt.Errorf("it ends before its manifest: %w", ErrBadArchive)
		}
		if err != nil {
			return manifest{}, fmt.Errorf("%w: %w", err, ErrBadArchive)
		}
		if h.Name == manifestName {
			return u.manifest(h)
		}
		if err := u.file(h); err != nil {
			return manifest{}, err
		}
	}
}

func (u *unpacking) file(h *tar.Header) error {
	switch {
	case h.Typeflag != tar.TypeReg || !known(h.Name):
		return fmt.Errorf("entry %.200q of type %q is none of a backup: %w", h.Name, h.Typeflag, ErrBadArchive)
	case (u.seal.files == 0) != (h.Name == databaseName):
		return fmt.Errorf("entry %.200q is out of order: %w", h.Name, ErrBadArchive)
	case h.Size < 0 || h.Size > u.room:
		return fmt.Errorf("entry %.200q of %d bytes: %w", h.Name, h.Size, state.ErrNoSpace)
	}
	u.room -= h.Size
	path := filepath.Join(u.dir, filepath.FromSlash(h.Name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	// No name comes twice.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("entry %.200q is there twice: %w", h.Name, ErrBadArchive)
	}
	if err != nil {
		return err
	}
	sum := u.seal.entry(h.Name, h.Size)
	if filepath.Base(path) == recordName {
		u.sessions++
	}
	source := &source{r: u.tar}
	_, err = io.CopyN(&cancelled{u.ctx, io.MultiWriter(f, sum)}, source, h.Size)
	if source.err != nil {
		err = fmt.Errorf("entry %.200q (%w): %w", h.Name, source.err, ErrBadArchive)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// source tells a failure of the archive from one of the disk.
type source struct {
	r   io.Reader
	err error
}

// Read implements [io.Reader].
func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

func (u *unpacking) manifest(h *tar.Header) (manifest, error) {
	var m manifest
	if h.Typeflag != tar.TypeReg || h.Size > maxManifest {
		return m, fmt.Errorf("a manifest of type %q and %d bytes: %w", h.Typeflag, h.Size, ErrBadArchive)
	}
	raw, err := io.ReadAll(u.tar)
	if err == nil {
		err = json.Unmarshal(raw, &m)
	}
	if err != nil {
		return m, fmt.Errorf("its manifest (%w): %w", err, ErrBadArchive)
	}
	if m.Format != format {
		return m, fmt.Errorf("it has format %d, and this program knows %d; use the program that wrote it, version %.100q: %w",
			m.Format, format, m.Version, ErrBadArchive)
	}
	if m.SHA256 != u.seal.sum() || m.Files != u.seal.files || m.Bytes != u.seal.bytes || m.Sessions != u.sessions {
		return m, fmt.Errorf("its content is not what its manifest says: %w", ErrBadArchive)
	}
	if u.seal.files == 0 {
		return m, fmt.Errorf("it has no database: %w", ErrBadArchive)
	}
	if _, err := u.tar.Next(); !errors.Is(err, io.EOF) {
		return m, fmt.Errorf("something comes after its manifest: %w", ErrBadArchive)
	}
	return m, nil
}

// syncFolders makes the entries of all folders below dir durable.
func syncFolders(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		return durable.SyncDir(path)
	})
}

// place moves what was verified to where it belongs, the database last: without
// it nothing is taken for a state.
func place(temp, dir string) (err error) {
	var placed []string
	defer func() {
		for _, path := range placed {
			if err != nil {
				err = errors.Join(err, os.RemoveAll(path))
			}
		}
	}()
	for _, name := range []string{sessionsDir, packedDir, journalDir, databaseName} {
		path := filepath.Join(dir, name)
		err := os.Rename(filepath.Join(temp, name), path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		placed = append(placed, path)
	}
	return durable.SyncDir(dir)
}
