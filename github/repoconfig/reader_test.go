package repoconfig

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"
)

var errDown = errors.New("GitHub is down")

// remote is a file that somebody edits.
type remote struct {
	mu    sync.Mutex
	text  string // "" is missing
	err   error
	reads int
	asked []string // the ETags
}

func (r *remote) fetch(_ context.Context, known File) (File, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reads++
	r.asked = append(r.asked, known.ETag)
	tag := fmt.Sprintf("%x", r.text)
	switch {
	case r.err != nil:
		return File{}, r.err
	case r.text == "":
		return File{Source: "octo/shop@main", Missing: true}, nil
	case known.ETag == tag:
		return File{}, ErrUnchanged
	}
	return File{Source: "octo/shop@main", Path: "p", Blob: tag, ETag: tag, Text: []byte(r.text)}, nil
}

// clock is set by hand.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func newClock() *clock { return &clock{time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }

func read(t *testing.T, r *Reader, from *remote) State {
	t.Helper()
	s, err := r.Read(t.Context(), "repo:1:main", time.Minute, from.fetch)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A file that cannot be read is not a missing one: nothing is known, and nothing
// shall be done by what is not known.
func TestMissingIsNotUnreadable(t *testing.T) {
	t.Parallel()
	r := NewReader(nil, newClock().now)
	from := &remote{err: errDown}
	if _, err := r.Read(t.Context(), "k", time.Minute, from.fetch); !errors.Is(err, errDown) {
		t.Fatalf("got %v", err)
	}
	from.err = nil
	s, err := r.Read(t.Context(), "k", time.Minute, from.fetch)
	if err != nil || !s.File.Missing || s.Broken || len(s.Layer.values) > 0 {
		t.Errorf("got %+v, %v", s, err)
	}
}

func TestTheLastGoodOneGoesOn(t *testing.T) {
	t.Parallel()
	c := newClock()
	folder, err := OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	r := NewReader(folder, c.now)
	from := &remote{text: "enabled: false\n"}
	off := func(s State) bool { return !Resolve(s.Layer).Enabled }

	if s := read(t, r, from); !off(s) || s.Broken {
		t.Fatalf("at first %+v", s)
	}
	read(t, r, from)
	if from.reads != 1 {
		t.Errorf("%d readings within a minute", from.reads)
	}
	c.at = c.at.Add(time.Minute)
	read(t, r, from)
	if from.reads != 2 || from.asked[1] == "" {
		t.Errorf("not asked for on condition: %q", from.asked)
	}
	c.at = c.at.Add(time.Minute)
	from.err = errDown
	if s := read(t, r, from); !off(s) || !errors.Is(s.Outage, errDown) {
		t.Errorf("during an outage %+v", s)
	}
	read(t, r, from)
	if from.reads != 3 {
		t.Errorf("%d readings: an outage is asked into", from.reads)
	}
	// Another process takes up what was known.
	r = NewReader(folder, c.now)
	if s := read(t, r, from); !off(s) || s.Outage == nil {
		t.Errorf("after a restart %+v", s)
	}
	c.at = c.at.Add(retryOutage)
	from.err, from.text = nil, "enabled: falsch\n"
	s := read(t, r, from)
	if !off(s) || s.Broken || len(s.Problems) != 1 || s.Outage != nil {
		t.Errorf("with a slip of the pen %+v", s)
	}
	c.at = c.at.Add(time.Minute)
	if s := read(t, r, from); len(s.Problems) != 1 || !off(s) {
		t.Errorf("the slip is forgotten when nothing changed: %+v", s)
	}
	c.at = c.at.Add(time.Minute)
	from.text = ""
	if s := read(t, r, from); off(s) || len(s.Problems) > 0 || !s.File.Missing {
		t.Errorf("when it is gone %+v", s)
	}
}

// Where no version was ever good nobody knows what is wanted; an outage then
// changes nothing either.
func TestAFileThatWasNeverGood(t *testing.T) {
	t.Parallel()
	c := newClock()
	r := NewReader(nil, c.now)
	from := &remote{text: "a: b\n"}
	if s := read(t, r, from); !s.Broken || len(s.Problems) == 0 {
		t.Errorf("got %+v", s)
	}
	c.at = c.at.Add(time.Minute)
	from.err = errDown
	if s := read(t, r, from); !s.Broken {
		t.Errorf("in an outage %+v", s)
	}
	c.at = c.at.Add(time.Minute)
	from.err, from.text = nil, "enabled: true\n"
	if s := read(t, r, from); s.Broken || len(s.Problems) > 0 {
		t.Errorf("put right %+v", s)
	}
}

func TestWhatIsNoFileIsAProblem(t *testing.T) {
	t.Parallel()
	r := NewReader(nil, newClock().now)
	s, err := r.Read(t.Context(), "k", time.Minute, func(context.Context, File) (File, error) {
		return File{Source: "x", Blob: "b", Refused: "the file has 70000 bytes"}, nil
	})
	if err != nil || !s.Broken || len(s.Problems) != 1 {
		t.Errorf("got %+v, %v", s, err)
	}
}

// Who waits for another's reading gives up with its own context.
func TestWaitingEndsWithTheContext(t *testing.T) {
	t.Parallel()
	r := NewReader(nil, newClock().now)
	begun, end := make(chan struct{}), make(chan struct{})
	var first sync.WaitGroup
	first.Go(func() {
		_, _ = r.Read(t.Context(), "k", time.Minute, func(context.Context, File) (File, error) {
			close(begun)
			<-end
			return File{Missing: true}, nil
		})
	})
	<-begun
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := r.Read(ctx, "k", time.Minute, nil)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	close(end)
	first.Wait()
}

// The memory is bounded, and what is forgotten is read again.
func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	c := newClock()
	r := NewReader(nil, c.now)
	from := &remote{text: "enabled: true\n"}
	for i := range maxKnown + 1 {
		c.at = c.at.Add(time.Microsecond)
		if _, err := r.Read(t.Context(), fmt.Sprint(i), time.Minute, from.fetch); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(r.known); n != maxKnown {
		t.Errorf("%d are known", n)
	}
	if _, there := r.known["0"]; there {
		t.Error("the oldest one is not forgotten")
	}
}
