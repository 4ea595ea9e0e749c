package api

import (
	"context"
	"math"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/liaison-bot/liaison/handlers/answer"
	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/state"
)

const (
	// beat is the time between two signs of life of a stream of server-sent events;
	// proxies commonly give up a silent connection after 60 s.
	beat = 15 * time.Second
	// flushEvery is after how many events of the past a stream is flushed.
	flushEvery = 64
)

// stream sends a session's events, then what happens.
func (a *API) stream(w http.ResponseWriter, r *http.Request, p Principal) error {
	sess, err := a.owned(r, p)
	if err != nil {
		return err
	}
	from, err := number(r, "startIndex", 0, 0, math.MaxInt64)
	if err != nil {
		return err
	}
	sse := wantsSSE(r)
	if last := r.Header.Get("Last-Event-ID"); sse && last != "" {
		if from, err = parseNumber("Last-Event-ID", last, 0, math.MaxInt64-1); err != nil {
			return err
		}
		from++
	}
	leave, err := a.streams.take(p.Name)
	if err != nil {
		return err
	}
	defer leave()

	last, err := a.runtime.LastIndex(r.Context(), sess.ID)
	if err != nil {
		return err
	}
	s := &eventStream{a: a, out: newSlowWriter(w), sse: sse, session: sess.ID, next: from, last: last}
	answer.Private(w.Header())
	over, err := a.over(r.Context(), sess, from, last)
	if err != nil {
		return err
	}
	if over && sse {
		w.WriteHeader(http.StatusNoContent) // which keeps a browser from coming back
		return nil
	}
	s.begin(w)
	if over {
		return nil
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(a.stopping, cancel)()
	if err := s.run(ctx); err != nil {
		a.cutOff(r, err)
	}
	// The end of the answer is written too, and the time of the last event's write
	// may be over: without one of its own the client would see a broken stream.
	_ = s.out.flush()
	return nil
}

// over reports whether a task has ended before index from, so that nothing will follow.
func (a *API) over(ctx context.Context, sess state.Session, from, last int64) (bool, error) {
	if sess.Mode != state.ModeTask || from <= last || last < 0 {
		return false, nil
	}
	for ev, err := range a.runtime.Events(ctx, sess.ID, last, false) {
		if err != nil {
			return false, err
		}
		// What came after it is still to be sent.
		if ev.Index == last {
			return sessions.EndsRecord(ev), nil
		}
	}
	return false, nil
}

// wantsSSE reports whether the client asks for server-sent events.
func wantsSSE(r *http.Request) bool {
	for _, accept := range r.Header.Values("Accept") {
		for part := range strings.SplitSeq(accept, ",") {
			if kind, _, err := mime.ParseMediaType(part); err == nil && kind == "text/event-stream" {
				return true
			}
		}
	}
	return false
}

// eventStream is one answer that goes on.
type eventStream struct {
	a       *API
	out     *slowWriter
	sse     bool
	session string
	// next is the index that comes next, last the last one of the past.
	next, last int64
}

func (s *eventStream) begin(w http.ResponseWriter) {
	kind := "application/x-ndjson"
	if s.sse {
		kind = "text/event-stream"
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("X-Accel-Buffering", "no") // nginx would gather what shall be seen at once
	w.WriteHeader(http.StatusOK)
	_ = s.out.flush()
}

// run sends events until ctx ends, which is no error, or a task is over. A
// client that does not read is left after [writeTimeout].
func (s *eventStream) run(ctx context.Context) error {
	for ctx.Err() == nil {
		ended, err := s.follow(ctx)
		if err != nil || ended {
			return err
		}
		if ctx.Err() == nil {
			if err := s.alive(); err != nil {
				return err
			}
		}
	}
	return nil
}

// alive sends a sign of life, between two events, so that it never splits one.
func (s *eventStream) alive() error {
	if _, err := s.out.Write([]byte(": alive\n\n")); err != nil {
		return err
	}
	return s.out.flush()
}

// follow sends events until the next sign of life is due, and reports whether
// the events came to their end. No goroutine and no timer but the context's
// stands by: going on from an index is cheap.
func (s *eventStream) follow(ctx context.Context) (ended bool, err error) {
	if s.sse {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, beat)
		defer cancel()
	}
	for ev, err := range s.a.runtime.Events(ctx, s.session, s.next, true) {
		if err != nil {
			if ctx.Err() != nil {
				return false, nil
			}
			return false, err
		}
		if err := s.send(ev); err != nil {
			return false, err
		}
	}
	return ctx.Err() == nil, nil
}

func (s *eventStream) send(ev state.Event) error {
	text, err := line(ev)
	if err != nil {
		return err
	}
	if s.sse {
		text = append([]byte("id: "+strconv.FormatInt(ev.Index, 10)+"\ndata: "), text...)
		text = append(text, '\n')
	}
	if _, err := s.out.Write(append(text, '\n')); err != nil {
		return err
	}
	s.next = ev.Index + 1
	if ev.Index >= s.last || ev.Index%flushEvery == 0 {
		return s.out.flush()
	}
	return nil
}
