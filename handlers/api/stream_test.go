package api_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	client "github.com/liaison-bot/liaison/gen/api"
	"github.com/liaison-bot/liaison/handlers"
	"github.com/liaison-bot/liaison/handlers/api"
	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/state"
)

// lines reads a stream line by line and judges each.
type lines struct {
	t        *testing.T
	w        *world
	response *http.Response
	*bufio.Scanner
}

func (w *world) stream(ctx context.Context, token string, from int64, edits ...edit) *lines {
	w.t.Helper()
	response, err := w.as(token).StreamSession(ctx, sessionID, &client.StreamSessionParams{StartIndex: &from}, edits...)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { response.Body.Close() })
	if response.StatusCode != http.StatusOK {
		w.t.Fatalf("answered %s", response.Status)
	}
	return &lines{w.t, w, response, bufio.NewScanner(response.Body)}
}

// next returns the next line, which must hold the event of an index.
func (l *lines) next(index int) {
	l.t.Helper()
	if !l.Scan() {
		l.t.Fatalf("the stream ended before event %d: %v", index, l.Err())
	}
	text := bytes.TrimPrefix(l.Bytes(), []byte("data: "))
	if err := l.w.judge.event(text); err != nil {
		l.t.Errorf("an event that does not fit the description: %v\n%s", err, text)
	}
	if !bytes.Contains(text, fmt.Appendf(nil, `"index":%d,`, index)) || bytes.Contains(text, []byte("commit")) {
		l.t.Errorf("got %s, want event %d", text, index)
	}
}

func (l *lines) want(text string) {
	l.t.Helper()
	if !l.Scan() || l.Text() != text {
		l.t.Fatalf("got %q, %v, want %q", l.Text(), l.Err(), text)
	}
}

func TestStreamReplaysAndFollows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.stream(t.Context(), aliceToken, 0)
	s.next(0)
	s.next(1)
	for i := 2; i < 200; i++ {
		w.runtime.append(sessionID, event(sessions.EventMessageAppended, `{"text":"line\nbreak"}`))
		s.next(i)
	}
	again := w.stream(t.Context(), aliceToken, 150)
	for i := 150; i < 200; i++ {
		again.next(i)
	}
	if kind := s.response.Header.Get("Content-Type"); kind != "application/x-ndjson" {
		t.Errorf("content type %q", kind)
	}
}

func TestServerSentEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.stream(t.Context(), aliceToken, 0, header("Accept", "text/html, text/event-stream;q=0.9"), header("Last-Event-ID", "0"))
	s.want("id: 1")
	s.next(1)
	s.want("")
	w.runtime.append(sessionID, event(sessions.EventMessageAppended, `{"text":"a"}`))
	s.want("id: 2")
	s.next(2)
	s.want("")
	for _, bad := range []string{"x", "-1", "1.5", "9223372036854775807"} {
		response, err := w.as(aliceToken).StreamSession(t.Context(), sessionID, nil, header("Accept", "text/event-stream"), header("Last-Event-ID", bad))
		read(t, response, err, 400)
	}
}

// A task that ends while a stream of it begins has its end sent, also to a
// browser that has seen all that came before.
func TestStreamOfATaskThatEndsMeanwhile(t *testing.T) {
	t.Parallel()
	const id = "ses_ends_meanwhile"
	w := newWorld(t, func(o *api.Options) { o.Runtime = &endsMeanwhile{o.Runtime.(*runtime)} })
	w.commit(state.Change{Sessions: []state.Session{{
		ID: id, Key: "http:meanwhile", Mode: state.ModeTask, Channel: sessions.ChannelHTTP,
		Principal: "api:alice", Status: state.SessionActive, CreatedAt: epoch, UpdatedAt: epoch,
	}}, Keys: []state.KeyLink{{Key: "http:meanwhile", SessionID: id}}})
	w.runtime.append(id, event(sessions.EventSessionStarted, `{}`))
	for _, accept := range []string{"application/x-ndjson", "text/event-stream"} {
		response, err := w.as(aliceToken).StreamSession(t.Context(), id, &client.StreamSessionParams{StartIndex: new(int64(1))}, header("Accept", accept))
		if body := read(t, response, err, 200); !bytes.Contains(body, []byte(sessions.EventSessionCompleted)) {
			t.Errorf("%s: got %q", accept, body)
		}
	}
}

