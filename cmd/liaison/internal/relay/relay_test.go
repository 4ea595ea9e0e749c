package relay

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "It's a Secret to Everybody"

// relayed is a message as a channel makes it of a signed body.
func relayed(t testing.TB, signed string, body any, more ...string) string {
	t.Helper()
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(signed))
	fields := map[string]any{
		"host": "smee.example", "content-type": "application/json", "x-github-event": "pull_request", "x-github-delivery": "d-1",
		"x-hub-signature-256": "sha256=" + hex.EncodeToString(mac.Sum(nil)), "authorization": "Bearer planted",
		"timestamp": 1700000000000, "query": map[string]string{}, "body": body,
	}
	for i := 0; i+1 < len(more); i += 2 {
		fields[more[i]] = more[i+1]
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // as JavaScript writes it
	if err := enc.Encode(fields); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(b.String())
}

// channel is a smee channel: each connection gets one of the streams, the last
// of which stays open.
type channel struct {
	mu      sync.Mutex
	streams []string
	asked   []http.Header
	// answer is what a connection beyond the streams gets.
	answer func(*http.Request) (*http.Response, error)
}

func (c *channel) RoundTrip(req *http.Request) (*http.Response, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, req.Header)
	if len(c.streams) == 0 {
		if c.answer != nil {
			return c.answer(req)
		}
		c.streams = []string{""}
	}
	text := c.streams[0]
	c.streams = c.streams[1:]
	body := io.NopCloser(strings.NewReader(text))
	if len(c.streams) == 0 {
		body = &open{Reader: strings.NewReader(text), ctx: req.Context()}
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream; charset=utf-8"}}, Body: body, Request: req}, nil
}

// open is a body that does not end until its request is given up.
type open struct {
	io.Reader
	ctx context.Context
}

func (o *open) Read(p []byte) (int, error) {
	n, err := o.Reader.Read(p)
	if errors.Is(err, io.EOF) && n == 0 {
		<-o.ctx.Done()
		return 0, o.ctx.Err()
	}
	return n, nil
}

func (o *open) Close() error { return nil }

// door records what it is given.
type door struct {
	mu     sync.Mutex
	bodies []string
	header http.Header
	busy   int
}

func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.bodies, d.header = append(d.bodies, string(body)), r.Header
	if d.busy > 0 {
		d.busy--
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

// run relays for that long and returns what the door got and what was logged.
func run(t *testing.T, c *channel, d *door, long time.Duration) string {
	t.Helper()
	address, err := url.Parse("https://smee.example/planted-channel")
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	r := &Relay{URL: address, Secrets: []string{"another", secret}, Door: d, Transport: c, UserAgent: "liaison/test",
		Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	ctx, cancel := context.WithTimeout(t.Context(), long)
	defer cancel()
	r.Run(ctx)
	if strings.Contains(log.String(), "planted") {
		t.Errorf("the log tells the address, or a body:\n%s", log.String())
	}
	return log.String()
}

func TestADeliveryIsTakenAsItWasSigned(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		signed string
		body   any
		more   []string
	}{
		"as GitHub writes it":    {`{"action":"opened","n":1.0}`, json.RawMessage(`{"action":"opened","n":1.0}`), nil},
		"with HTML as escapes":   {`{"t":"\u003cb\u003e \u0026"}`, json.RawMessage(`{"t":"<b> &"}`), nil},
		"with other spacing":     {`{"a":1,"b":[2]}`, json.RawMessage(`{"a": 1, "b": [2]}`), nil},
		"the bytes beside it":    {"{\"t\":  \"\\ud83d\" }", json.RawMessage(`{"t":"x"}`), []string{"bodyB", base64.StdEncoding.EncodeToString([]byte("{\"t\":  \"\\ud83d\" }"))}},
		"the bytes as a text":    {`{ "a" : 1 }`, `{ "a" : 1 }`, nil},
		"emoji":                  {`{"t":"🚀 naïve"}`, json.RawMessage(`{"t":"🚀 naïve"}`), nil},
		"headers in other cases": {`{}`, json.RawMessage(`{}`), []string{"X-GitHub-Hook-ID", "7"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := &door{}
				data := relayed(t, c.signed, c.body, c.more...)
				run(t, &channel{streams: []string{"event: ready\ndata: {}\n\nid: 1\ndata: " + data + "\n\nevent: ping\ndata: {}\n\n"}}, d, time.Second)
				if len(d.bodies) != 1 || d.bodies[0] != c.signed {
					t.Fatalf("the service got %q, want %q", d.bodies, c.signed)
				}
				if d.header.Get("X-GitHub-Event") != "pull_request" || d.header.Get("X-GitHub-Delivery") != "d-1" ||
					d.header.Get("Content-Type") != "application/json" || d.header.Get("Authorization") != "" {
					t.Errorf("headers %v", d.header)
				}
			})
		})
	}
}

