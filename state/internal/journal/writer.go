package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/internal/durable"
)

const (
	// maxBatch and maxBatchBytes bound what one flush carries, and so how long the
	// first of those who wait for it waits.
	maxBatch      = 1024
	maxBatchBytes = 8 << 20
	// A flush of what was written over zeros is half as long as one that makes
	// the file longer, since nothing but the data has to be written. Zeros for
	// the next ones are written along with every so many bytes of small batches;
	// large ones would only be written twice. A young segment is given as much as
	// it has: many services never need more, and the first delivery waits for it.
	prepareSize    = 1 << 20
	prepareAtLeast = 64 << 10
	smallBatch     = 64 << 10
	// keepBuffer is the largest buffer worth keeping: a pull request's payload fits.
	keepBuffer = 64 << 10
	keepBatch  = 2 << 20
)

var zeros [prepareSize]byte

// Entry is a record on its way into the journal.
type Entry struct {
	// Key is the caller's own.
	Key string
	// Kind, Seq and At are those of the record once it is stored.
	Kind Kind
	Seq  uint64
	At   Position

	buf  []byte
	sum  uint32
	run  func() error // in place of a record
	err  error
	done chan struct{}
}

// Size is how many bytes the record will take.
func (e *Entry) Size() int { return len(e.buf) + seqSize }

// Entry returns an entry that holds r, its body as body appends it. r.Seq is 0
// where the journal gives the number.
func (j *Journal) Entry(r Record, body func(dst, raw []byte) []byte) *Entry {
	e, ok := j.pool.Get().(*Entry)
	if !ok {
		e = &Entry{done: make(chan struct{}, 1)}
	}
	e.Kind, e.Seq = r.Kind, r.Seq
	e.buf, e.sum = encode(e.buf[:0], r, body)
	return e
}

// Release gives an entry back, of which nothing may be used any more.
func (j *Journal) Release(e *Entry) {
	buf := e.buf[:0]
	if cap(buf) > keepBuffer {
		buf = nil
	}
	*e = Entry{buf: buf, done: e.done}
	j.pool.Put(e)
}

// Append stores entries of one caller, in order, and returns once all are
// durable. The errors are [ErrFull], [ErrClosed], [state.ErrInvalid] for one that
// is too large, and what wraps [state.ErrUnavailable] after a failure.
func (j *Journal) Append(entries ...*Entry) error {
	for _, e := range entries {
		if e.Size() > MaxRecord {
			return fmt.Errorf("a record of %d bytes, and %d are the most: %w", e.Size(), MaxRecord, state.ErrInvalid)
		}
	}
	j.gate.RLock()
	if j.closed {
		j.gate.RUnlock()
		return ErrClosed
	}
	for _, e := range entries {
		j.entries <- e
	}
	j.gate.RUnlock()
	var err error
	for _, e := range entries {
		<-e.done
		err = errors.Join(err, e.err)
	}
	return err
}

// do runs fn between two flushes.
func (j *Journal) do(fn func() error) error {
	e := &Entry{run: fn, done: make(chan struct{}, 1)}
	return j.Append(e)
}

// Check writes and flushes something that the next record replaces.
func (j *Journal) Check() error {
	return j.do(func() error {
		if err := j.roll(); err != nil {
			return err
		}
		raw, sum := encode(nil, Record{Kind: probe}, func(dst, _ []byte) []byte { return dst })
		return j.put(finish(raw, sum, j.writer.mark, 0))
	})
}

// Seal begins a new segment if the last is older than [SegmentAge].
func (j *Journal) Seal() error {
	return j.do(func() error {
		if j.writer.f == nil {
			return nil
		}
		return j.roll()
	})
}

// Close waits for what was handed over before.
func (j *Journal) Close() error {
	j.gate.Lock()
	closed := j.closed
	if !closed {
		j.closed = true
		close(j.entries)
	}
	j.gate.Unlock()
	<-j.idle
	if closed || j.writer.f == nil {
		return nil
	}
	return j.writer.f.Close()
}

// writer is what only the writing goroutine uses.
type writer struct {
	f       *os.File // nil until something is written
	last    uint64   // number of the last segment
	mark    [markSize]byte
	created time.Time
	seq     uint64
	// end is behind the last record, and prepared where the file ends.
	end, prepared int64
	out           []byte
}

// write is the writing goroutine.
func (j *Journal) write() {
	defer close(j.idle)
	var batch []*Entry
	for first := range j.entries {
		batch = append(batch[:0], first)
		size := first.Size()
	gather:
		for len(batch) < maxBatch && size < maxBatchBytes {
			select {
			case next, ok := <-j.entries:
				if !ok {
					break gather
				}
				batch = append(batch, next)
				size += next.Size()
			default:
				break gather
			}
		}
		j.flush(batch)
		clear(batch)
	}
}

