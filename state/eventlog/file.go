package eventlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/internal/durable"
)

// file is the record of one session.
type file struct {
	id, path string

	// Under the log's mutex: how many use it, and when it was used last.
	users int
	used  uint64

	// mu orders its users. f is nil until it is opened, and after a failure:
	// then the next user opens and repairs it anew.
	mu   sync.Mutex
	f    *os.File
	size int64 // of the whole lines
	next int64 // index of the next event
	// marks are where the latest appends began, for readers that follow.
	marks [64]mark
	last  int // of marks
}

// mark says at which offset the event with an index begins.
type mark struct{ index, offset int64 }

// open opens and repairs the file unless it is open. mu is held.
func (f *file) open(create bool, log *slog.Logger) error {
	if f.f != nil {
		return nil
	}
	dir := filepath.Dir(f.path)
	opened, err := os.OpenFile(f.path, os.O_RDWR, 0o600)
	created := false
	if create && errors.Is(err, fs.ErrNotExist) {
		if err := durable.MkdirAll(dir); err != nil {
			return err
		}
		opened, err = os.OpenFile(f.path, os.O_RDWR|os.O_CREATE, 0o600)
		created = true
	}
	if err != nil {
		return err
	}
	f.f, f.size, f.next, f.marks = opened, 0, 0, [64]mark{}
	if created {
		err = durable.SyncDir(dir)
	} else {
		err = f.repair(log)
	}
	if err != nil {
		f.forget()
	}
	return err
}

// forget closes a file of which too little is known.
func (f *file) forget() {
	_ = f.f.Close() // the error that led here says more
	f.f = nil
}

// before returns the latest mark that is not behind index: at worst the
// beginning, which the zero mark means. mu is held.
func (f *file) before(index int64) mark {
	var best mark
	for _, m := range f.marks {
		if m.index <= index && m.index > best.index {
			best = m
		}
	}
	return best
}

// write appends whole lines at once. mu is held.
func (f *file) write(lines []byte, events int64, sync bool) error {
	if len(lines) > 0 {
		if _, err := f.f.WriteAt(lines, f.size); err != nil {
			f.forget() // a part may have been written
			return err
		}
		f.last = (f.last + 1) % len(f.marks)
		f.marks[f.last] = mark{f.next, f.size}
		f.size += int64(len(lines))
		f.next += events
	}
	if sync {
		if err := f.f.Sync(); err != nil {
			f.forget()
			return err
		}
	}
	return nil
}

// repairWindow is how much of the end is looked at when a file is opened: what
// a power failure can have left unwritten was written within seconds before.
const repairWindow = 64 << 10

// repair finds the end of what is whole. A last line without newline is cut
// off. So is what follows a line near the end that is no event or out of
// sequence, as a power failure can leave it; that part is kept beside the file.
func (f *file) repair(log *slog.Logger) error {
	info, err := f.f.Stat()
	if err != nil {
		return err
	}
	tail, start, err := readTail(f.f, info.Size(), repairWindow)
	if err != nil {
		return err
	}
	if start > 0 {
		// The window begins in the middle of a line.
		first := bytes.IndexByte(tail, '\n') + 1
		tail, start = tail[first:], start+int64(first)
	}
	f.size, f.next = start, -1
	for {
		end := bytes.IndexByte(tail, '\n')
		if end < 0 {
			break
		}
		e, ok := parseHead(tail[:end])
		if !ok || f.next >= 0 && e.Index != f.next || f.next < 0 && start == 0 && e.Index != 0 {
			break
		}
		f.next = e.Index + 1
		f.size += int64(end + 1)
		tail = tail[end+1:]
	}
	if f.next < 0 {
		if start > 0 {
			return fmt.Errorf("the end of %s holds no event; move the file away to begin anew: %w", f.path, state.ErrCorrupt)
		}
		f.next = 0
	}
	if len(tail) == 0 {
		return nil
	}
	log.Warn("cut off the torn end of a record", "file", f.path, "bytes", len(tail), "events", f.next)
	if bytes.IndexByte(tail, '\n') >= 0 {
		if err := os.WriteFile(f.path+".cut", tail, 0o600); err != nil {
			return err
		}
	}
	if err := f.f.Truncate(f.size); err != nil {
		return err
	}
	return f.f.Sync()
}

// readTail reads the last bytes of a file, at least window where there are so
// many, and so many more that a whole line is among them.
func readTail(r io.ReaderAt, size, window int64) ([]byte, int64, error) {
	for {
		start := max(0, size-window)
		tail := make([]byte, size-start)
		if _, err := r.ReadAt(tail, start); err != nil {
			return nil, 0, err
		}
		if start == 0 || bytes.Count(tail, []byte{'\n'}) >= 2 || window >= 2*MaxLine {
			return tail, start, nil
		}
		window *= 4
	}
}

// head is what the log itself needs of a line.
type head struct {
	Type   string `json:"type"`
	Index  int64  `json:"index"`
	Commit uint64 `json:"commit"`
}

func parseHead(line []byte) (head, bool) {
	h := head{Index: -1}
	err := json.Unmarshal(line, &h)
	return h, err == nil && h.Index >= 0
}
