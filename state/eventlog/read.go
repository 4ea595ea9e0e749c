package eventlog

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"sync"

	"github.com/liaison-bot/liaison/state"
)

// Read implements [state.EventLog]. It holds no lock while it yields. Reading
// from where an earlier reading ended costs nothing when nothing came, and a
// few short reads otherwise, however long the record is.
func (l *Log) Read(ctx context.Context, sessionID string, from int64) iter.Seq2[state.Event, error] {
	return func(yield func(state.Event, error) bool) {
		err := l.read(ctx, sessionID, max(from, 0), yield)
		if err != nil {
			yield(state.Event{}, fmt.Errorf("read session %q: %w", sessionID, err))
		}
	}
}

func (l *Log) read(ctx context.Context, sessionID string, from int64, yield func(state.Event, error) bool) error {
	end, err := l.Len(ctx, sessionID)
	if err != nil {
		return err
	}
	buf, _ := chunks.Get().(*[]byte)
	if buf == nil {
		buf = new([]byte)
		*buf = make([]byte, chunkSize)
	}
	defer chunks.Put(buf)
	for at := (mark{index: from, offset: -1}); at.index < end; {
		lines, err := l.chunk(ctx, sessionID, &at, *buf)
		if err != nil {
			return err
		}
		for at.index < end && len(lines) > 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			length := bytes.IndexByte(lines, '\n')
			var e state.Event
			if err := json.Unmarshal(lines[:length], &e); err != nil || e.Index != at.index {
				return l.corrupt(sessionID, at.index, err)
			}
			lines = lines[length+1:]
			at.index, at.offset = at.index+1, at.offset+int64(length)+1
			if !yield(e, nil) {
				return nil
			}
		}
	}
	return nil
}

// chunkSize is how much is read at once, and so what a reader that takes its
// time holds: of thousands of them, too.
const chunkSize = 16 << 10

// chunks lends buffers of chunkSize.
var chunks sync.Pool

// chunk returns whole lines from the one with at's index on, which is there. The
// file is not open afterwards, however long a reader takes. at.offset is where
// that line begins, or negative if that is not known yet, and then set.
func (l *Log) chunk(ctx context.Context, sessionID string, at *mark, buf []byte) ([]byte, error) {
	for range findTries {
		f, p, err := l.reader(ctx, sessionID, at.index)
		switch {
		case err != nil:
			return nil, err
		case f != nil:
			return f.chunk(at, buf)
		case p == nil:
			return nil, l.corrupt(sessionID, at.index, nil)
		}
		lines, err := l.packedChunk(ctx, sessionID, *p, at)
		if !errors.Is(err, errMoved) {
			return lines, err
		}
	}
	return nil, errMoved
}

// chunk reads whole lines of a file, and closes it.
func (r *record) chunk(at *mark, buf []byte) (_ []byte, err error) {
	defer func() { _ = r.Close() }() // nothing was written
	if at.offset < 0 {
		if at.offset, err = offsetOf(r, at.index); err != nil {
			return nil, err
		}
	}
	for {
		n, err := r.section(at.offset).Read(buf)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if end := bytes.LastIndexByte(buf[:n], '\n') + 1; end > 0 {
			return buf[:end], nil
		}
		if n < len(buf) || n > MaxLine {
			return nil, r.corrupt(at.index, nil)
		}
		buf = make([]byte, 4*len(buf)) // a long line
	}
}

// Len implements [state.EventLog].
func (l *Log) Len(ctx context.Context, sessionID string) (int64, error) {
	n, err := l.len(ctx, sessionID)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return 0, fmt.Errorf("count the events of session %q: %w", sessionID, err)
	}
	return n, nil
}

func (l *Log) len(ctx context.Context, sessionID string) (int64, error) {
	f, err := l.take(sessionID)
	if err != nil {
		return 0, err
	}
	defer l.give(f)
	f.mu.Lock()
	defer f.mu.Unlock()
	err = f.open(false, l.opts.Logger)
	if errors.Is(err, fs.ErrNotExist) {
		p, _, err := l.position(ctx, sessionID)
		return p.Events, err
	}
	return f.next, err
}

func (l *Log) corrupt(sessionID string, index int64, cause error) error {
	return corrupt(filepath.Join(l.dir, sessionID, recordName), index, cause)
}

// record is a file opened for reading, up to the size that it had then.
type record struct {
	*os.File
	size int64
	near mark // at or before what will be read
}

func (r *record) section(from int64) io.Reader { return io.NewSectionReader(r, from, r.size-from) }

func (r *record) corrupt(index int64, cause error) error { return corrupt(r.Name(), index, cause) }

func corrupt(name string, index int64, cause error) error {
	if cause == nil || errors.Is(cause, io.EOF) {
		cause = errors.New("it is missing or out of order")
	}
	return fmt.Errorf("event %d in %s (%w): %w", index, name, cause, state.ErrCorrupt)
}

// reader opens the whole lines of a session, or says where its packed record
// is. It returns neither if there is no line with an index of from or above.
func (l *Log) reader(ctx context.Context, sessionID string, from int64) (*record, *state.PackedRecord, error) {
	f, err := l.take(sessionID)
	if err != nil {
		return nil, nil, err
	}
	defer l.give(f)
	f.mu.Lock()
	defer f.mu.Unlock()
	err = f.open(false, l.opts.Logger)
	if errors.Is(err, fs.ErrNotExist) {
		p, found, err := l.position(ctx, sessionID)
		if err != nil || !found || from >= p.Events {
			return nil, nil, err
		}
		return nil, &p, nil
	}
	if err != nil || from >= f.next {
		return nil, nil, err
	}
	opened, err := os.Open(f.path)
	if err != nil {
		return nil, nil, err
	}
	return &record{opened, f.size, f.before(from)}, nil, nil
}

