package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/internal/durable"
)

// Options configures a journal. Lineage, Now, Logger, Found, Appended and Failed
// must be set.
type Options struct {
	Lineage Lineage
	// From is up to where everything is known to the database: what follows is
	// read at the opening, and with Verify also what comes before.
	From   Position
	Verify bool
	// LastSeq is the highest number that the database knows.
	LastSeq uint64
	// SegmentSize is the size from which a new segment is begun; [DefaultSegmentSize] if 0.
	SegmentSize int64
	Now         func() time.Time
	Logger      *slog.Logger
	// BeforeSync is for tests of failures: an error from it fails the flush.
	BeforeSync func() error
	// Found is called by Open for each accepted delivery behind From, in order.
	// The record is valid until it returns.
	Found func(Record, Position) error
	// Appended is called once entries are durable and before those who wait for
	// them are answered, in order.
	Appended func([]*Entry)
	// Ahead reports whether room for n more bytes may be taken before they are
	// needed; always if nil.
	Ahead func(n int64) bool
	// Failed is called once, when the journal can no longer be trusted.
	Failed func(cause error)
}

const (
	// DefaultSegmentSize bounds what is read again at an opening, and what has to
	// go at once when old bodies are removed.
	DefaultSegmentSize = 64 << 20
	// SegmentAge is from when a new segment is begun however small the last one
	// is, so that what is old can go.
	SegmentAge = 24 * time.Hour
)

// Journal is an open journal. One process has it, which the lock of the database
// sees to.
type Journal struct {
	dir  string
	opts Options

	// gate is held for reading while an entry is handed to the writer.
	gate    sync.RWMutex
	closed  bool
	entries chan *Entry
	idle    chan struct{} // closed when the writer has ended
	pool    sync.Pool

	size    atomic.Int64 // of all segments, with what is prepared
	failure atomic.Pointer[error]

	// mu guards the list of the segments; the last one is written.
	mu       sync.Mutex
	segments []uint64

	writer writer
}

// Open opens the journal in a folder, which need not exist, and reads what the
// database does not know. An error that wraps [state.ErrCorrupt] means that the
// folder belongs to another database.
func Open(dir string, opts Options) (*Journal, error) {
	if opts.SegmentSize <= 0 {
		opts.SegmentSize = DefaultSegmentSize
	}
	j := &Journal{
		dir: dir, opts: opts,
		entries: make(chan *Entry, maxBatch), idle: make(chan struct{}),
	}
	j.writer.seq = opts.LastSeq
	if err := j.load(); err != nil {
		if j.writer.f != nil {
			err = errors.Join(err, j.writer.f.Close())
		}
		return nil, fmt.Errorf("open the journal %s: %w", dir, err)
	}
	go j.write()
	return j, nil
}

func (j *Journal) load() error {
	numbers, err := list(j.dir)
	if err != nil {
		return err
	}
	from := j.opts.From
	j.writer.last = from.Segment
	if from.Segment > 0 && !slices.Contains(numbers, from.Segment) {
		j.lost(from)
	}
	if numbers, err = j.dropTorn(numbers); err != nil {
		return err
	}
	j.segments = numbers
	for i, n := range numbers {
		j.writer.last = max(j.writer.last, n)
		if err := j.loadSegment(n, i == len(numbers)-1); err != nil {
			return err
		}
	}
	return nil
}

// dropTorn removes a last segment of which not even the header was written:
// nothing can be in it.
func (j *Journal) dropTorn(numbers []uint64) ([]uint64, error) {
	if len(numbers) == 0 {
		return numbers, nil
	}
	last := len(numbers) - 1
	info, err := os.Stat(j.path(numbers[last]))
	if err != nil || info.Size() >= headerSize {
		return numbers, err
	}
	return numbers[:last], os.Remove(j.path(numbers[last]))
}

