package boltstore

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/internal/durable"
)

// Open opens the store in the file at path, which it creates, with the folders
// above it, if there is none. Errors wrap [state.ErrLocked] (another process
// holds it), [state.ErrNewerSchema] or [state.ErrCorrupt]; the file is then as
// it was.
func Open(path string, opts Options) (*Store, error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if opts.LockTimeout <= 0 {
		opts.LockTimeout = DefaultLockTimeout
	}
	if opts.Rand == nil {
		opts.Rand = rand.Reader
	}
	if opts.MaxUndecided <= 0 {
		opts.MaxUndecided = DefaultMaxUndecided
	}
	if opts.MaxSize != 0 && opts.MaxSize < MinMaxSize {
		return nil, fmt.Errorf("open %s: a size limit of %d bytes is below the least, %d: %w",
			path, opts.MaxSize, MinMaxSize, state.ErrInvalid)
	}
	s, err := open(path, opts)
	if err != nil {
		return nil, fmt.Errorf("open the state: %w", err)
	}
	return s, nil
}

func open(path string, opts Options) (_ *Store, err error) {
	if err := durable.MkdirAll(filepath.Dir(path)); err != nil {
		return nil, err
	}
	own, err := lockOwner(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, own.unlock()) }()

	switch info, err := os.Stat(path); {
	case errors.Is(err, os.ErrNotExist):
		if err := create(path); err != nil {
			return nil, fmt.Errorf("create %s: %w", path, err)
		}
	case err != nil:
		return nil, err
	case info.Size() == 0:
		// Our own creation never leaves one: something emptied what was there.
		return nil, fmt.Errorf("%s is empty: %w; restore a backup, or remove it and the folder %s to begin with nothing", path, state.ErrCorrupt, JournalFolder)
	}

	// A compaction that was interrupted has changed nothing else.
	if err := os.Remove(compactPath(path)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	_, err = os.Stat(suspectPath(path))
	suspect := err == nil
	version, err := inspect(path, own, opts, opts.Verify || suspect)
	if err != nil {
		return nil, err
	}
	db, file, err := openBolt(path, boltOptions(opts))
	if err != nil {
		return nil, lockError(err, path, own)
	}
	s, err := start(db, file, path, version, suspect, opts)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if suspect {
		opts.Logger.Warn("the state failed before; its file was checked and is whole", "file", path)
		_ = os.Remove(suspectPath(path))
	}
	if err := own.write(os.Getpid()); err != nil {
		opts.Logger.Warn("cannot name this process beside the state", "file", path+".owner", "error", err)
	}
	return s, nil
}

// suspectPath is the file whose presence asks the next opening for a full check.
func suspectPath(path string) string { return path + ".suspect" }

func boltOptions(opts Options) *bolt.Options {
	o := &bolt.Options{
		Timeout:        opts.LockTimeout,
		FreelistType:   bolt.FreelistMapType,
		NoFreelistSync: true, // until listFreePages decides
		MaxSize:        int(opts.MaxSize),
	}
	// Windows makes the file as large as the mapping, and 32 bits have no room for it.
	if runtime.GOOS != "windows" && strconv.IntSize == 64 {
		o.InitialMmapSize = initialMmap
	}
	return o
}

// create makes a whole file with empty tables, or none: it is put in place by a rename.
func create(path string) error {
	temp := path + ".new"
	if err := os.Remove(temp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	// Nobody reads it before it is in place, and it is synced as a whole before that.
	db, err := bolt.Open(temp, 0o600, &bolt.Options{Timeout: time.Second, NoSync: true, NoGrowSync: true})
	if err != nil {
		return err
	}
	err = migrate(db, temp, 0, time.Time{})
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	f, err := os.OpenFile(temp, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(path))
}

// inspect looks at the file, without a change to it, and returns its schema version.
func inspect(path string, own *owner, opts Options, verify bool) (_ uint64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := readMeta(f); err != nil {
		return 0, err
	}
	db, _, err := openBolt(path, &bolt.Options{ReadOnly: true, Timeout: opts.LockTimeout})
	if err != nil {
		return 0, lockError(err, path, own)
	}
	defer func() { err = errors.Join(err, db.Close()) }()

	meta, err := readMeta(f) // again, now that no one writes
	if err != nil {
		return 0, err
	}
	// Without the list bbolt will follow every page to find those that are free.
	if !meta.listed() || meta.limit <= quickCheck || verify {
		if err := checkPages(f, meta); err != nil {
			return 0, err
		}
	}
	if verify {
		if err := checkTree(db, path); err != nil {
			return 0, err
		}
	}
	return readSchema(db, path)
}

// checkTree runs bbolt's own check, which also looks at the order of the keys.
func checkTree(db *bolt.DB, path string) error {
	check := func(tx *bolt.Tx) error {
		var first error
		for err := range tx.Check() {
			if first == nil {
				first = fmt.Errorf("%s: %w; restore a backup: %w", path, err, state.ErrCorrupt)
			}
		}
		return first
	}
	return protect(path, func() error { return db.View(check) })
}

// openBolt opens the file and also returns bbolt's handle of it. bbolt panics
// on some damage; the handle, and with it the lock, is then given back.
func openBolt(path string, o *bolt.Options) (db *bolt.DB, file *os.File, err error) {
	o.OpenFile = func(name string, flag int, mode os.FileMode) (*os.File, error) {
		f, err := os.OpenFile(name, flag&^os.O_CREATE, mode)
		file = f
		return f, err
	}
	err = protect(path, func() (err error) {
		db, err = bolt.Open(path, 0o600, o)
		return err
	})
	if errors.Is(err, state.ErrCorrupt) && file != nil {
		_ = file.Close()
	}
	return db, file, err
}

func lockError(err error, path string, own *owner) error {
	if errors.Is(err, bolterrors.ErrTimeout) {
		return fmt.Errorf("%s is in use by %s; only one Liaison can use a state folder: stop the other one, or use another folder: %w",
			path, own.holder(), state.ErrLocked)
	}
	return err
}