// offsetOf finds the line with an index that is there: indexes are dense and
// ordered, so that half of what is left can be ruled out with each line read.
func offsetOf(r *record, index int64) (int64, error) {
	if index == r.near.index {
		return r.near.offset, nil
	}
	// The line begins in [low, high), and a line begins at low.
	low, high := r.near.offset, r.size
	for high-low > searchStep {
		middle := low + (high-low)/2
		lines := newLines(r.section(middle))
		skipped, err := lines.skip()
		at := middle + skipped
		if errors.Is(err, io.EOF) || err == nil && at >= high {
			break // a long line: it is the last of these
		}
		if err != nil {
			return 0, err
		}
		line, err := lines.next()
		if err != nil {
			return 0, r.corrupt(index, err)
		}
		h, ok := parseHead(line)
		switch {
		case !ok:
			return 0, r.corrupt(index, nil)
		case h.Index == index:
			return at, nil
		case h.Index < index:
			low = at
		default:
			high = middle + 1 // the line may have begun before the middle
		}
	}
	return scanTo(r, low, index)
}

// searchStep is what is read line by line in the end.
const searchStep = 32 << 10

// scanTo looks for the line with an index from an offset at which a line begins.
func scanTo(r *record, at, index int64) (int64, error) {
	lines := newLines(r.section(at))
	for {
		line, err := lines.next()
		if err != nil {
			return 0, r.corrupt(index, err)
		}
		if h, ok := parseHead(line); ok && h.Index == index {
			return at, nil
		} else if !ok || h.Index > index {
			return 0, r.corrupt(index, nil)
		}
		at += int64(len(line)) + 1
	}
}

// lines reads lines of bounded length.
type lines struct {
	r   *bufio.Reader
	buf []byte
}

func newLines(r io.Reader) *lines { return &lines{r: bufio.NewReaderSize(r, 4<<10)} }

// next returns a line without its newline, valid until the next call. A last
// line without newline is not one.
func (l *lines) next() ([]byte, error) {
	l.buf = l.buf[:0]
	for {
		part, err := l.r.ReadSlice('\n')
		if err == nil && len(l.buf) == 0 {
			return part[:len(part)-1], nil
		}
		if l.buf = append(l.buf, part...); len(l.buf) > MaxLine {
			return nil, errors.New("a line is too long")
		}
		if err == nil {
			return l.buf[:len(l.buf)-1], nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
	}
}

// skip goes behind the next newline and says how many bytes that took.
func (l *lines) skip() (int64, error) {
	var n int64
	for {
		part, err := l.r.ReadSlice('\n')
		n += int64(len(part))
		if !errors.Is(err, bufio.ErrBufferFull) {
			return n, err
		}
		if n > MaxLine {
			return n, errors.New("a line is too long")
		}
	}
}

// disorder is how many events of earlier commits may stand behind a later one:
// two goroutines that commit for one session can append in the other order.
const disorder = 16

// HasCommit implements [state.EventLog]. It reads backwards and ends at events
// of earlier commits, so that it costs what was appended since.
func (l *Log) HasCommit(ctx context.Context, sessionID string, commit uint64, typ string) (bool, error) {
	found, err := l.hasCommit(ctx, sessionID, commit, typ)
	if err != nil {
		return false, fmt.Errorf("look for commit %d in session %q: %w", commit, sessionID, err)
	}
	return found, nil
}

func (l *Log) hasCommit(ctx context.Context, sessionID string, commit uint64, typ string) (bool, error) {
	if commit == 0 {
		return false, nil
	}
	for range findTries {
		f, p, err := l.reader(ctx, sessionID, 0)
		switch {
		case err != nil:
			return false, err
		case f != nil:
			return f.hasCommit(ctx, commit, typ)
		case p == nil:
			return false, nil
		}
		if found, err := l.hasPackedCommit(ctx, sessionID, *p, commit, typ); !errors.Is(err, errMoved) {
			return found, err
		}
	}
	return false, errMoved
}

// hasCommit looks for an event, and closes the file.
func (r *record) hasCommit(ctx context.Context, commit uint64, typ string) (bool, error) {
	defer func() { _ = r.Close() }() // nothing was written
	earlier := 0
	for line, err := range backwards(r, r.size) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return false, err
		}
		h, ok := parseHead(line)
		if !ok {
			return false, r.corrupt(-1, errors.New("a line is no event"))
		}
		if h.Commit == commit && h.Type == typ {
			return true, nil
		}
		if h.Commit != 0 && h.Commit < commit {
			if earlier++; earlier > disorder {
				return false, nil
			}
		}
	}
	return false, nil
}

// backwards yields the lines of what ends with a newline, the last one first.
func backwards(r io.ReaderAt, size int64) iter.Seq2[[]byte, error] {
	const chunk = 32 << 10
	return func(yield func([]byte, error) bool) {
		var rest []byte // of a line whose beginning is not read yet
		for end := size - 1; end > 0; {
			start := max(0, end-chunk)
			buf := make([]byte, end-start, int(end-start)+len(rest))
			if _, err := r.ReadAt(buf, start); err != nil {
				yield(nil, err)
				return
			}
			buf = append(buf, rest...)
			for at := bytes.LastIndexByte(buf, '\n'); at >= 0; at = bytes.LastIndexByte(buf, '\n') {
				if !yield(buf[at+1:], nil) {
					return
				}
				buf = buf[:at]
			}
			if rest, end = buf, start; len(rest) > MaxLine {
				yield(nil, errors.New("a line is too long"))
				return
			}
		}
		if len(rest) > 0 {
			yield(rest, nil)
		}
	}
}
