package boltstore

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/liaison-bot/liaison/state"
)

// errFull marks an operation that was refused for want of room.
var errFull = errors.New("full")

const (
	// fullPause is for how long writes are refused at once after the disk was
	// full: bbolt searches the whole file for free pages after each such try.
	fullPause = time.Second
	// The file grows by as much as it has, within these bounds: each growth is a
	// flush. The upper one is bbolt's own step.
	minGrow  = 256 << 10
	growStep = 16 << 20
	// decisionReserve is kept free of deliveries, so that what was accepted can
	// still be decided, and an eighth of a small limit.
	decisionReserve = 4 << 20
	// pageShare is about what a value costs besides itself: pages along the way
	// to it that are written anew.
	pageShare = 16 << 10
)

// makeRoom grows the file for a transaction of about size bytes. bbolt would do
// it too, but says it with an error that cannot be told from a failed sync.
func (s *Store) makeRoom(tx *bolt.Tx, size int) error {
	if !s.writer.fullUntil.IsZero() {
		if s.opts.Now().Before(s.writer.fullUntil) {
			return s.full(errors.New("tried a moment ago"))
		}
		s.writer.fullUntil = time.Time{}
	}
	if runtime.GOOS == "windows" {
		return nil // bbolt grows the file by mapping it
	}
	info, err := s.file.Stat()
	if err != nil {
		return s.fail(err)
	}
	need := tx.Size() + 2*int64(size) + 4*pageShare
	if need <= info.Size() {
		return nil
	}
	target := need + max(minGrow, min(need, growStep))
	if s.opts.MaxSize > 0 {
		target = min(target, s.opts.MaxSize)
	}
	if target <= info.Size() {
		return nil
	}
	if err := s.file.Truncate(target); err != nil {
		return s.full(err)
	}
	if err := s.file.Sync(); err != nil {
		return s.fail(err)
	}
	return nil
}

// roomFor reports whether a delivery of size bytes still fits beside the reserve.
func (s *Store) roomFor(b *batch, size int) error {
	if s.opts.MaxSize <= 0 {
		return nil
	}
	free := int64(s.db.Stats().FreePageN) * int64(s.db.Info().PageSize)
	room := growthLimit(s.opts.MaxSize) - b.tx.Size() + free
	reserve := min(decisionReserve, s.opts.MaxSize/8)
	if room < reserve+2*int64(size)+pageShare {
		return fmt.Errorf("%s is near its limit of %d bytes, and what is left is kept for decisions: %w: %w",
			s.path, s.opts.MaxSize, errFull, state.ErrUnavailable)
	}
	return nil
}

// growthLimit is up to where bbolt lets the pages go under a limit: it counts
// the step by which it would grow, or the next power of two of a small file.
func growthLimit(limit int64) int64 {
	if limit > 2*growStep {
		return limit - growStep
	}
	power := int64(1)
	for power*2 <= min(limit, growStep) {
		power *= 2
	}
	return power
}

// noRoom reports whether a commit failed for want of room while pages were
// written, before anything could be lost.
func noRoom(err error) bool {
	if errors.Is(err, bolterrors.ErrMaxSizeReached) {
		return true
	}
	path, ok := errors.AsType[*fs.PathError](err)
	return ok && path.Op == "write" && outOfSpace(path.Err)
}
