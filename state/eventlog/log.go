package eventlog

import (
	"bytes"
	"container/list"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/internal/durable"
)

const (
	// DefaultMaxOpen is how many sessions keep their file open: far below the
	// usual limit of 1,024 descriptors, and above the turns that run at once.
	DefaultMaxOpen = 128
	// maxKnown is of how many sessions whose file is closed the end is still
	// known, about 500 bytes each: more than are watched at once, so that opening
	// one again does not mean reading the end of it.
	maxKnown = 4096
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
	// Index remembers where packed records are. Without it nothing is packed, and
	// what was packed is not found.
	Index state.PackIndex

	afterStep func(name string)
}

// recordName is the file of a session in its folder.
const recordName = "events.ndjson"

// Log implements [state.EventLog] with a folder of files.
type Log struct {
	dir    string // of the sessions
	packed string // of the segments
	opts   Options

	// packing is held while segments change, before the mutexes of records.
	packing sync.Mutex
	current *segment
	damaged map[uint64]bool // segments in which something cannot be read

	mu     sync.Mutex
	closed bool
	// files are those in use and those of both lists, which begin with what was
	// used last: idle files are open, resting ones closed.
	files         map[string]*file
	idle, resting *list.List
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
	packed := filepath.Join(dir, "packed")
	dir = filepath.Join(dir, "sessions")
	if err := durable.MkdirAll(dir); err != nil {
		return nil, fmt.Errorf("open the event log: %w", err)
	}
	return &Log{dir: dir, packed: packed, opts: opts, files: map[string]*file{}, idle: list.New(), resting: list.New()}, nil
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
	opened, entered, err := l.appendTo(ctx, f, events)
	if err != nil || !sync || opened == nil {
		return err
	}
	return f.sync(opened, entered)
}

// appendTo adds events in one write, and returns what has to be synced, if anything.
func (l *Log) appendTo(ctx context.Context, f *file, events []state.Event) (opened *os.File, entered bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := l.openToWrite(ctx, f, len(events)); err != nil || f.f == nil {
		return nil, false, err
	}
	lines, err := encode(f.next, f.id, events)
	if err != nil {
		return nil, false, err
	}
	err = f.write(lines, int64(len(events)))
	return f.f, f.entered, err
}

// openToWrite opens the file of a session, which gets one if it has none, or a
// packed record. With nothing to append to a packed record f stays closed: what
// is there is synced. f.mu is held.
func (l *Log) openToWrite(ctx context.Context, f *file, events int) error {
	err := f.open(false, l.opts.Logger)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if events == 0 {
		if _, packed, err := l.position(ctx, f.id); err != nil || packed {
			return err
		}
	}
	if err := l.unpack(ctx, f); err != nil {
		return err
	}
	return f.open(true, l.opts.Logger)
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
	l.packing.Lock()
	l.leaveSegment()
	l.packing.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for l.idle.Len() > 0 {
		l.drop(l.idle.Back().Value.(*file))
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
		f = &file{id: sessionID, path: filepath.Join(l.dir, sessionID, recordName)}
		l.files[sessionID] = f
	}
	if f.users++; f.place != nil {
		l.idle.Remove(f.place) // does nothing to an element of the other list
		l.resting.Remove(f.place)
		f.place = nil
	}
	return f, nil
}

// give ends a use. The last user leaves a file open, but of those that are too
// many, the one that was not used for longest is closed, and of those that are
// closed the like is forgotten.
func (l *Log) give(f *file) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f.users--
	switch {
	case f.users > 0:
		return
	case l.closed || !f.known:
		l.drop(f)
		return
	case f.f == nil:
		f.place = l.resting.PushFront(f)
	default:
		f.place = l.idle.PushFront(f)
	}
	for l.idle.Len() > l.opts.MaxOpen {
		oldest := l.idle.Back().Value.(*file)
		l.idle.Remove(oldest.place)
		l.shut(oldest)
		oldest.place = l.resting.PushFront(oldest)
	}
	for l.resting.Len() > maxKnown {
		l.drop(l.resting.Back().Value.(*file))
	}
}

// drop forgets a record that no one uses. l.mu is held.
func (l *Log) drop(f *file) {
	delete(l.files, f.id)
	if f.place != nil {
		l.idle.Remove(f.place)
		l.resting.Remove(f.place)
		f.place = nil
	}
	l.shut(f)
}

// shut closes a file that no one uses. l.mu is held.
func (l *Log) shut(f *file) {
	if f.f == nil {
		return
	}
	if err := f.f.Close(); err != nil {
		l.opts.Logger.Warn("cannot close a record", "file", f.path, "error", err)
	}
	f.f = nil
}