// flush stores what has gathered and answers those who wait for it.
func (j *Journal) flush(batch []*Entry) {
	records := batch[:0:len(batch)]
	var others []*Entry
	for _, e := range batch {
		if e.run != nil {
			others = append(others, e)
			continue
		}
		records = append(records, e)
	}
	if len(records) > 0 {
		err := j.guard(func() error { return j.store(records) })
		if err == nil {
			j.opts.Appended(records)
		}
		for _, e := range records {
			e.err = err
			e.done <- struct{}{}
		}
	}
	for _, e := range others {
		e.err = j.guard(e.run)
		e.done <- struct{}{}
	}
}

// guard runs fn unless the journal failed, also if by it.
func (j *Journal) guard(fn func() error) (err error) {
	if failure := j.failure.Load(); failure != nil {
		return *failure
	}
	defer func() {
		if p := recover(); p != nil {
			err = j.fail(fmt.Errorf("panic: %v", p))
		}
	}()
	return fn()
}

func (j *Journal) store(records []*Entry) error {
	if err := j.roll(); err != nil {
		return err
	}
	w := &j.writer
	out, seq := w.out[:0], w.seq
	for _, e := range records {
		if e.Kind == Accepted {
			seq++
			e.Seq = seq
		}
		start := len(out)
		e.buf = finish(e.buf, e.sum, w.mark, e.Seq)
		out = append(out, e.buf...)
		e.At = Position{Segment: w.last, Offset: uint32(w.end) + uint32(start), Length: uint32(len(e.buf))}
	}
	if cap(out) <= keepBatch {
		w.out = out
	} else {
		w.out = nil
	}
	if len(out) <= smallBatch {
		j.prepare(w.end + int64(len(out)))
	}
	if err := j.put(out); err != nil {
		return err
	}
	w.end += int64(len(out))
	j.reach(max(w.prepared, w.end))
	w.seq = seq
	return nil
}

// reach notes where the file ends.
func (j *Journal) reach(end int64) {
	j.size.Add(end - j.writer.prepared)
	j.writer.prepared = end
}

// roll begins a segment if there is none, or the last one is large or old.
func (j *Journal) roll() error {
	w := &j.writer
	if w.f != nil && w.end < j.opts.SegmentSize && (w.end == headerSize || j.opts.Now().Sub(w.created) < SegmentAge) {
		return nil
	}
	next, err := j.create(w.last + 1)
	if err != nil {
		return j.noRoom(err)
	}
	if w.f != nil {
		// What is left of the zeros would only take room.
		err := w.f.Truncate(w.end)
		if err == nil {
			j.reach(w.end)
		}
		if err := errors.Join(err, w.f.Close()); err != nil {
			j.opts.Logger.Warn("cannot shorten a segment of the journal", "file", w.f.Name(), "error", err)
		}
	}
	w.f, w.last, w.created = next, w.last+1, j.opts.Now()
	w.mark = markOf(j.opts.Lineage, w.last)
	w.end, w.prepared = headerSize, headerSize
	j.size.Add(headerSize)
	j.mu.Lock()
	j.segments = append(j.segments, w.last)
	j.mu.Unlock()
	return nil
}

// prepare writes zeros for what comes after to, unless there are some. It may
// fail: then the file grows with what is written.
func (j *Journal) prepare(to int64) {
	w := &j.writer
	size := min(max(w.end, prepareAtLeast), prepareSize)
	if to <= w.prepared || w.prepared >= j.opts.SegmentSize || j.opts.Ahead != nil && !j.opts.Ahead(size) {
		return
	}
	n, _ := w.f.WriteAt(zeros[:size], w.prepared)
	if int64(n) == size {
		j.reach(w.prepared + int64(n))
		return
	}
	if n > 0 {
		_ = w.f.Truncate(w.prepared)
	}
}

// put writes raw at the end and flushes it. The end stays where it was.
func (j *Journal) put(raw []byte) error {
	w := &j.writer
	if _, err := w.f.WriteAt(raw, w.end); err != nil {
		if cut := w.f.Truncate(w.end); cut != nil {
			return j.fail(errors.Join(err, cut))
		}
		j.reach(w.end)
		return j.noRoom(err)
	}
	if err := j.sync(); err != nil {
		// What is in memory may now differ from the disk: it must not be found,
		// and taken for durable, by whoever opens the file next.
		_ = w.f.Truncate(w.end)
		return j.fail(err)
	}
	return nil
}

func (j *Journal) sync() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	if j.opts.BeforeSync != nil {
		if err := j.opts.BeforeSync(); err != nil {
			return err
		}
	}
	return durable.SyncData(j.writer.f)
}

// noRoom tells a full disk, after which nothing has changed, from other faults.
func (j *Journal) noRoom(cause error) error {
	path, ok := errors.AsType[*fs.PathError](cause)
	if ok && durable.OutOfSpace(path.Err) || errors.Is(cause, io.ErrShortWrite) {
		return fmt.Errorf("%s has no room to grow (%w): %w: %w", j.dir, cause, ErrFull, state.ErrUnavailable)
	}
	return j.fail(cause)
}

// fail ends the trust in the journal.
func (j *Journal) fail(cause error) error {
	err := fmt.Errorf("writing the journal %s failed (%w): %w", j.dir, cause, state.ErrUnavailable)
	if j.failure.CompareAndSwap(nil, &err) {
		j.opts.Failed(cause)
	}
	return err
}
