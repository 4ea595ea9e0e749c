package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/liaison-bot/liaison/gen/api"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience only bounds a hang.
const patience = 5 * time.Minute

// serve runs a service made of one handler, and returns a client that does not wait.
func serve(t *testing.T, h http.HandlerFunc) *Service {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return client(t, server.URL)
}

func client(t *testing.T, url string) *Service {
	t.Helper()
	s, err := New(Options{URL: url, Token: "a-token-of-the-tests", UserAgent: "test"})
	if err != nil {
		t.Fatal(err)
	}
	s.wait = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	t.Cleanup(s.Close)
	return s
}

func patient(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

func TestNewRefusesAddresses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		url      string
		fine     bool
		insecure bool
	}{
		{url: "http://127.0.0.1:8080", fine: true},
		{url: "http://localhost:8080/", fine: true},
		{url: "http://[::1]:8080", fine: true},
		{url: "https://liaison.example.com/below", fine: true},
		{url: "http://liaison.example.com", insecure: true},
		{url: "http://127.0.0.1.example.com", insecure: true},
		{url: "http://10.0.0.1:8080", insecure: true},
		{url: "127.0.0.1:8080"},
		{url: "ftp://127.0.0.1"},
		{url: "https://user:secret@example.com"},
		{url: "https://example.com?a=b"},
		{url: ""},
	} {
		_, err := New(Options{URL: c.url, Token: "x"})
		if (err == nil) != c.fine || errors.Is(err, ErrInsecure) != c.insecure {
			t.Errorf("%q: %v", c.url, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: the error shows a password: %v", c.url, err)
		}
	}
}

func TestCall(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status  int
		header  [2]string
		body    string
		refused bool
		says    string
	}{
		"success":       {status: 200, body: `{"ok":true,"sessions":[]}`},
		"refused":       {status: 404, body: `{"ok":false,"error":"not_found","message":"there is no such session"}`, refused: true, says: "there is no such session"},
		"unauthorized":  {status: 401, body: `{"ok":false,"error":"unauthorized","message":"send a token"}`, refused: true, says: "--token-file"},
		"somebody else": {status: 418, body: "<html>teapot</html>", refused: true, says: "is --url right?"},
		"redirect":      {status: 302, header: [2]string{"Location", "https://other.example/"}, refused: true, says: "https://other.example/"},
		"no JSON":       {status: 200, body: "<html>", says: "this version"},
		"only a code":   {status: 503, header: [2]string{"Retry-After", "7"}, body: `{"ok":false,"error":"busy"}`, refused: true, says: "busy"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") != "Bearer a-token-of-the-tests" {
					t.Errorf("Authorization: %q", r.Header.Get("Authorization"))
				}
				if c.header[0] != "" {
					w.Header().Set(c.header[0], c.header[1])
				}
				w.WriteHeader(c.status)
				fmt.Fprint(w, c.body)
			})
			_, err := Call[api.SessionList](patient(t), s, func(ctx context.Context) (*http.Response, error) {
				return s.API().ListSessions(ctx, nil)
			})
			if c.says == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			r, refused := errors.AsType[*Refusal](err)
			if err == nil || refused != c.refused || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("%v", err)
			}
			if c.header[0] == "Retry-After" && r.RetryAfter != 7*time.Second {
				t.Errorf("retry after %s", r.RetryAfter)
			}
		})
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	s := client(t, "http://"+gone.Addr().String())
	list := func(ctx context.Context) (*http.Response, error) { return s.API().ListSessions(ctx, nil) }
	_, err = Call[api.SessionList](patient(t), s, list)
	if e, ok := errors.AsType[*UnreachableError](err); !ok || !strings.Contains(err.Error(), `is "liaison serve" running there?`) || e.URL != "http://"+gone.Addr().String() {
		t.Errorf("%v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err = Call[api.SessionList](ended, s, list); !errors.Is(err, context.Canceled) {
		t.Errorf("after Ctrl-C: %v", err)
	}
	if err := s.Follow(patient(t), "ses_1", 0, func(*Event) error { return nil }, nil); err == nil {
		t.Error("a service that was never there is followed")
	}
}