// endsMeanwhile is an engine whose tasks end as soon as somebody has asked how far they are.
type endsMeanwhile struct{ *runtime }

func (r *endsMeanwhile) LastIndex(context.Context, string) (int64, error) {
	r.append("ses_ends_meanwhile", event(sessions.EventSessionCompleted, `{}`))
	return 0, nil
}

// A browser's stream of a task that is over must not come back for ever; for
// others an empty answer is the answer.
func TestStreamOfATaskEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	response, err := w.as(aliceToken).StreamSession(t.Context(), taskID, nil)
	if body := read(t, response, err, 200); bytes.Count(body, []byte("\n")) != 2 {
		t.Errorf("got %s", body)
	}
	response, err = w.as(aliceToken).StreamSession(t.Context(), taskID, &client.StreamSessionParams{StartIndex: new(int64(2))})
	if body := read(t, response, err, 200); len(body) != 0 {
		t.Errorf("got %s", body)
	}
}

// Signs of life come between events, and never split one.
func TestHeartbeats(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newQuietWorld(t)
		r := local("GET", "/v1/session/"+sessionID+"/stream?startIndex=2", "")
		r.Header.Set("Authorization", "Bearer "+aliceToken)
		r.Header.Set("Accept", "text/event-stream")
		done := make(chan string)
		go func() { done <- w.do(r).Body.String() }()
		time.Sleep(40 * time.Second)
		w.runtime.append(sessionID, event(sessions.EventMessageAppended, `{}`))
		time.Sleep(40 * time.Second)
		w.api.Stop()
		if got := <-done; strings.Count(got, ": alive\n\n") != 5 || strings.Count(got, "id: 2\n") != 1 || !strings.Contains(got, ": alive\n\nid: 2\ndata: {") {
			t.Errorf("got %q", got)
		}
	})
}

// A stop of the service ends streams at once, so that nobody waits for them,
// and leaves nothing behind.
func TestStopEndsStreams(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server := &http.Server{Handler: w.api, ReadHeaderTimeout: time.Minute}
	server.RegisterOnShutdown(w.api.Stop)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	w.server.URL = "http://" + listener.Addr().String()
	var open []*lines
	for _, accept := range []string{"application/x-ndjson", "text/event-stream"} {
		s := w.stream(t.Context(), aliceToken, 0, header("Accept", accept))
		s.Scan() // it goes on
		open = append(open, s)
	}
	if n := w.api.Streams(); n != 2 {
		t.Errorf("%d streams are open, want 2", n)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	<-served
	for _, s := range open {
		for s.Scan() {
		}
		if err := s.Err(); err != nil {
			t.Errorf("the stream ended with %v", err)
		}
	}
	if n := w.api.Streams(); n != 0 {
		t.Errorf("%d streams are left", n)
	}
}

func TestClientsThatGoFreeTheirPlace(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *api.Options) { o.MaxStreams = 8 })
	ctx, leave := context.WithCancel(t.Context())
	for range 2 {
		w.stream(ctx, aliceToken, 0) // her quarter
	}
	refused := func(token string) {
		t.Helper()
		response, err := w.as(token).StreamSession(t.Context(), sessionID, nil)
		if got := parse[client.Error](t, response, err, 503); got.Error != "too_many_streams" || response.Header.Get("Retry-After") == "" {
			t.Errorf("got %+v", got)
		}
	}
	refused(aliceToken)
	for range 6 {
		w.stream(ctx, operatorToken, 0)
	}
	refused(operatorToken)
	leave()
	for w.api.Streams() > 0 {
		select {
		case <-t.Context().Done():
			t.Fatal("places are not given back")
		case <-time.After(time.Millisecond):
		}
	}
	w.stream(t.Context(), aliceToken, 0)
}

// connect returns a client's end of a connection to a server of the API.
func (w *world) connect() (theirs net.Conn, end func()) {
	ours, theirs := net.Pipe()
	server := handlers.NewServer(handlers.New(handlers.Options{API: w.api, Now: time.Now, Logger: discard}), discard)
	listener := &oneConn{conn: make(chan net.Conn, 1)}
	listener.conn <- named{ours}
	go func() { _ = server.Serve(listener) }()
	return theirs, func() {
		theirs.Close()
		server.Close()
	}
}

