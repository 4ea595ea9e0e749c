package eventlog

import (
	"bytes"
	"container/list"
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

	// Under the log's mutex: how many use it, and while nobody does, its place
	// in one of the log's lists.
	users int
	place *list.Element

	// mu orders its users. f is nil until it is opened, after it was closed to
	// spare its descriptor, and after a failure.
	mu sync.Mutex
	f  *os.File
	// known is set while size, next and marks are right, also while f is nil:
	// then opening it again needs no look at its end.
	known bool
	size  int64 // of the whole lines
	next  int64 // index of the next event
	// marks are where the latest appends began, for readers that follow.
	marks [16]mark
	last  int // of marks
	// entered is set once the file's own entry and that of its folder are surely
	// on disk.
	entered bool
}

// mark says at which offset the event with an index begins.
type mark struct{ index, offset int64 }

// open opens the file unless it is open, and repairs it unless its end is known.
// A new file's entry is not on disk before the first sync. mu is held.
func (f *file) open(create bool, log *slog.Logger) error {
	if f.f != nil {
		return nil
	}
	opened, err := os.OpenFile(f.path, os.O_RDWR, 0o600)
	created := false
	if create && errors.Is(err, fs.ErrNotExist) {
		if err := os.Mkdir(filepath.Dir(f.path), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		opened, err = os.OpenFile(f.path, os.O_RDWR|os.O_CREATE, 0o600)
		created = true
	}
	if err != nil {
		return err
	}
	f.f = opened
	if f.known && !created {
		if info, err := opened.Stat(); err == nil && info.Size() == f.size {
			return nil
		}
	}
	f.size, f.next, f.marks, f.entered = 0, 0, [16]mark{}, false
	if f.known = created; created {
		return nil
	}
	if err := f.repair(log); err != nil {
		f.forget()
		return err
	}
	f.known = true
	return nil
}

// forget closes a file of which too little is known: the next user opens and
// repairs it anew. mu is held.
func (f *file) forget() {
	if f.f != nil {
		_ = f.f.Close() // the error that led here says more
	}
	f.f, f.known = nil, false
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
func (f *file) write(lines []byte, events int64) error {
	if len(lines) == 0 {
		return nil
	}
	if _, err := f.f.WriteAt(lines, f.size); err != nil {
		f.forget() // a part may have been written
		return err
	}
	f.last = (f.last + 1) % len(f.marks)
	f.marks[f.last] = mark{f.next, f.size}
	f.size += int64(len(lines))
	f.next += events
	return nil
}

// sync makes what was written before the call durable, and the entries by which
// it is found. mu is not held, so that nobody waits for the disk with us.
func (f *file) sync(opened *os.File, entered bool) error {
	err := opened.Sync()
	if err == nil && !entered {
		dir := filepath.Dir(f.path)
		err = errors.Join(durable.SyncDir(dir), durable.SyncDir(filepath.Dir(dir)))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		f.forget()
		return err
	}
	f.entered = f.entered || f.f == opened
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