// Who runs a channel, or knows its address, can send anything.
func TestWhatGitHubDidNotSignIsRefused(t *testing.T) {
	t.Parallel()
	body := `{"action":"opened","title":"planted"}`
	for name, c := range map[string]struct{ data, says string }{
		"another body":    {relayed(t, `{"action":"closed"}`, json.RawMessage(body)), "did not keep the bytes that were signed"},
		"no signature":    {relayed(t, body, json.RawMessage(body), "x-hub-signature-256", ""), "has no secret"},
		"SHA-1 only":      {relayed(t, body, json.RawMessage(body), "x-hub-signature-256", "", "x-hub-signature", "sha1=00"), "has no secret"},
		"not hexadecimal": {relayed(t, body, json.RawMessage(body), "x-hub-signature-256", "sha256=zz"), "has no secret"},
		"no event":        {relayed(t, body, json.RawMessage(body), "x-github-event", ""), "something else"},
		"no body":         {`{"x-github-event":"push"}`, "something else"},
		"no JSON":         {`planted`, "something else"},
		"a form":          {relayed(t, "payload=%7B%7D", map[string]string{"payload": "{}"}), "did not keep"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := &door{}
				log := run(t, &channel{streams: []string{"data: " + c.data + "\n\n"}}, d, time.Second)
				if len(d.bodies) != 0 || !strings.Contains(log, c.says) {
					t.Errorf("the service got %q; the log:\n%s", d.bodies, log)
				}
			})
		})
	}
}

// A connection that ends, or falls silent, is made again, and goes on where it was.
func TestAConnectionIsMadeAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		one, two := `{"n":1}`, `{"n":2}`
		c := &channel{streams: []string{
			"id: 7\r\ndata: " + relayed(t, one, json.RawMessage(one)) + "\r\n\r\ndata: broken off",
			"data: " + relayed(t, two, json.RawMessage(two)) + "\n\n",
		}}
		d := &door{}
		log := run(t, c, d, 2*silence)
		if len(d.bodies) != 2 || len(c.asked) < 3 {
			t.Errorf("the service got %q over %d connections", d.bodies, len(c.asked))
		}
		if got := c.asked[1].Get("Last-Event-ID"); got != "7" {
			t.Errorf("went on after event %q", got)
		}
		if !strings.Contains(log, "nothing was heard") {
			t.Errorf("the log:\n%s", log)
		}
	})
}

// A channel that is not there is tried ever less often, and said once.
func TestAChannelThatIsNotThereMakesNoNoise(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(*http.Request) (*http.Response, error){
		"no connection": func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") },
		"a page": func(req *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Status: "200 OK", Header: http.Header{"Content-Type": {"text/html"}}, Body: http.NoBody, Request: req}, nil
		},
		"a redirect": func(req *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusFound, Status: "302 Found", Header: http.Header{"Location": {"http://other.example/"}}, Body: http.NoBody, Request: req}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := &channel{answer: answer}
				log := run(t, c, &door{}, 10*time.Minute)
				if n := len(c.asked); n < 10 || n > 16 {
					t.Errorf("%d attempts in ten minutes", n)
				}
				if n := strings.Count(log, "interrupted"); n != 1 {
					t.Errorf("%d log lines:\n%s", n, log)
				}
			})
		})
	}
}

// A store that is busy for a moment loses nothing.
func TestADeliveryIsOfferedAgainWhileTheServiceIsBusy(t *testing.T) {
	t.Parallel()
	for busy, offered := range map[int]int{2: 3, tries: tries} {
		t.Run(fmt.Sprint(busy), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := &door{busy: busy}
				log := run(t, &channel{streams: []string{"data: " + relayed(t, `{}`, json.RawMessage(`{}`)) + "\n\n"}}, d, time.Minute)
				if len(d.bodies) != offered || strings.Contains(log, "refused") != (busy == tries) {
					t.Errorf("offered %d times; the log:\n%s", len(d.bodies), log)
				}
			})
		})
	}
}

func TestAnEventIsBounded(t *testing.T) {
	t.Parallel()
	endless := io.MultiReader(strings.NewReader("data: "), endlessly('x'))
	if _, err := newStream(endless, func() {}).next(); !errors.Is(err, errTooLong) {
		t.Errorf("got %v", err)
	}
}

type endlessly byte

func (b endlessly) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(b)
	}
	return len(p), nil
}

func FuzzStream(f *testing.F) {
	f.Add([]byte("event: ready\r\ndata: {}\n\n: comment\nid: 1\ndata: a\ndata: b\n\n"))
	f.Add([]byte("data: {\"x-github-event\":\"push\",\"x-hub-signature-256\":\"sha256=00\",\"body\":{}}\n\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s := newStream(bytes.NewReader(text), func() {})
		for {
			e, err := s.next()
			if err != nil {
				return
			}
			m, err := parse(e.data)
			if err != nil {
				continue
			}
			if _, err := m.signed([]string{secret}); err == nil {
				t.Fatal("nobody signed it")
			}
		}
	})
}
