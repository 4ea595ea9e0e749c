package local

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"
)

const (
	// maxEventBytes bounds one message of a run; what is longer is cut by the
	// part that has the long text, the tool's arguments or result.
	maxEventBytes = 1 << 20
	// maxLogBytes bounds the whole record of one run, but for the message that ends it.
	maxLogBytes = 64 << 20
)

var (
	// errSealed is returned for a message after the run has ended.
	errSealed = errors.New("the run has ended")
	// errTooLong is returned for a message that is longer than one may be.
	errTooLong = errors.New("the message is too long")
	// errLogFull is returned when a run has said more than is kept.
	errLogFull = errors.New("the run's record is full")
)

// entry is one line of a run's record.
type entry struct {
	Seq  int       `json:"seq"`
	Time time.Time `json:"time"`
	Type string    `json:"type"`
	// Message is the JSON of the sdk_message.
	Message json.RawMessage `json:"message"`
}

// eventLog is the append-only record of what one run said. Streams read it
// from the file, each at its own pace, so a slow reader costs no memory and
// holds nothing up; the log itself only knows how far it is written.
type eventLog struct {
	path string
	max  int64

	mu      sync.Mutex
	file    *os.File // nil when sealed
	size    int64
	seq     int
	changed chan struct{} // closed and replaced when anything changes
}

// createLog begins a record of at most limit bytes.
func createLog(path string, limit int64) (*eventLog, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create the run's record: %w", err)
	}
	return &eventLog{path: path, max: limit, file: f, changed: make(chan struct{})}, nil
}

// reopenLog continues the record of a run that another process left behind. A
// line that was torn when that process died is cut off. A record that is gone
// begins anew: without an end its run would block the agent for good.
func reopenLog(path string) (*eventLog, error) {
	f, err := openRegular(path, os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) {
		return createLog(path, maxLogBytes)
	}
	if err != nil {
		return nil, fmt.Errorf("reopen the run's record: %w", err)
	}
	whole, lines, err := wholeLines(f)
	if err == nil {
		err = f.Truncate(whole)
	}
	if err == nil {
		_, err = f.Seek(whole, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("reopen the run's record: %w", err), f.Close())
	}
	return &eventLog{path: path, max: maxLogBytes, file: f, size: whole, seq: lines, changed: make(chan struct{})}, nil
}

// wholeLines counts the lines of r that have an end, and their bytes.
func wholeLines(r io.Reader) (size int64, lines int, err error) {
	part := make([]byte, 64<<10)
	for read := int64(0); ; {
		n, err := r.Read(part)
		if last := bytes.LastIndexByte(part[:n], '\n'); last >= 0 {
			size = read + int64(last) + 1
			lines += bytes.Count(part[:n], []byte{'\n'})
		}
		read += int64(n)
		switch {
		case errors.Is(err, io.EOF):
			return size, lines, nil
		case err != nil:
			return 0, 0, err
		}
	}
}

// append adds one message.
func (l *eventLog) append(_ context.Context, at time.Time, kind string, message map[string]any) error {
	data, err := encodeMessage(kind, message)
	if err != nil {
		return fmt.Errorf("record %s: %w", kind, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return errSealed
	}
	line, err := json.Marshal(entry{Seq: l.seq + 1, Time: at, Type: kind, Message: data})
	if err != nil {
		return fmt.Errorf("record %s: %w", kind, err)
	}
	line = append(line, '\n')
	// The end of a run is always recorded.
	if l.size+int64(len(line)) > l.max && kind != "status" {
		return errLogFull
	}
	n, err := l.file.Write(line)
	if err != nil {
		// Half a line would spoil what follows.
		err = errors.Join(err, l.file.Truncate(l.size))
		_, seekErr := l.file.Seek(l.size, io.SeekStart)
		return fmt.Errorf("record %s: %w", kind, errors.Join(err, seekErr))
	}
	l.size += int64(n)
	l.seq++
	l.wake()
	return nil
}

// seal ends the record: it is put on disk and takes no more messages.
func (l *eventLog) seal() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	err := errors.Join(l.file.Sync(), l.file.Close())
	l.file = nil
	l.wake()
	if err != nil {
		return fmt.Errorf("close the run's record: %w", err)
	}
	return nil
}

// wake tells every reader to look again; l.mu is held.
func (l *eventLog) wake() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// state says how far the record is written, whether it will grow, and gives a
// channel that is closed when either changes.
func (l *eventLog) state() (size int64, sealed bool, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.size, l.file == nil, l.changed
}

func (l *eventLog) reader() (*logReader, error) { return openLogReader(l.path) }

// written is how many messages there are.
func (l *eventLog) written() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.seq
}

// encodeMessage makes the JSON of a message, cutting a tool's arguments and
// result when it would be too long.
func encodeMessage(kind string, message map[string]any) (json.RawMessage, error) {
	data, err := json.Marshal(message)
	if err != nil || len(data) <= maxEventBytes {
		return data, err
	}
	if kind != "tool_call" {
		return nil, fmt.Errorf("%w: %d bytes", errTooLong, len(data))
	}
	short := map[string]any{"truncated": map[string]any{"args": true, "result": true}}
	for key, value := range message {
		if key != "args" && key != "result" {
			short[key] = value
		}
	}
	return json.Marshal(short)
}

// logReader reads the lines of a record in order.
type logReader struct {
	file   *os.File
	offset int64
	// bad counts the lines that were left out because a disk had spoilt them.
	bad int
}

func openLogReader(path string) (*logReader, error) {
	f, err := openRegular(path, os.O_RDONLY)
	if err != nil {
		return nil, fmt.Errorf("read the run's record: %w", err)
	}
	return &logReader{file: f}, nil
}

func (r *logReader) close() error { return r.file.Close() }

// upTo gives every whole line that begins before limit and was not given yet;
// one that give did not take is given again the next time.
// A torn last line is left out, and so is one that is no entry: what a disk has
// spoilt must not hide what came after it.
func (r *logReader) upTo(limit int64, give func(entry) error) error {
	if limit <= r.offset {
		return nil
	}
	lines := bufio.NewReader(io.NewSectionReader(r.file, r.offset, limit-r.offset))
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the run's record: %w", err)
		}
		var e entry
		if err := json.Unmarshal(line, &e); err != nil || e.Type == "" {
			r.bad++
		} else if err := give(e); err != nil {
			return err
		}
		r.offset += int64(len(line))
	}
}
