package boltstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/internal/journal"
	"github.com/liaison-bot/liaison/state/internal/rules"
)

// Store implements [state.Store] over one bbolt file.
type Store struct {
	opts  Options
	path  string
	db    *bolt.DB // the writing goroutine's; others use current
	file  *os.File // bbolt's own handle
	epoch uint64

	journal   *journal.Journal
	undecided *undecided
	recent    *recent
	accepted  chan struct{}
	added     chan struct{}

	// failure is why nothing can be trusted any more.
	failure atomic.Pointer[error]
	failed  chan struct{}

	// swap is held while db is replaced, and for reading while it is looked up.
	swap sync.RWMutex
	// crowded asks for rows of undecided deliveries; spilling is closed to end
	// that, and spilled once it has ended.
	crowded           chan struct{}
	spilling, spilled chan struct{}
	// removal is held for reading between finding where a body is and reading it.
	removal sync.RWMutex
	// crammed are segments of the journal that are mostly needed. Only reclaim,
	// of which one runs at a time, uses it.
	crammed map[uint64]bool
	// arriving is how many bytes are on their way into the journal, used and
	// fileSize what the file needed and had at the last transaction.
	arriving, used, fileSize atomic.Int64

	// gate is held for reading while an operation is handed to the writer.
	gate   sync.RWMutex
	closed bool
	ops    chan *request
	idle   chan struct{} // closed when the writer has ended

	// claims holds the outbox item that is claimed in each session, and lazy the
	// confirmations that wait for the next transaction.
	mu     sync.Mutex
	claims map[string]string
	lazy   map[uint64]bool

	writer writer
}

var _ state.Store = (*Store)(nil)

// start counts the epoch and sets the writer going.
func start(db *bolt.DB, file *os.File, path string, version uint64, suspect bool, opts Options) (*Store, error) {
	if err := migrate(db, path, version, opts.Now()); err != nil {
		return nil, err
	}
	s := &Store{
		opts: opts, path: path, db: db, file: file,
		undecided: newUndecided(),
		crammed:   map[uint64]bool{},
		recent:    newRecent(recentIDs),
		crowded:   make(chan struct{}, 1),
		spilling:  make(chan struct{}),
		spilled:   make(chan struct{}),
		accepted:  make(chan struct{}, 1),
		added:     make(chan struct{}, 1),
		failed:    make(chan struct{}),
		ops:       make(chan *request, maxBatch),
		idle:      make(chan struct{}),
		claims:    map[string]string{},
		lazy:      map[uint64]bool{},
	}
	err := update(db, path, func(tx *bolt.Tx) error {
		meta := tx.Bucket([]byte(tableNames[tableMeta]))
		s.epoch = number(meta.Get(metaEpoch)) + 1
		s.writer.commit = number(meta.Get(metaCommit))
		if len(meta.Get(metaLineage)) != len(journal.Lineage{}) {
			lineage := make([]byte, len(journal.Lineage{}))
			if _, err := opts.Rand.Read(lineage); err != nil {
				return err
			}
			if err := meta.Put(metaLineage, lineage); err != nil {
				return err
			}
		}
		return meta.Put(metaEpoch, u64(s.epoch))
	})
	if err != nil {
		return nil, fmt.Errorf("count the opening of %s: %w", path, err)
	}
	if err := s.openJournal(opts.Verify || suspect); err != nil {
		return nil, err
	}
	go s.write()
	go s.spill()
	return s, nil
}

// Epoch implements [state.Committer].
func (s *Store) Epoch() uint64 { return s.epoch }

// Accepted implements [state.Queue].
func (s *Store) Accepted() <-chan struct{} { return s.accepted }

// OutboxAdded implements [state.Outbox].
func (s *Store) OutboxAdded() <-chan struct{} { return s.added }

// Failed implements [state.Admin].
func (s *Store) Failed() <-chan struct{} { return s.failed }

// Close implements [state.Admin]. Operations that were handed over before are
// finished first. A second call does nothing.
func (s *Store) Close() error {
	s.gate.Lock()
	if s.closed {
		s.gate.Unlock()
		<-s.idle
		return nil
	}
	s.closed = true
	close(s.spilling)
	close(s.ops)
	s.gate.Unlock()
	<-s.idle
	<-s.spilled

	errs := []error{s.journal.Close()}
	own, err := lockOwner(s.path)
	errs = append(errs, err)
	if s.failure.Load() == nil {
		errs = append(errs, s.settle())
	}
	errs = append(errs, s.db.Close())
	if own != nil {
		errs = append(errs, own.write(0), own.unlock())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close the state: %w", err)
	}
	return nil
}

