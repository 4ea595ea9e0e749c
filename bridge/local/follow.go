package local

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"time"

	"connectrpc.com/connect"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// following is what one stream sends of a run.
type following struct {
	rec runRecord
	// live is nil for a run that is not live in this process.
	live      *run
	numbering numbering
	// after is how many messages the caller has already.
	after int
	// feed and steps are nil unless the caller asked for deltas and steps.
	feed  *deltaFeed
	steps *stepBuilder
}

// follow sends what a run has said, then what it says, then its result.
func (s *agentService) follow(ctx context.Context, f following, out *connect.ServerStream[sdkv1.RunStreamMessage]) error {
	w := &streamWriter{following: f, send: func(m *sdkv1.RunStreamMessage) error {
		setWriteDeadline(ctx, time.Now().Add(s.server.slowReader))
		return out.Send(m)
	}}
	if f.live != nil {
		reader, err := f.live.log.reader()
		switch {
		case err == nil:
			defer func() { _ = reader.close() }() // opened for reading only
			return s.followLive(ctx, w, reader)
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
		// It has ended meanwhile, and its record is in the storage.
		<-f.live.done
		w.rec = f.live.rec
	}
	switch err := s.server.registry.store.events(ctx, w.rec, w.entry); {
	case errors.Is(err, errNotKept):
		return runNotFound(w.rec.ID)
	case err != nil:
		return err
	}
	if !w.rec.Status.ended() {
		return leftBehind(connect.CodeFailedPrecondition, sdkv1.SdkErrorCode_SDK_ERROR_CODE_UNSPECIFIED, w.rec.ID)
	}
	return w.end(w.rec, s.server.now())
}

// followLive reads the record of a live run at the pace of its stream.
func (s *agentService) followLive(ctx context.Context, w *streamWriter, reader *logReader) error {
	keepalive := time.NewTimer(s.server.keepalive)
	defer keepalive.Stop()
	for {
		size, sealed, changed := w.live.log.state()
		if err := reader.upTo(size, w.entry); err != nil {
			return err
		}
		if sealed {
			<-w.live.done // the record is sealed just before
			return w.end(w.live.rec, s.server.now())
		}
		if err := w.deltas(w.last + 1); err != nil {
			return err
		}
		keepalive.Reset(s.server.keepalive)
		for waiting := true; waiting; {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-changed:
				waiting = false
			case <-w.feed.changed():
				waiting = false
			case <-keepalive.C:
				if err := w.send(&sdkv1.RunStreamMessage{}); err != nil {
					return err
				}
				keepalive.Reset(s.server.keepalive)
			}
		}
	}
}

// streamWriter turns a run's record into the messages of one stream.
type streamWriter struct {
	following
	send func(*sdkv1.RunStreamMessage) error
	// sent counts the messages that have an offset, last is the number of the
	// newest entry of the record.
	sent, last int
}

// entry sends one entry of the record, with the deltas and steps that belong
// before and after it. Only sdk_messages have offsets.
func (w *streamWriter) entry(e entry) error {
	if err := w.deltas(e.Seq); err != nil {
		return err
	}
	w.last = e.Seq
	if w.steps != nil {
		for _, st := range w.steps.before(e) {
			if err := w.step(st); err != nil {
				return err
			}
		}
	}
	if e.Type == durableOnly && w.numbering == liveNumbering {
		return nil
	}
	if w.sent++; w.sent > w.after {
		m, err := e.proto()
		if err != nil {
			return err
		}
		m.Offset = w.numbering.offset(w.sent)
		if err := w.send(m); err != nil {
			return err
		}
	}
	if w.steps != nil {
		for _, st := range w.steps.after(e) {
			if err := w.step(st); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *streamWriter) step(st step) error {
	m, err := st.proto()
	if err != nil {
		return err
	}
	return w.send(m)
}

// deltas sends those that belong before the entry of number seq.
func (w *streamWriter) deltas(seq int) error {
	for _, u := range w.feed.take(seq) {
		m, err := u.proto()
		if err != nil {
			return err
		}
		if err := w.send(m); err != nil {
			return err
		}
	}
	return nil
}

// end sends the result and the end mark. They have no offset: a resumed stream
// always ends with them.
func (w *streamWriter) end(rec runRecord, now time.Time) error {
	if err := w.deltas(math.MaxInt); err != nil {
		return err
	}
	result := &sdkv1.RunStreamResult{
		AgentId: rec.AgentID, RunId: rec.ID, Status: rec.Status.proto(), Result: rec.result(now),
	}
	if rec.ErrorCode != "" {
		result.ErrorCode = &rec.ErrorCode
	}
	if err := w.send(&sdkv1.RunStreamMessage{Envelope: &sdkv1.RunStreamMessage_Result{Result: result}}); err != nil {
		return err
	}
	return w.send(&sdkv1.RunStreamMessage{Envelope: &sdkv1.RunStreamMessage_Done{
		Done: &sdkv1.RunStreamDone{AgentId: rec.AgentID, RunId: rec.ID},
	}})
}
