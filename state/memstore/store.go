package memstore

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/internal/rules"
)

// Options configures a store. The zero value is usable.
type Options struct {
	// Now is the clock; time.Now if nil.
	Now func() time.Time
	// BeforeCommit stands for the disk in tests of failures. An error from it
	// fails the write as a failed sync would: the store can no longer be trusted.
	BeforeCommit func() error
}

// Store implements [state.Store].
type Store struct {
	opts     Options
	epoch    uint64
	accepted chan struct{}
	added    chan struct{}
	failed   chan struct{}

	mu sync.Mutex
	// data outlives a store that is reopened.
	data   *data
	claims map[string]string // lane → claimed outbox item
	err    error             // why nothing can be done any more
}

var _ state.Store = (*Store)(nil)

// New returns an empty store.
func New(opts Options) *Store {
	return open(opts, newData())
}

func open(opts Options, d *data) *Store {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	d.epoch++
	return &Store{
		opts:     opts,
		epoch:    d.epoch,
		accepted: make(chan struct{}, 1),
		added:    make(chan struct{}, 1),
		failed:   make(chan struct{}),
		data:     d,
		claims:   map[string]string{},
	}
}

// Reopen closes the store, if it is open, and opens what it held anew, as a new
// process would: with the next epoch and without claims.
func (s *Store) Reopen() *Store {
	_ = s.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	return open(s.opts, s.data)
}

// Accept implements [state.Inbox].
func (s *Store) Accept(ctx context.Context, d state.Delivery) (state.Outcome, error) {
	if err := rules.Accept(d); err != nil {
		return 0, err
	}
	var outcome state.Outcome
	err := s.write(ctx, func() error {
		outcome = s.data.accept(d)
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("accept delivery %s:%s: %w", d.Source, d.ID, err)
	}
	if outcome != state.Duplicate {
		signal(s.accepted)
	}
	return outcome, nil
}

// Commit implements [state.Committer].
func (s *Store) Commit(ctx context.Context, c state.Change) (uint64, error) {
	if err := rules.Valid(c); err != nil {
		return 0, err
	}
	var id uint64
	err := s.write(ctx, func() error {
		if err := rules.Check(c, view{s.data}, s.epoch); err != nil {
			return err
		}
		id = s.data.apply(c, s.opts.Now())
		for _, settled := range c.Settle {
			lane := rules.Lane(s.data.outbox[settled.ID].OutboxItem)
			if s.claims[lane] == settled.ID {
				delete(s.claims, lane)
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	for _, u := range c.Deliveries {
		if u.Status == state.DeliveryPending {
			signal(s.accepted)
		}
	}
	if len(c.Outbox)+len(c.Settle) > 0 {
		signal(s.added)
	}
	return id, nil
}

// Epoch implements [state.Committer].
func (s *Store) Epoch() uint64 { return s.epoch }

// Accepted implements [state.Queue].
func (s *Store) Accepted() <-chan struct{} { return s.accepted }

// OutboxAdded implements [state.Outbox].
func (s *Store) OutboxAdded() <-chan struct{} { return s.added }

// Check implements [state.Admin].
func (s *Store) Check(ctx context.Context) error {
	return s.write(ctx, func() error { return nil })
}

// Failed implements [state.Admin].
func (s *Store) Failed() <-chan struct{} { return s.failed }

// Close implements [state.Admin].
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = fmt.Errorf("the store is closed: %w", state.ErrUnavailable)
	}
	return nil
}

// write runs fn, which changes nothing if it fails, as one transaction.
func (s *Store) write(ctx context.Context, fn func() error) error {
	return s.locked(ctx, func() error {
		if s.opts.BeforeCommit != nil {
			if err := s.opts.BeforeCommit(); err != nil {
				s.err = fmt.Errorf("the store failed (%w): %w", err, state.ErrUnavailable)
				close(s.failed)
				return s.err
			}
		}
		return fn()
	})
}

// locked runs fn while nothing else runs.
func (s *Store) locked(ctx context.Context, fn func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	return fn()
}

func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
