package memstore

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/liaison-bot/liaison/state"
)

var errLogClosed = errors.New("the event log is closed")

// EventLog implements [state.EventLog].
type EventLog struct {
	mu     sync.Mutex
	events map[string][]state.Event
	closed bool
}

var _ state.EventLog = (*EventLog)(nil)

// NewEventLog returns an empty log.
func NewEventLog() *EventLog {
	return &EventLog{events: map[string][]state.Event{}}
}

// Append implements [state.EventLog].
func (l *EventLog) Append(ctx context.Context, sessionID string, _ bool, events ...state.Event) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !state.ValidSessionID(sessionID) {
		return fmt.Errorf("append to session %q: %w", sessionID, state.ErrInvalid)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return fmt.Errorf("append to session %s: %w", sessionID, errLogClosed)
	}
	have := l.events[sessionID]
	for _, e := range events {
		if e.SessionID != sessionID {
			return fmt.Errorf("append to session %s: an event of session %q: %w", sessionID, e.SessionID, state.ErrInvalid)
		}
		e.Index = int64(len(have))
		e.Data = slices.Clone(e.Data)
		if len(e.Data) == 0 {
			e.Data = []byte("{}")
		}
		have = append(have, e)
	}
	l.events[sessionID] = have
	return nil
}

// Read implements [state.EventLog].
func (l *EventLog) Read(ctx context.Context, sessionID string, from int64) iter.Seq2[state.Event, error] {
	return func(yield func(state.Event, error) bool) {
		l.mu.Lock()
		have := l.events[sessionID]
		l.mu.Unlock()
		for _, e := range have[min(max(from, 0), int64(len(have))):] {
			if err := ctx.Err(); err != nil {
				yield(state.Event{}, err)
				return
			}
			e.Data = slices.Clone(e.Data)
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Len implements [state.EventLog].
func (l *EventLog) Len(ctx context.Context, sessionID string) (int64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int64(len(l.events[sessionID])), ctx.Err()
}

// HasCommit implements [state.EventLog].
func (l *EventLog) HasCommit(ctx context.Context, sessionID string, commit uint64, typ string) (bool, error) {
	for e, err := range l.Read(ctx, sessionID, 0) {
		if err != nil {
			return false, err
		}
		if commit != 0 && e.Commit == commit && e.Type == typ {
			return true, nil
		}
	}
	return false, nil
}

// Close implements [state.EventLog].
func (l *EventLog) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	return nil
}
