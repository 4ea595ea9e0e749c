package boltstore

import (
	"io"
	"log/slog"
	"time"
)

// Options configures a store. The zero value is usable.
type Options struct {
	// Now is the clock; time.Now if nil.
	Now func() time.Time
	// Logger receives what an operator should know; nothing is logged if nil.
	Logger *slog.Logger
	// MaxSize is the size in bytes that the file shall not exceed; zero means no
	// limit, otherwise at least [MinMaxSize]. Set it below the size of the
	// volume: then a full file is refused cleanly, before the disk is full.
	// Deliveries, for which the journal counts too, are refused while a part is
	// still free for decisions.
	MaxSize int64
	// LockTimeout is how long to wait for another process to release the file;
	// [DefaultLockTimeout] if zero.
	LockTimeout time.Duration
	// Verify checks the whole file, every key of it, before it is used. It
	// takes time in proportion to the file. Open does so by itself after a store
	// has failed.
	Verify bool
	// BeforeCommit is for tests of failures: it is called before each commit and
	// each flush of the journal, and an error from it fails that as an I/O error would.
	BeforeCommit func() error
	// Rand is where a new store takes what its journal is known by; crypto/rand if nil.
	Rand io.Reader
	// MaxUndecided is how many deliveries may be known from the journal only;
	// [DefaultMaxUndecided] if zero. The oldest of more get their rows in the file,
	// and of twice as many further ones are refused.
	MaxUndecided int

	afterCopy func() // of a compaction, before the new file is in place
}

const (
	// DefaultLockTimeout is long enough for a predecessor that is on its way out
	// and short enough for a person who waits for the message.
	DefaultLockTimeout = 3 * time.Second
	// DefaultMaxUndecided bounds memory to some 20 MB, however long nothing is decided.
	DefaultMaxUndecided = 100_000
	// MinMaxSize leaves room for the tables and a few bodies.
	MinMaxSize = 1 << 20
)

const (
	// initialMmap avoids remapping, which waits for every reader, until the file
	// is larger. It is address space, not memory.
	initialMmap = 1 << 30
	// maxBatch bounds the operations of one transaction, and so how long the
	// first of them waits.
	maxBatch = 1024
	// maxBatchBytes bounds the values of one transaction.
	maxBatchBytes = 8 << 20
	// recentIDs is how many delivery ids are remembered at least, to answer a
	// redelivery without a look at the file: some 3 MB at most.
	recentIDs = 16384
)
