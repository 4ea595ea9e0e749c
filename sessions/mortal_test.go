package sessions

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/memstore"
)

// mortalStore dies at its n-th write, which is applied or not.
type mortalStore struct {
	*memstore.Store
	mu      sync.Mutex
	left    int // writes until death; negative lives for ever
	applies bool
	dead    bool
}

// gone counts a write and reports whether the process is dead before it and
// whether it dies after it.
func (s *mortalStore) gone() (before, after bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dead {
		return true, false
	}
	if s.left--; s.left == 0 {
		s.dead = true
		return !s.applies, true
	}
	return false, false
}

func (s *mortalStore) isDead() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dead
}

var errDead = fmt.Errorf("the process is dead: %w", state.ErrUnavailable)

func (s *mortalStore) Commit(ctx context.Context, c state.Change) (uint64, error) {
	before, after := s.gone()
	if before {
		return 0, errDead
	}
	id, err := s.Store.Commit(ctx, c)
	if after {
		return 0, errDead
	}
	return id, err
}

func (s *mortalStore) ClaimOutbox(ctx context.Context, now time.Time, limit int) ([]state.OutboxItem, error) {
	before, after := s.gone()
	if before {
		return nil, errDead
	}
	items, err := s.Store.ClaimOutbox(ctx, now, limit)
	if after {
		return nil, errDead
	}
	return items, err
}

// lossyLog forgets at a crash what was not synced, or a part of it.
type lossyLog struct {
	mu     sync.Mutex
	events map[string][]state.Event
	synced map[string]int
}

func newLossyLog() *lossyLog {
	return &lossyLog{events: map[string][]state.Event{}, synced: map[string]int{}}
}

func (l *lossyLog) Append(_ context.Context, id string, sync bool, events ...state.Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, ev := range events {
		ev.Index = int64(len(l.events[id]))
		l.events[id] = append(l.events[id], ev)
	}
	if sync {
		l.synced[id] = len(l.events[id])
	}
	return nil
}

func (l *lossyLog) Read(_ context.Context, id string, from int64) iter.Seq2[state.Event, error] {
	return func(yield func(state.Event, error) bool) {
		l.mu.Lock()
		have := l.events[id]
		l.mu.Unlock()
		for _, ev := range have[from:] {
			if !yield(ev, nil) {
				return
			}
		}
	}
}

func (l *lossyLog) Len(_ context.Context, id string) (int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int64(len(l.events[id])), nil
}

func (l *lossyLog) HasCommit(ctx context.Context, id string, commit uint64, typ string) (bool, error) {
	for ev := range l.Read(ctx, id, 0) {
		if ev.Commit == commit && ev.Type == typ {
			return true, nil
		}
	}
	return false, nil
}

func (l *lossyLog) Close() error { return nil }

func (l *lossyLog) crash(pick func(int) int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, have := range l.events {
		keep := l.synced[id]
		keep += pick(len(have) - keep + 1)
		l.events[id] = have[:keep:keep]
	}
}
