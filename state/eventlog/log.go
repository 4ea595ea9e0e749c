package eventlog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/internal/durable"
)

const (
	// DefaultMaxOpen is how many sessions keep their file open: far below the
	// usual limit of 1,024 descriptors, and above the turns that run at once.
	DefaultMaxOpen = 128
	// MaxLine bounds one line in bytes, its newline included. What an event
	// carries is cut well below by those who write it.
	MaxLine = 4 << 20
)

// Options configures a log. The zero value is usable.
type Options struct {
	// MaxOpen bounds the files that are kept open; [DefaultMaxOpen] if zero.
	MaxOpen int
	// Logger is told what was cut off; nothing is logged if nil.
	Logger *slog.Logger
}

// Log implements [state.EventLog] with a folder of files.
type Log struct {
	dir  string
	opts Options

	mu     sync.Mutex
	closed bool
	files  map[string]*file
	clock  uint64 // counts uses, to find the file that was not used for longest
}

var _ state.EventLog = (*Log)(nil)

var errClosed = errors.New("the event log is closed")

// Open opens the log below dir, which it creates if there is none.
func Open(dir string, opts Options) (*Log, error) {
	if opts.MaxOpen <= 0 {
		opts.MaxOpen = DefaultMaxOpen
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	dir = filepath.Join(dir, "sessions")
	if err := durable.MkdirAll(dir); err != nil {
		return nil, fmt.Errorf("open the event log: %w", err)
	}
	return &Log{dir: dir, opts: opts, files: map[string]*file{}}, nil
}

// Append implements [state.EventLog]. Lifecycle events of one session should be
// appended in about the order of their commits: [Log.HasCommit] relies on it.
// After an error the events may or may not be in the log.
func (l *Log) Append(ctx context.Context, sessionID string, sync bool, events ...state.Event) error {
	if err := l.append(ctx, sessionID, sync, events); err != nil {
		return fmt.Errorf("append to session %q: %w", sessionID, err)
	}
	return nil
}

func (l *Log) append(ctx context.Context, sessionID string, sync bool, events []state.Event) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f, err := l.take(sessionID)
	if err != nil {
		return err
	}
	defer l.give(f)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.open(true, l.opts.Logger); err != nil {
		return err
	}
	lines, err := encode(f.next, sessionID, events)
	if err != nil {
		return err
	}
	return f.write(lines, int64(len(events)), sync)
}

// encode makes the lines of events whose first has index next.
func encode(next int64, sessionID string, events []state.Event) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false) // people read the file
	for i, e := range events {
		if e.SessionID != sessionID {
			return nil, fmt.Errorf("an event of session %q: %w", e.SessionID, state.ErrInvalid)
		}
		e.Index = next + int64(i)
		if len(e.Data) == 0 {
			e.Data = json.RawMessage("{}")
		}
		before := buf.Len()
		if err := enc.Encode(e); err != nil {
			return nil, fmt.Errorf("an event of type %s: %w: %w", e.Type, err, state.ErrInvalid)
		}
		if n := buf.Len() - before; n > MaxLine {
			return nil, fmt.Errorf("an event of type %s has %d bytes, more than %d: %w", e.Type, n, MaxLine, state.ErrInvalid)
		}
	}
	return buf.Bytes(), nil
}

// Close implements [state.EventLog]. Appends under way finish.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for _, f := range l.files {
		if f.users == 0 {
			l.drop(f)
		}
	}
	return nil
}

// take returns the record of a session for use until it is given back.
func (l *Log) take(sessionID string) (*file, error) {
	if !state.ValidSessionID(sessionID) {
		return nil, fmt.Errorf("no id of a session: %w", state.ErrInvalid)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, errClosed
	}
	f := l.files[sessionID]
	if f == nil {
		f = &file{id: sessionID, path: filepath.Join(l.dir, sessionID, "events.ndjson")}
		l.files[sessionID] = f
	}
	f.users++
	l.clock++
	f.used = l.clock
	return f, nil
}

// give ends a use. It closes what need not stay open: everything after Close,
// a record that was not there, and what was used least recently above the bound.
func (l *Log) give(f *file) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f.users--
	if f.users == 0 && (l.closed || f.f == nil) {
		l.drop(f)
	}
	for len(l.files) > l.opts.MaxOpen {
		var oldest *file
		for _, other := range l.files {
			if other.users == 0 && (oldest == nil || other.used < oldest.used) {
				oldest = other
			}
		}
		if oldest == nil {
			return // all are in use
		}
		l.drop(oldest)
	}
}

// drop forgets a record that no one uses. l.mu is held.
func (l *Log) drop(f *file) {
	delete(l.files, f.id)
	if f.f == nil {
		return
	}
	if err := f.f.Close(); err != nil {
		l.opts.Logger.Warn("cannot close a record", "file", f.path, "error", err)
	}
	f.f = nil
}