// loadSegment reads what is needed of one segment, and goes on writing the last.
func (j *Journal) loadSegment(n uint64, last bool) (err error) {
	f, err := os.OpenFile(j.path(n), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	keep := false
	defer func() {
		if !keep {
			err = errors.Join(err, f.Close())
		}
	}()
	if err := j.ours(f); err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	from := j.opts.From
	s := &scanner{r: f, size: info.Size(), segment: n, mark: markOf(j.opts.Lineage, n), at: headerSize, end: headerSize}
	s.skipped = func(from, to int64) {
		j.opts.Logger.Error("a part of the journal holds no whole delivery and was passed over",
			"file", f.Name(), "from", from, "to", to)
	}
	known := n < from.Segment
	if n == from.Segment && !j.opts.Verify {
		s.at, s.end = int64(from.Offset), int64(from.Offset)
	}
	if n == from.Segment && info.Size() < int64(from.Offset) {
		j.lost(from)
	}
	if !known || j.opts.Verify {
		if err := j.read(s); err != nil {
			return fmt.Errorf("read %s: %w", f.Name(), err)
		}
	}
	if !last || known || n == from.Segment && info.Size() < int64(from.Offset) {
		// It is not written any more: nothing is put below what the database knows of.
		j.size.Add(info.Size())
		return nil
	}
	if n == from.Segment {
		s.end = max(s.end, int64(from.Offset))
	}
	blank, err := s.blank(s.end)
	if err != nil {
		return fmt.Errorf("read %s: %w", f.Name(), err)
	}
	w := &j.writer
	w.prepared = s.size
	if !blank {
		j.opts.Logger.Warn("the end of the journal was torn and is cut off; none of it was acknowledged",
			"file", f.Name(), "bytes", s.size-s.end)
		if err := errors.Join(f.Truncate(s.end), f.Sync()); err != nil {
			return err
		}
		w.prepared = s.end
	}
	h, _ := readHeader(f)
	w.f, w.end, w.mark, w.created = f, s.end, s.mark, h.created
	j.size.Add(w.prepared)
	keep = true
	return nil
}

// read takes note of the records of a segment.
func (j *Journal) read(s *scanner) error {
	for {
		r, at, err := s.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if at.Before(j.opts.From) {
			continue
		}
		j.writer.seq = max(j.writer.seq, r.Seq)
		if r.Kind == Accepted {
			if err := j.opts.Found(r, at); err != nil {
				return err
			}
		}
	}
}

func (j *Journal) lost(from Position) {
	j.opts.Logger.Error("a part of the journal that the database knows of is not there: deliveries or their bodies are missing; restore both from one backup",
		"file", j.path(from.Segment), "from", from.Offset)
}

// End is where the next record will be, unless that begins a segment. It is
// exact only before the first Append.
func (j *Journal) End() Position {
	if j.writer.f == nil {
		return Position{Segment: j.writer.last, Offset: j.opts.From.Offset}
	}
	return Position{Segment: j.writer.last, Offset: uint32(j.writer.end)}
}

// Size is how many bytes the segments have on the disk.
func (j *Journal) Size() int64 { return j.size.Load() }

// Segments returns the numbers of the segments, in order; the last may be written.
func (j *Journal) Segments() []uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.segments)
}

// Ended returns when the last record of a segment was written at the latest, by
// the file's own time if the next segment does not say; false for the one that
// is written.
func (j *Journal) Ended(segment uint64) (time.Time, bool) {
	numbers := j.Segments()
	i := slices.Index(numbers, segment)
	if i < 0 || i+1 >= len(numbers) {
		return time.Time{}, false
	}
	if ended, ok := j.created(numbers[i+1]); ok {
		return ended, true
	}
	info, err := os.Stat(j.path(segment))
	if err != nil {
		return time.Time{}, false
	}
	return info.ModTime(), true
}

// Remove removes a segment that is not written, and returns its size.
func (j *Journal) Remove(segment uint64) (int64, error) {
	info, err := os.Stat(j.path(segment))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	j.mu.Lock()
	j.segments = slices.DeleteFunc(j.segments, func(n uint64) bool { return n == segment })
	j.mu.Unlock()
	if err := os.Remove(j.path(segment)); err != nil {
		return 0, err
	}
	j.size.Add(-info.Size())
	return info.Size(), durable.SyncDir(j.dir)
}

// ErrFull means that there is no room for an entry now.
var ErrFull = errors.New("full")

// ErrClosed means that the journal was closed.
var ErrClosed = fmt.Errorf("the journal is closed: %w", state.ErrUnavailable)
