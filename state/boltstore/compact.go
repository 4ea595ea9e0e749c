package boltstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	bolt "go.etcd.io/bbolt"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/internal/durable"
	"github.com/liaison-bot/liaison/state/internal/volume"
)

const (
	// copyBatch is how many bytes of rows are copied in one transaction.
	copyBatch = 4 << 20
	// compactReserve stays free besides the copy.
	compactReserve = 16 << 20
)

func compactPath(path string) string { return path + ".compact" }

// Compact rewrites the file without its free pages. Commits wait meanwhile, and
// readings go on but for the moment in which the new file takes the old one's
// place. The old file is whole until then and the new one from then on. Errors
// wrap [state.ErrNoSpace] (there is no room for the copy) or
// [state.ErrUnavailable].
func (s *Store) Compact(ctx context.Context) (state.Compaction, error) {
	var done state.Compaction
	r := &request{err: make(chan error, 1)}
	r.alone = func() error {
		begun := s.opts.Now()
		err := s.compact(ctx, &done)
		done.Took = s.opts.Now().Sub(begun)
		return err
	}
	if err := s.hand(ctx, r); err != nil {
		return state.Compaction{}, fmt.Errorf("compact %s: %w", s.path, err)
	}
	return done, nil
}

// compact runs in the writing goroutine: nothing else is written.
func (s *Store) compact(ctx context.Context, done *state.Compaction) error {
	if err := errors.Join(ctx.Err(), s.usable()); err != nil {
		return err
	}
	info, err := os.Stat(s.path)
	if err != nil {
		return err
	}
	done.Before = info.Size()
	if err := s.roomToCompact(info.Size()); err != nil {
		return err
	}
	temp := compactPath(s.path)
	if err := s.copyTo(ctx, temp); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	if s.opts.afterCopy != nil {
		s.opts.afterCopy()
	}
	if err := s.replace(temp); err != nil {
		return err
	}
	if info, err = os.Stat(s.path); err != nil {
		return err
	}
	done.After = info.Size()
	return nil
}

func (s *Store) roomToCompact(size int64) error {
	used := size - int64(s.db.Stats().FreePageN)*int64(s.db.Info().PageSize)
	there, err := volume.Of(filepath.Dir(s.path))
	if err != nil {
		return err
	}
	// Pages are filled to nine tenths, and the file grows in steps.
	if need := used + used/4 + compactReserve; there.Free < need {
		return fmt.Errorf("the copy needs up to %d bytes, and %d are free: %w", need, there.Free, state.ErrNoSpace)
	}
	return nil
}

// copyTo writes all tables to a new file and syncs it.
func (s *Store) copyTo(ctx context.Context, path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	o := boltOptions(s.opts)
	o.NoSync, o.NoGrowSync, o.NoFreelistSync = true, true, false
	dst, file, err := openBolt(path, o)
	if err != nil {
		return err
	}
	err = protect(s.path, func() error {
		return s.db.View(func(from *bolt.Tx) error {
			return from.ForEach(func(name []byte, b *bolt.Bucket) error { return copyTable(ctx, dst, name, b) })
		})
	})
	if err == nil {
		err = errors.Join(dst.Sync(), file.Sync())
	}
	return errors.Join(err, dst.Close())
}

func copyTable(ctx context.Context, dst *bolt.DB, name []byte, from *bolt.Bucket) error {
	c := from.Cursor()
	k, v := c.First()
	for begun := false; !begun || k != nil; begun = true {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := dst.Update(func(tx *bolt.Tx) error {
			to, err := tx.CreateBucketIfNotExists(name)
			if err != nil {
				return err
			}
			to.FillPercent = 0.9 // most of what comes later comes at the end
			if err := to.SetSequence(from.Sequence()); err != nil {
				return err
			}
			for size := 0; k != nil && size < copyBatch; k, v = c.Next() {
				if err := to.Put(k, v); err != nil {
					return err
				}
				size += len(k) + len(v)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("copy table %s: %w", name, err)
		}
	}
	return nil
}

// replace puts a whole file in the place of the store's own and goes on with
// it. The lock of openings keeps other processes away meanwhile.
func (s *Store) replace(temp string) error {
	own, err := lockOwner(s.path)
	if err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	defer func() { _ = own.unlock() }() // it was only read

	s.swap.Lock()
	defer s.swap.Unlock()
	if err := s.db.Close(); err != nil { // waits for readings under way
		return s.fail(err)
	}
	refused := os.Rename(temp, s.path)
	if refused != nil {
		_ = os.Remove(temp)
	} else if err := durable.SyncDir(filepath.Dir(s.path)); err != nil {
		// The old file may come back, and then without what is decided from now on.
		return s.fail(err)
	}
	db, file, err := openBolt(s.path, boltOptions(s.opts))
	if err != nil {
		return s.fail(err)
	}
	s.db, s.file = db, file
	return refused
}

// current returns the open file for a reading.
func (s *Store) current() *bolt.DB {
	s.swap.RLock()
	defer s.swap.RUnlock()
	return s.db
}
