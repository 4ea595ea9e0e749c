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
	"github.com/liaison-bot/liaison/state/internal/durable"
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
	// rowShare is about what the row and the id of a delivery will take.
	rowShare = 2 << 10
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
	s.used.Store(tx.Size() - int64(s.db.Stats().FreePageN)*int64(s.db.Info().PageSize))
	if runtime.GOOS == "windows" {
		return nil // bbolt grows the file by mapping it
	}
	info, err := s.file.Stat()
	if err != nil {
		return s.fail(err)
	}
	s.fileSize.Store(info.Size())
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

// roomFor reports whether a value of size bytes still fits beside the reserve.
func (s *Store) roomFor(b *batch, size int) error {
	if s.opts.MaxSize <= 0 {
		return nil
	}
	free := int64(s.db.Stats().FreePageN) * int64(s.db.Info().PageSize)
	n, _, _ := s.undecided.size()
	room := growthLimit(s.opts.MaxSize) - b.tx.Size() + free - int64(n)*rowShare
	if room < s.reserve()+2*int64(size)+pageShare {
		return s.nearLimit()
	}
	return nil
}

// roomForDelivery reports whether deliveries that take so many bytes of the
// journal, and rows in the file, still fit beside the reserve, and whether there
// is memory to remember them.
func (s *Store) roomForDelivery(arriving int64) error {
	n, _, _ := s.undecided.size()
	if n > 2*s.opts.MaxUndecided {
		return fmt.Errorf("%d deliveries wait for a decision or for room in %s: %w: %w", n, s.path, errFull, state.ErrUnavailable)
	}
	if s.opts.MaxSize <= 0 {
		return nil
	}
	need := s.used.Load() + int64(n)*rowShare + s.reserve() + pageShare
	size := s.fileSize.Load()
	// Deciding about what is there may make the file grow once more.
	size = max(size, need) + max(minGrow, min(size, growStep))
	if need > growthLimit(s.opts.MaxSize) || size+s.journal.Size()+arriving > s.opts.MaxSize {
		return s.nearLimit()
	}
	return nil
}

func (s *Store) reserve() int64 { return min(decisionReserve, s.opts.MaxSize/8) }

func (s *Store) nearLimit() error {
	return fmt.Errorf("%s is near its limit of %d bytes, and what is left is kept for decisions: %w: %w",
		s.path, s.opts.MaxSize, errFull, state.ErrUnavailable)
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
	return ok && path.Op == "write" && durable.OutOfSpace(path.Err)
}
