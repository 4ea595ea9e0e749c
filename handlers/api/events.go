package api

import (
	"bufio"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"time"

	"github.com/liaison-bot/liaison/handlers/answer"
	"github.com/liaison-bot/liaison/state"
)

// eventView is the envelope of an event. What ties it to a commit is nobody's business.
type eventView struct {
	Type      string          `json:"type"`
	Index     int64           `json:"index"`
	SessionID string          `json:"sessionId"`
	TurnID    string          `json:"turnId,omitempty"`
	At        time.Time       `json:"at"`
	Data      json.RawMessage `json:"data"`
}

// line returns an event as one line of JSON, without its end.
func line(ev state.Event) ([]byte, error) {
	if len(ev.Data) == 0 {
		ev.Data = json.RawMessage("{}")
	}
	return json.Marshal(eventView{ev.Type, ev.Index, ev.SessionID, ev.TurnID, ev.At, ev.Data})
}

// events dumps what is recorded so far.
func (a *API) events(w http.ResponseWriter, r *http.Request, p Principal) error {
	sess, err := a.owned(r, p)
	if err != nil {
		return err
	}
	from, err := number(r, "startIndex", 0, 0, math.MaxInt64)
	if err != nil {
		return err
	}
	format, err := word(r, "format", func(s string) bool { return s == "json" || s == "ndjson" })
	if err != nil {
		return err
	}
	out := newSlowWriter(w)
	buffered := bufio.NewWriterSize(out, 32<<10)
	kind, first, between, last := "application/x-ndjson", "", "\n", "\n"
	if format == "json" {
		id, _ := json.Marshal(sess.ID)                                   //nolint:errchkjson // a string
		playground, _ := json.Marshal(a.links(r, sess.ID).PlaygroundURL) //nolint:errchkjson // a string
		kind, first, between, last = "application/json", `{"sessionId":`+string(id)+`,"events":[`, ",", `],"playgroundUrl":`+string(playground)+"}\n"
	}
	n := 0
	begin := func() {
		answer.Private(w.Header())
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(http.StatusOK)
		_, _ = buffered.WriteString(first)
	}
	for ev, err := range a.runtime.Events(r.Context(), sess.ID, from, false) {
		var text []byte
		if err == nil {
			text, err = line(ev)
		}
		if err != nil {
			if n == 0 {
				return err
			}
			a.cutOff(r, err)
		}
		if n++; n == 1 {
			begin()
		} else {
			_, _ = buffered.WriteString(between)
		}
		if _, err := buffered.Write(text); err != nil {
			a.cutOff(r, err)
		}
	}
	if n == 0 {
		begin()
	}
	if n > 0 || format == "json" {
		_, _ = buffered.WriteString(last)
	}
	if err := buffered.Flush(); err != nil {
		a.cutOff(r, err)
	}
	return nil
}

// cutOff ends an answer that has begun and cannot be finished, so that the
// client sees that it is not whole.
func (a *API) cutOff(r *http.Request, err error) {
	if r.Context().Err() == nil {
		a.log.Warn("an answer was cut off", "path", r.URL.Path, "error", err)
	}
	panic(http.ErrAbortHandler)
}

// writeTimeout is how long a client may take to make room for more.
const writeTimeout = 30 * time.Second

// slowWriter gives each write a time of its own, where the server would give
// the whole answer one. A connection without deadlines does without.
type slowWriter struct {
	w    io.Writer
	conn *http.ResponseController
}

func newSlowWriter(w http.ResponseWriter) *slowWriter {
	return &slowWriter{w: w, conn: http.NewResponseController(w)}
}

func (s *slowWriter) Write(p []byte) (int, error) {
	_ = s.conn.SetWriteDeadline(time.Now().Add(writeTimeout))
	return s.w.Write(p)
}

func (s *slowWriter) flush() error {
	_ = s.conn.SetWriteDeadline(time.Now().Add(writeTimeout))
	return s.conn.Flush()
}