// A client that does not read is left after a while, and others see everything meanwhile.
func TestSlowReadersAreLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newQuietWorld(t, noTokens)
		theirs, end := w.connect()
		defer end()
		if _, err := fmt.Fprintf(theirs, "GET /v1/session/%s/stream HTTP/1.1\r\nHost: localhost\r\n\r\n", sessionID); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(theirs, make([]byte, 12)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := w.api.Streams(); n != 1 {
			t.Fatalf("%d streams, want 1", n)
		}
		time.Sleep(31 * time.Second)
		synctest.Wait()
		if n := w.api.Streams(); n != 0 {
			t.Errorf("%d streams are held by a client that does not read", n)
		}
	})
}

// One that reads has all the time of the world.
func TestPatientReadersAreKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newQuietWorld(t, noTokens)
		theirs, end := w.connect()
		defer end()
		received := make(chan string, 1000)
		go func() {
			scanner := bufio.NewScanner(theirs)
			for scanner.Scan() {
				received <- scanner.Text()
			}
			close(received)
		}()
		if _, err := fmt.Fprintf(theirs, "GET /v1/session/%s/stream HTTP/1.1\r\nHost: localhost\r\n\r\n", sessionID); err != nil {
			t.Fatal(err)
		}
		time.Sleep(24 * time.Hour)
		w.runtime.append(sessionID, event(sessions.EventMessageAppended, `{"text":"the next day"}`))
		synctest.Wait()
		for text := range received {
			if strings.Contains(text, "the next day") {
				return
			}
		}
		t.Error("the stream ended before the next day")
	})
}

func TestEventDumps(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.as(aliceToken)
	response, err := c.GetSessionEvents(t.Context(), sessionID, nil)
	text := read(t, response, err, 200)
	for line := range bytes.Lines(text) {
		if err := w.judge.event(line); err != nil {
			t.Error(err)
		}
	}
	if bytes.Count(text, []byte("\n")) != 2 {
		t.Errorf("got %s", text)
	}
	asJSON := new(client.GetSessionEventsParamsFormatJson)
	for from, want := range map[int64]int{0: 2, 1: 1, 2: 0, 1 << 40: 0} {
		response, err = c.GetSessionEvents(t.Context(), sessionID, &client.GetSessionEventsParams{StartIndex: &from, Format: asJSON})
		got := parse[client.EventDump](t, response, err, 200)
		if got.SessionId != sessionID || len(got.Events) != want || got.PlaygroundUrl != w.server.URL+"/?sessionId="+sessionID {
			t.Errorf("from %d: %+v", from, got)
		}
		response, err = c.GetSessionEvents(t.Context(), sessionID, &client.GetSessionEventsParams{StartIndex: &from})
		if got := bytes.Count(read(t, response, err, 200), []byte("\n")); got != want {
			t.Errorf("from %d: %d lines, want %d", from, got, want)
		}
	}
	for _, bad := range []string{"startIndex=-1", "startIndex=x", "startIndex=", "startIndex=1&startIndex=2", "startindex=1", "format=xml", "startIndex=9223372036854775808", "startIndex=%2B1", "a;b", "%zz"} {
		response, err = c.GetSessionEvents(t.Context(), sessionID, nil, query(bad))
		read(t, response, err, 400)
	}
}

// A record that cannot be read to its end never looks whole.
func TestDamagedRecordsAreCutOff(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"json", "ndjson"} {
		w := newWorld(t)
		w.runtime.breakAfter(sessionID, errors.New("inner workings"))
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.server.URL+"/v1/session/"+sessionID+"/events?format="+format, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+aliceToken)
		response, err := w.server.Client().Do(r)
		if err == nil {
			_, err = io.ReadAll(response.Body)
			response.Body.Close()
		}
		if err == nil {
			t.Errorf("the %s dump of a damaged record looks whole", format)
		}
		response, err = w.as(aliceToken).GetSessionEvents(t.Context(), sessionID, nil, query("startIndex=2&format="+format))
		if err != nil || response.StatusCode != http.StatusInternalServerError {
			t.Errorf("the damage alone is answered %v, %v", response, err)
		}
	}
}
