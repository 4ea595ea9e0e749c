package remote

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/liaison-bot/liaison/gen/api"
)

const (
	// maxLine bounds one event in bytes, far above what the service records.
	maxLine = 16 << 20
	// The waits before a stream that was cut is opened again, and for how long
	// that is tried while nothing comes: a restart of the service takes less.
	retryFirst = 250 * time.Millisecond
	retryMost  = 5 * time.Second
	giveUp     = 2 * time.Minute
)

// Event is one event of a session, with the line as it came.
type Event struct {
	api.Event
	// Line is the event's JSON without a line feed.
	Line []byte
}

// Decode decodes the event's data into v; fields that are missing stay as they are.
func (e *Event) Decode(v any) error {
	return json.Unmarshal(e.Line, &struct {
		Data any `json:"data"`
	}{v})
}

// ErrStop ends a following from within, without an error.
var ErrStop = errors.New("enough")

// Follow calls each with every event of a session from an index on, in order
// and each once, then with those that come, until each returns an error or ctx
// ends. A stream that is cut is opened again after the last event that was seen;
// lost, which may be nil, is told. [ErrStop] of each makes Follow return nil.
func (s *Service) Follow(ctx context.Context, sessionID string, from int64, each func(*Event) error, lost func(error)) error {
	f := follower{s: s, id: sessionID, next: from, each: each}
	var since time.Time
	pause := retryFirst
	for first := true; ; first = false {
		before := f.next
		err := f.once(ctx)
		switch {
		case errors.Is(err, ErrStop):
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case f.broken, first && !f.opened, !again(err):
			return err
		}
		if f.next > before || since.IsZero() {
			since, pause = s.now(), retryFirst
		}
		if s.now().Sub(since) > giveUp {
			return err
		}
		if lost != nil {
			lost(err)
		}
		wait := pause
		if r, ok := errors.AsType[*Refusal](err); ok && r.RetryAfter > 0 {
			wait = min(r.RetryAfter, giveUp)
		}
		if err := s.wait(ctx, wait); err != nil {
			return context.Cause(ctx)
		}
		pause = min(2*pause, retryMost)
	}
}

// again reports whether a stream that ended with err is worth another try.
func again(err error) bool {
	if r, ok := errors.AsType[*Refusal](err); ok {
		return r.Status == http.StatusServiceUnavailable || r.Status == http.StatusBadGateway || r.Status == http.StatusGatewayTimeout
	}
	return true
}

// Recorded calls each with the events that are recorded now, from an index on.
func (s *Service) Recorded(ctx context.Context, sessionID string, from int64, each func(*Event) error) error {
	f := follower{s: s, id: sessionID, next: from, each: each}
	body, err := s.Open(ctx, func(ctx context.Context) (*http.Response, error) {
		return s.client.GetSessionEvents(ctx, sessionID, &api.GetSessionEventsParams{StartIndex: &from})
	})
	if err != nil {
		return err
	}
	defer body.Close()
	err = f.read(ctx, body)
	if errors.Is(err, ErrStop) || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// follower is the state of one following.
type follower struct {
	s    *Service
	id   string
	next int64
	each func(*Event) error
	// opened is set once a stream was there; broken once the caller's own code failed.
	opened, broken bool
}

// once follows one connection to its end.
func (f *follower) once(ctx context.Context) error {
	body, err := f.s.Open(ctx, func(ctx context.Context) (*http.Response, error) {
		return f.s.client.StreamSession(ctx, f.id, &api.StreamSessionParams{StartIndex: &f.next})
	})
	if err != nil {
		return err
	}
	defer body.Close()
	f.opened = true
	err = f.read(ctx, body)
	if errors.Is(err, io.EOF) {
		err = &CutError{Doing: "follow session " + f.id, Cause: errors.New("the service ended it")}
	}
	return err
}

// read reads events until the end, which is io.EOF. What follows the last line
// feed is the beginning of an event that comes again.
func (f *follower) read(ctx context.Context, body io.Reader) error {
	lines := bufio.NewReaderSize(body, 64<<10)
	for {
		line, err := readLine(lines)
		if err != nil {
			if errors.Is(err, io.EOF) || ctx.Err() != nil || errors.Is(err, errTooLong) {
				f.broken = errors.Is(err, errTooLong)
				return err
			}
			return &CutError{Doing: "follow session " + f.id, Cause: err}
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		e := &Event{Line: line}
		if err := json.Unmarshal(line, &e.Event); err != nil {
			f.broken = true
			return fmt.Errorf("follow session %s: what came after event %d is no event: %w", f.id, f.next-1, err)
		}
		if e.Index < f.next {
			continue
		}
		if e.Index > f.next {
			f.broken = true
			return fmt.Errorf("follow session %s: event %d is missing", f.id, f.next)
		}
		f.next++
		if err := f.each(e); err != nil {
			f.broken = true
			return err
		}
	}
}

var errTooLong = fmt.Errorf("an event is longer than %d bytes", maxLine)

func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxLine:
			return nil, errTooLong
		case err == nil:
			return bytes.TrimSuffix(line, []byte("\n")), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}