func line(index int64, typ string) string {
	return fmt.Sprintf(`{"type":%q,"index":%d,"sessionId":"ses_1","at":"2031-03-04T12:00:00Z","data":{"text":"t%d"}}`+"\n", typ, index, index)
}

// A stream that is cut anywhere, also within a line, goes on where it was;
// events that come twice are seen once.
func TestFollowGoesOnAfterACut(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		from := r.URL.Query().Get("startIndex")
		switch n := calls.Add(1); n {
		case 1:
			if from != "2" {
				t.Errorf("call 1 from %q", from)
			}
			fmt.Fprint(w, line(2, "a"), line(3, "b"), line(4, "torn")[:20])
		case 2:
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
		case 3:
			if from != "4" {
				t.Errorf("call 3 from %q", from)
			}
			// A server that begins too early: nothing is seen twice.
			fmt.Fprint(w, line(3, "b"), "\n", line(4, "c"))
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		default:
			fmt.Fprint(w, line(5, "d"), line(6, "e"))
		}
	})
	var seen []string
	var lost int
	err := s.Follow(patient(t), "ses_1", 2, func(e *Event) error {
		var data struct{ Text string }
		if err := e.Decode(&data); err != nil {
			return err
		}
		seen = append(seen, e.Type+data.Text)
		if e.Type == "d" {
			return ErrStop
		}
		return nil
	}, func(error) { lost++ })
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(seen, " "); got != "at2 bt3 ct4 dt5" {
		t.Errorf("seen %s", got)
	}
	if lost != 3 {
		t.Errorf("told of %d cuts", lost)
	}
}

func TestFollowEnds(t *testing.T) {
	t.Parallel()
	mine := errors.New("mine")
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		each    func(*Event) error
		says    string
	}{
		"refused at once": {
			handler: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) },
			says:    "403",
		},
		"not there at once": {
			handler: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
			says:    "503",
		},
		"a gap":    {handler: func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, line(0, "a"), line(2, "c")) }, says: "event 1 is missing"},
		"no event": {handler: func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello\n") }, says: "no event"},
		"the caller's error": {
			handler: func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, line(0, "a")) },
			each:    func(*Event) error { return mine },
			says:    "mine",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, c.handler)
			each := c.each
			if each == nil {
				each = func(*Event) error { return nil }
			}
			err := s.Follow(patient(t), "ses_1", 0, each, nil)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v", err)
			}
		})
	}
}

// A service that does not come back is given up, after the time in which a
// restart would be over.
func TestFollowGivesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var calls int
		s := &Service{url: "http://127.0.0.1:1", now: time.Now, wait: sleep}
		var err error
		s.client, err = api.NewClient(s.url, api.WithHTTPClient(doer(func(*http.Request) (*http.Response, error) {
			calls++
			if calls == 1 {
				r := httptest.NewRecorder()
				fmt.Fprint(r, line(0, "a"))
				return r.Result(), nil
			}
			return nil, errors.New("connection refused")
		})))
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		err = s.Follow(t.Context(), "ses_1", 0, func(*Event) error { return nil }, nil)
		if _, ok := errors.AsType[*UnreachableError](err); !ok {
			t.Errorf("%v", err)
		}
		if took := time.Since(began); took < giveUp || took > giveUp+2*retryMost {
			t.Errorf("given up after %s", took)
		}
	})
}

type doer func(*http.Request) (*http.Response, error)

func (d doer) Do(r *http.Request) (*http.Response, error) { return d(r) }

func TestFollowEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, line(0, "a"))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(patient(t))
	err := s.Follow(ctx, "ses_1", 0, func(*Event) error { cancel(); return nil }, nil)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestRecorded(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/session/ses_1/events" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		fmt.Fprint(w, line(1, "a"), line(2, "b"))
	})
	n := 0
	if err := s.Recorded(patient(t), "ses_1", 1, func(*Event) error { n++; return nil }); err != nil || n != 2 {
		t.Errorf("%d events, %v", n, err)
	}
	if err := s.Recorded(patient(t), "ses_2", 0, nil); err == nil {
		t.Error("an unknown session has a record")
	}
}
