package boltstore

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/internal/journal"
)

// operation is one caller's part of a transaction.
type operation interface {
	// check looks at every precondition and writes nothing. It reports whether
	// there is something to write.
	check(*batch) (bool, error)
	// write makes the changes. An error fails the transaction of all.
	write(*batch) error
	// done runs once everything is durable.
	done(*Store)
}

// request is an operation on its way to the writer.
type request struct {
	op operation
	// size is about how many bytes of values it writes.
	size int
	// alone, if set, is run instead of op, outside of any transaction.
	alone func() error
	err   chan error
}

// writer is what only the writing goroutine uses.
type writer struct {
	commit uint64 // the last id that was given
	// fullUntil spares the disk further tries for a while after it was full.
	fullUntil time.Time
}

// batch is one transaction in the making.
type batch struct {
	reader
	store *Store
	// claims are those of this transaction, by session.
	claims map[string]string
	// adopted are the deliveries that get their row in it, read by source.
	adopted map[uint64]bool
	source  *journal.Reader
	// passed is set when the place changed from which an opening reads the journal.
	passed bool
	dirty  bool
}

// submit hands an operation to the writer and waits until it is durable or
// refused. The wait does not end with ctx: the outcome would not be known.
func (s *Store) submit(ctx context.Context, op operation, size int) error {
	return s.hand(ctx, &request{op: op, size: size, err: make(chan error, 1)})
}

func (s *Store) hand(ctx context.Context, r *request) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.usable(); err != nil {
		return err
	}
	s.gate.RLock()
	if s.closed {
		s.gate.RUnlock()
		return errClosed
	}
	s.ops <- r
	s.gate.RUnlock()
	return <-r.err
}

// write is the writing goroutine.
func (s *Store) write() {
	defer close(s.idle)
	var gathered []*request
	for first := range s.ops {
		for first != nil {
			if first.alone != nil {
				first.err <- first.alone()
				break
			}
			var size int
			var next *request
			gathered, size, next = s.gather(gathered[:0], first)
			s.transact(gathered, size)
			clear(gathered)
			first = next
		}
	}
}

// gather returns first with what waits behind it, as far as one transaction can
// take it, and what then has to be done alone, if anything.
func (s *Store) gather(into []*request, first *request) (gathered []*request, size int, next *request) {
	into, size = append(into, first), first.size
	for len(into) < maxBatch && size < maxBatchBytes {
		select {
		case r, ok := <-s.ops:
			if !ok {
				return into, size, nil
			}
			if r.alone != nil {
				return into, size, r
			}
			into = append(into, r)
			size += r.size
		default:
			return into, size, nil
		}
	}
	return into, size, nil
}

// transact runs one transaction and answers those who wait for it.
func (s *Store) transact(requests []*request, size int) {
	refused := make([]error, len(requests))
	err := s.usable()
	if err == nil {
		err = s.apply(requests, refused, size)
	}
	for i, r := range requests {
		switch {
		case err != nil:
			r.err <- err
		case refused[i] != nil:
			r.err <- refused[i]
		default:
			r.op.done(s)
			r.err <- nil
		}
	}
}

// apply returns an error if nothing of the transaction is stored.
func (s *Store) apply(requests []*request, refused []error, size int) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = s.fail(fmt.Errorf("panic: %v", p))
		}
	}()
	tx, err := s.db.Begin(true)
	if err != nil {
		return s.fail(err)
	}
	b := &batch{reader: reader{tx: tx, undecided: s.undecided}, store: s}
	defer func() {
		if b.source != nil {
			b.source.Close()
		}
		// Also after a panic: what tx holds is thrown away, and the lock is freed.
		if b.tx.DB() != nil {
			_ = b.tx.Rollback()
		}
	}()
	if err := s.makeRoom(tx, size); err != nil {
		return err
	}
	for i, r := range requests {
		writes, err := r.op.check(b)
		if err != nil {
			if !refusal(err) {
				return s.fail(err)
			}
			refused[i] = err
			continue
		}
		if !writes {
			continue
		}
		b.dirty = true
		if err := r.op.write(b); err != nil {
			return s.fail(err)
		}
	}
	if !b.dirty {
		return nil
	}
	return s.commit(b)
}

func (s *Store) commit(b *batch) error {
	if err := b.table(tableMeta).Put(metaCommit, u64(s.writer.commit)); err != nil {
		return s.fail(err)
	}
	if err := s.flushLazy(b); err != nil {
		return s.fail(err)
	}
	if len(b.adopted) > 0 || b.passed {
		first := s.undecided.first(b.adopted)
		if err := b.table(tableMeta).Put(metaJournal, append(u64(first.Segment), u64(uint64(first.Offset))...)); err != nil {
			return s.fail(err)
		}
	}
	if s.opts.BeforeCommit != nil {
		if err := s.opts.BeforeCommit(); err != nil {
			return s.fail(err)
		}
	}
	listFreePages(s.db, b.tx.Size())
	before := b.tx.ID() - 1
	if err := b.tx.Commit(); err != nil {
		return s.commitFailed(err, before)
	}
	s.undecided.remove(b.adopted)
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.lazy)
	for session, item := range b.claims {
		s.claims[session] = item
	}
	return nil
}

// commitFailed tells a file without room, which bbolt has rolled back, from
// everything after which memory and disk may differ.
func (s *Store) commitFailed(cause error, before int) error {
	if !noRoom(cause) {
		return s.fail(cause)
	}
	var now int
	err := s.db.View(func(tx *bolt.Tx) error {
		now = tx.ID()
		return nil
	})
	if err != nil || now != before {
		return s.fail(errors.Join(cause, err))
	}
	return s.full(cause)
}

// full reports that there is no room now.
func (s *Store) full(cause error) error {
	s.writer.fullUntil = s.opts.Now().Add(fullPause)
	return fmt.Errorf("%s has no room to grow (%w): %w: %w", s.path, cause, errFull, state.ErrUnavailable)
}

// flushLazy drops what was confirmed since the last transaction.
func (s *Store) flushLazy(b *batch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for commit := range s.lazy {
		if err := dropLifecycle(b, commit); err != nil {
			return err
		}
	}
	return nil
}

// checkOp is an actual write, for [state.Admin].
type checkOp struct{}

func (checkOp) check(*batch) (bool, error) { return true, nil }

func (checkOp) write(b *batch) error {
	return b.table(tableMeta).Put(metaChecked, u64(uint64(b.store.opts.Now().Unix())))
}

func (checkOp) done(*Store) {}

// Check implements [state.Admin]. Both the file and the journal are written.
func (s *Store) Check(ctx context.Context) error {
	if err := s.submit(ctx, checkOp{}, 0); err != nil {
		return err
	}
	return s.journal.Check()
}
