package handlers

import (
	"context"
	"errors"
	"io"
	"math/bits"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Bodies take memory before anybody knows who sent them. What all requests in
// hand may take is bounded, apart for small and for large ones: nearly all
// deliveries are small, and none of them ever waits behind a large one.
const (
	// smallBody is the longest body that counts as small.
	smallBody = 256 << 10
	// firstBuffer is the most that is lent on the word of a Content-Length alone: a
	// usual delivery fits. For more, that much has to arrive first.
	firstBuffer = 32 << 10
	// leastBuffer is the smallest buffer that is lent; the server's own for reading
	// a connection has the same size.
	leastBuffer = 4 << 10
	// smallMemory is for small bodies, in bytes: a thousand usual ones of GitHub.
	smallMemory = 32 << 20
	// startMemory is how much of that the beginnings of large bodies, and of those
	// of unknown length, may take, so that they never take all of it.
	startMemory = smallMemory / 2
	// largeMemory is for large ones, in bytes: one of the largest that GitHub sends.
	largeMemory = 32 << 20
	// largeUnit is the unit in which large memory is given.
	largeUnit = 1 << 20
	// largeWait is how long a large body waits for its turn; GitHub waits for 10 s.
	largeWait = 5 * time.Second
	// largeTimeout bounds reading a large body once it has memory, so that a sender
	// that stalls does not hold it for long.
	largeTimeout = 10 * time.Second
	// pressedTimeout bounds reading a small body while more than half of their
	// memory is in use: who sends slowly goes first. Slack waits for 3 s in all.
	pressedTimeout = 3 * time.Second
)

// The ways in which a body cannot be read.
var (
	errTooLarge   = errors.New("the body is too large")
	errNoMemory   = errors.New("too many deliveries at once")
	errIncomplete = errors.New("the body did not arrive whole")
)

// bodyMemory lends what bodies are read into.
type bodyMemory struct {
	small *atomic.Int64
	// starts is the part of small that startMemory bounds.
	starts atomic.Int64
	// pools lend buffers of leastBuffer, twice that, and so on up to smallBody.
	pools [7]sync.Pool
	// turn is held by the one that takes large memory unit by unit, so that two
	// do not each wait for what the other has; large has a place for each unit.
	turn, large chan struct{}
}

func newBodyMemory(small *atomic.Int64) *bodyMemory {
	return &bodyMemory{
		small: small,
		turn:  make(chan struct{}, 1),
		large: make(chan struct{}, largeMemory/largeUnit),
	}
}

// buffer is lent for one body after the other.
type buffer struct {
	bytes []byte
	class int
}

// body is one that was read. It is returned with free or abandon.
type body struct {
	data   []byte
	memory *bodyMemory
	// lent is what a small body is in; units is how much large memory a large one has.
	lent  *buffer
	units int
	// start says that what is lent counts as the beginning of a large one.
	start bool
}

// read reads a request's body of at most limit bytes. Its errors are
// [errTooLarge], [errNoMemory] and [errIncomplete]; then nothing is held.
func (m *bodyMemory) read(w http.ResponseWriter, r *http.Request, limit int64) (body, error) {
	if r.ContentLength > limit {
		return body{}, errTooLarge
	}
	b, ok := m.lend(min(r.ContentLength, firstBuffer), r.ContentLength < 0 || r.ContentLength > smallBody)
	if !ok {
		return body{}, errNoMemory
	}
	if m.small.Load() > smallMemory/2 && r.ContentLength != 0 {
		hasten(w, pressedTimeout)
	}
	if err := b.fill(w, r, limit); err != nil {
		b.free()
		return body{}, err
	}
	return b, nil
}

// hasten gives a sender less time. A connection that can have no deadline (in
// tests) goes without it.
func hasten(w http.ResponseWriter, d time.Duration) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(d))
}

// fill reads until the end of the body.
func (b *body) fill(w http.ResponseWriter, r *http.Request, limit int64) error {
	for {
		if int64(len(b.data)) == r.ContentLength {
			return nil // the server gives no more than was announced
		}
		if len(b.data) == cap(b.data) {
			if err := b.grow(w, r, limit); err != nil {
				return err
			}
		}
		n, err := r.Body.Read(b.data[len(b.data):cap(b.data)])
		b.data = b.data[:len(b.data)+n]
		switch {
		case int64(len(b.data)) > limit:
			return errTooLarge
		case errors.Is(err, io.EOF) && (r.ContentLength < 0 || int64(len(b.data)) == r.ContentLength):
			return nil
		case err != nil:
			return errIncomplete
		}
	}
}

// grow makes room for more of a body that has filled its buffer.
func (b *body) grow(w http.ResponseWriter, r *http.Request, limit int64) error {
	if cap(b.data) < smallBody {
		next, ok := b.memory.lend(2*int64(cap(b.data)), b.start)
		if !ok {
			return errNoMemory
		}
		b.become(next)
		return nil
	}
	// All that it can need is taken at once: what has memory will never wait for
	// more of it, and so always gets done.
	most := limit + 1
	if r.ContentLength >= 0 {
		most = r.ContentLength
	}
	next := body{memory: b.memory, units: int((most + largeUnit - 1) / largeUnit)}
	ctx, cancel := context.WithTimeout(r.Context(), largeWait)
	defer cancel()
	if !b.memory.takeLarge(ctx, next.units) {
		return errNoMemory
	}
	next.data = make([]byte, 0, most)
	b.become(next)
	hasten(w, largeTimeout)
	return nil
}

// become moves what was read into a larger buffer.
func (b *body) become(next body) {
	next.data = append(next.data, b.data...)
	b.free()
	*b = next
}

// lend returns an empty buffer for size bytes, at most smallBody, of a small body,
// or of the start of a large one or one of unknown length. It reports false when
// there is no memory left.
func (m *bodyMemory) lend(size int64, start bool) (body, bool) {
	class := 0
	if size > leastBuffer {
		class = min(bits.Len64(uint64(size-1)/leastBuffer), len(m.pools)-1)
	}
	length := int64(leastBuffer) << class
	if m.small.Add(length) > smallMemory {
		m.small.Add(-length)
		return body{}, false
	}
	if start && m.starts.Add(length) > startMemory {
		m.starts.Add(-length)
		m.small.Add(-length)
		return body{}, false
	}
	lent, ok := m.pools[class].Get().(*buffer)
	if !ok {
		lent = &buffer{bytes: make([]byte, length), class: class}
	}
	return body{data: lent.bytes[:0], memory: m, lent: lent, start: start}, true
}

// takeLarge waits for units of large memory and reports whether it has them.
func (m *bodyMemory) takeLarge(ctx context.Context, units int) bool {
	select {
	case m.turn <- struct{}{}:
		defer func() { <-m.turn }()
	case <-ctx.Done():
		return false
	}
	for taken := range units {
		select {
		case m.large <- struct{}{}:
		case <-ctx.Done():
			m.giveLarge(taken)
			return false
		}
	}
	return true
}

func (m *bodyMemory) giveLarge(units int) {
	for range units {
		<-m.large
	}
}

// free gives the buffer to the next request: nobody may use it any more.
func (b *body) free() {
	if b.lent != nil {
		b.memory.pools[b.lent.class].Put(b.lent)
	}
	b.abandon()
}

// abandon gives the memory back and leaves the buffer to whoever still uses it.
func (b *body) abandon() {
	b.memory.giveLarge(b.units)
	if b.lent == nil {
		return
	}
	length := int64(len(b.lent.bytes))
	if b.start {
		b.memory.starts.Add(-length)
	}
	b.memory.small.Add(-length)
}