// settle leaves nothing to do for the next opening: it applies what was lazy
// and lists the free pages, however many.
func (s *Store) settle() error {
	return protect(s.path, func() error {
		s.db.NoFreelistSync = false
		return s.db.Update(func(tx *bolt.Tx) error {
			return s.flushLazy(&batch{store: s, reader: reader{tx: tx, undecided: s.undecided}})
		})
	})
}

const (
	// listedAlways is up to how many free pages are listed in each commit whatever
	// the size of the file: the list then takes no more than 32 KiB.
	listedAlways = 4096
	// listedShare is the part of all pages, one in so many, that is listed in a
	// larger file, where the search that the list spares takes longer: of 6 GB a
	// list of at most 200 KB, and not half a minute of reading.
	listedShare = 64
)

// maxListed is how many free pages are listed in a file of so many pages.
func maxListed(pages int64) int { return int(max(listedAlways, pages/listedShare)) }

// listFreePages decides whether the next commit lists the free pages of a file
// of size bytes. With the list the next opening need not search for them; a long
// list makes each commit slow. See docs/decisions/0001-bbolt-freelist.md.
func listFreePages(db *bolt.DB, size int64) {
	stats := db.Stats()
	db.NoFreelistSync = stats.FreePageN+stats.PendingPageN > maxListed(size/int64(db.Info().PageSize))
}

// update runs one transaction besides those of the writer.
func update(db *bolt.DB, path string, fn func(*bolt.Tx) error) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	listFreePages(db, info.Size())
	return protect(path, func() error { return db.Update(fn) })
}

// usable returns why the store cannot be used.
func (s *Store) usable() error {
	if failure := s.failure.Load(); failure != nil {
		return *failure
	}
	return nil
}

var errClosed = fmt.Errorf("the store is closed: %w", state.ErrUnavailable)

// open returns why the store cannot be used, also when it is closed.
func (s *Store) open() error {
	s.gate.RLock()
	defer s.gate.RUnlock()
	if s.closed {
		return errClosed
	}
	return s.usable()
}

// fail ends the trust in the store.
func (s *Store) fail(cause error) error {
	err := fmt.Errorf("writing %s failed, and what it holds must be checked (%w): %w",
		s.path, cause, state.ErrUnavailable)
	if s.failure.CompareAndSwap(nil, &err) {
		s.opts.Logger.Error("the state cannot be trusted any more; leave and start again", "file", s.path, "error", cause)
		// The next opening checks the whole file, if this much can still be written.
		if f, ferr := os.OpenFile(suspectPath(s.path), os.O_CREATE|os.O_WRONLY, 0o600); ferr == nil {
			_ = f.Close()
		}
		close(s.failed)
	}
	return s.usable()
}

// view runs fn in a read transaction. Nothing of bbolt may outlive it.
func (s *Store) view(ctx context.Context, fn func(*reader) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.usable(); err != nil {
		return err
	}
	db := s.current()
	err := protect(s.path, func() error {
		return db.View(func(tx *bolt.Tx) error { return fn(&reader{tx: tx, undecided: s.undecided}) })
	})
	if failure := s.usable(); failure != nil {
		return failure // it may have failed meanwhile
	}
	if errors.Is(err, bolterrors.ErrDatabaseNotOpen) && s.current() != db {
		return s.view(ctx, fn) // a compaction replaced it
	}
	if errors.Is(err, bolterrors.ErrDatabaseNotOpen) {
		return errClosed
	}
	return err
}

// protect runs fn, which uses pages of the file. bbolt panics at some damaged
// pages, and follows others out of the mapping, which is a fault.
func protect(path string, fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: %v; restore a backup: %w", path, p, state.ErrCorrupt)
		}
	}()
	return fn()
}

// refusal keeps what callers branch on apart from the engine's own faults.
func refusal(err error) bool {
	_, claimed := errors.AsType[*state.FactClaimedError](err)
	_, spent := errors.AsType[*state.BudgetError](err)
	return claimed || spent || errors.Is(err, state.ErrConflict) || errors.Is(err, state.ErrFenced) ||
		errors.Is(err, state.ErrNotFound) || errors.Is(err, state.ErrExists) ||
		errors.Is(err, state.ErrInvalid) || errors.Is(err, errFull)
}

var _ rules.View = (*reader)(nil)

func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
