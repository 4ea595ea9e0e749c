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
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/boltstore"
	"github.com/liaison-bot/liaison/state/eventlog"
)

// Source is what is copied. Nothing of it may be removed, packed or compacted
// while it is.
type Source struct {
	Store *boltstore.Store
	Log   *eventlog.Log
	// Dir is the state folder.
	Dir string
	// Version is the running program's.
	Version string
	// Now is the clock; time.Now if nil.
	Now func() time.Time
}

const (
	// sessionsPage is how many sessions are listed at once.
	sessionsPage = 256
	// window bounds what writing or reading an archive needs in memory.
	window = 1 << 20
)

// Write writes an archive of all that was stored at some moment after the call
// to w. Deliveries are taken and decided meanwhile. After an error what was
// written is no archive, and Restore refuses it.
func Write(ctx context.Context, w io.Writer, src Source) (state.BackupInfo, error) {
	if src.Now == nil {
		src.Now = time.Now
	}
	info, err := write(ctx, w, src)
	if err != nil {
		return state.BackupInfo{}, fmt.Errorf("back up the state: %w", err)
	}
	return info, nil
}

func write(ctx context.Context, w io.Writer, src Source) (state.BackupInfo, error) {
	packed, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window))
	if err != nil {
		return state.BackupInfo{}, err
	}
	a := &archive{ctx: ctx, tar: tar.NewWriter(packed), seal: newSeal(), src: src}
	a.manifest.BackupInfo = state.BackupInfo{Format: format, Version: src.Version, CreatedAt: src.Now().UTC()}
	for _, part := range []func() error{
		a.database, a.folder(journalDir), a.folder(packedDir), a.sessions, a.end, a.tar.Close, packed.Close,
	} {
		if err := part(); err != nil {
			return state.BackupInfo{}, errors.Join(err, ctx.Err())
		}
	}
	return a.manifest.BackupInfo, nil
}

// archive is one in the making.
type archive struct {
	ctx      context.Context // of the one call that it lives for
	tar      *tar.Writer
	seal     *seal
	src      Source
	manifest manifest
}

// add writes one entry of exactly size bytes.
func (a *archive) add(name string, size int64, content func(io.Writer) error) error {
	if err := a.header(name, size); err != nil {
		return err
	}
	sum := a.seal.entry(name, size)
	if err := content(&cancelled{a.ctx, io.MultiWriter(a.tar, sum)}); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func (a *archive) header(name string, size int64) error {
	return a.tar.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600, ModTime: a.manifest.CreatedAt,
	})
}

func (a *archive) database() error {
	return a.src.Store.Snapshot(a.ctx, func(s boltstore.Snapshot) error {
		a.manifest.Commit, a.manifest.Schema = s.Commit, s.Schema
		return a.add(databaseName, s.Size, func(w io.Writer) error {
			_, err := s.WriteTo(w)
			return err
		})
	})
}

// folder adds the files of a folder, as far as they go now.
func (a *archive) folder(dir string) func() error {
	return func() error {
		entries, err := os.ReadDir(filepath.Join(a.src.Dir, dir))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, e := range entries {
			name := dir + "/" + e.Name()
			if !e.Type().IsRegular() || !known(name) {
				continue
			}
			if err := a.file(name); err != nil {
				return err
			}
		}
		return nil
	}
}

func (a *archive) file(name string) error {
	f, err := os.Open(filepath.Join(a.src.Dir, filepath.FromSlash(name)))
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // nothing was written
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return a.add(name, info.Size(), func(w io.Writer) error {
		n, err := io.CopyN(w, f, info.Size())
		if errors.Is(err, io.EOF) && strings.HasPrefix(name, journalDir+"/") {
			// A segment that is left loses the zeros behind its last record.
			_, err = io.CopyN(w, zeros{}, info.Size()-n)
		}
		return err
	})
}

// zeros is an endless source of them.
type zeros struct{}

// Read implements [io.Reader].
func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// sessions adds the records that are not packed. Those of sessions that began
// after the database was copied have nothing to add.
func (a *archive) sessions() error {
	for after := ""; ; {
		page, err := a.src.Store.ListSessions(a.ctx, after, sessionsPage)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, s := range page {
			after = s.ID
			if err := a.session(s.ID); err != nil {
				return err
			}
		}
	}
}

func (a *archive) session(id string) error {
	if !state.ValidSessionID(id) {
		return nil // it can have no record
	}
	part, err := a.src.Log.Before(a.ctx, id, a.manifest.Commit)
	if err != nil || part == nil {
		return err
	}
	defer func() { _ = part.Close() }() // nothing was written
	a.manifest.Sessions++
	return a.add(sessionsDir+"/"+id+"/"+recordName, part.Size, func(w io.Writer) error {
		_, err := io.Copy(w, part)
		return err
	})
}

// end adds the manifest.
func (a *archive) end() error {
	a.manifest.Files, a.manifest.Bytes, a.manifest.SHA256 = a.seal.files, a.seal.bytes, a.seal.sum()
	raw, err := json.MarshalIndent(a.manifest, "", "  ")
	if err != nil {
		return err
	}
	if err := a.header(manifestName, int64(len(raw))); err != nil {
		return err
	}
	_, err = a.tar.Write(raw)
	return err
}

// cancelled is a writer that ends with its context.
type cancelled struct {
	ctx context.Context
	w   io.Writer
}

// Write implements [io.Writer].
func (c *cancelled) Write(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.w.Write(p)
}
