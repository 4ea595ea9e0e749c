package boltstore

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	bolt "go.etcd.io/bbolt"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/internal/volume"
)

// Snapshot is the database as it was at one moment.
type Snapshot struct {
	tx *bolt.Tx
	// Size is that of the file in bytes.
	Size int64
	// Commit is the last decision in it, Schema its version.
	Commit, Schema uint64
}

// WriteTo implements [io.WriterTo]: it writes a whole database file of Size bytes.
func (s Snapshot) WriteTo(w io.Writer) (int64, error) { return s.tx.WriteTo(w) }

// Snapshot calls fn with the database as it is now. Writing goes on meanwhile,
// but the file grows, since nothing that fn may read is overwritten. A
// compaction waits for fn.
func (s *Store) Snapshot(ctx context.Context, fn func(Snapshot) error) error {
	return s.view(ctx, func(r *reader) error {
		meta := r.table(tableMeta)
		return fn(Snapshot{
			tx: r.tx, Size: r.tx.Size(),
			Commit: number(meta.Get(metaCommit)), Schema: number(meta.Get(metaSchema)),
		})
	})
}

// Usage says how much room everything takes that the store knows of: all but
// the files of the segments.
func (s *Store) Usage(ctx context.Context) (state.DiskUsage, error) {
	var u state.DiskUsage
	info, err := os.Stat(s.path)
	if err != nil {
		return u, fmt.Errorf("ask for the size of the state: %w", err)
	}
	u.Database.Size, u.Journal = info.Size(), s.journal.Size()
	if u.Volume, err = volume.Of(filepath.Dir(s.path)); err != nil {
		return u, err
	}
	err = s.view(ctx, func(r *reader) error {
		db := r.tx.DB()
		u.Database.Free = max(0, info.Size()-r.tx.Size()) + int64(db.Stats().FreePageN)*int64(db.Info().PageSize)
		meta := r.table(tableMeta)
		u.Sessions = int64(number(meta.Get(metaSessions)))
		u.Packed.Sessions = int64(number(meta.Get(metaPacked)))
		return r.after(tableSegments, nil, func(_, live []byte) (bool, error) {
			u.Packed.Live += int64(number(live))
			return true, nil
		})
	})
	return u, err
}

// Verify checks every page and key of a file that no process has open, without
// a change to it, and returns its schema version. Errors are those of [Open].
func Verify(path string) (schema uint64, err error) {
	own, err := lockOwner(path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = own.unlock() }() // nothing was written
	return inspect(path, own, Options{LockTimeout: DefaultLockTimeout}, true)
}
