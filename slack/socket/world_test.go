package socket_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"
	"go.uber.org/goleak"

	"github.com/liaison-bot/liaison/slack/socket"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	appToken = "xapp-token-of-the-tests"
	ticket   = "ticket-of-the-tests"
)

// world is Slack as a client of Socket Mode sees it, in one process and without
// a network, so that its clock can be that of a test.
type world struct {
	t      *testing.T
	conns  chan net.Conn
	closed chan struct{}

	mu sync.Mutex
	// open answers the n-th apps.connections.open, from 1; nil gives a link.
	open func(n int, w http.ResponseWriter)
	// script plays the n-th link, from 1, after its greeting.
	script func(n int, s *slackSide)
	asked  []time.Time
	events []string // what became of links, in order
	live   int
	most   int
	linked int
	acks   []string
	accept func(context.Context, socket.Frame) error
	log    bytes.Buffer
	client *socket.Client
}

// slackSide is Slack's end of one link.
type slackSide struct {
	*websocket.Conn
	acks chan string
	gone chan struct{} // closed when the other side has closed it
}

func newWorld(t *testing.T) *world {
	return &world{
		t: t, conns: make(chan net.Conn), closed: make(chan struct{}),
		accept: func(context.Context, socket.Frame) error { return nil },
		script: func(_ int, s *slackSide) { s.pingUntilGone() },
	}
}

// run runs a client while fn looks at it, and returns what Run did.
func (w *world) run(fn func()) error {
	server := &http.Server{Handler: w, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	var parts sync.WaitGroup
	parts.Go(func() { _ = server.Serve(w) })
	transport := &http.Transport{DialContext: w.dial, DisableKeepAlives: true}
	w.client = socket.New(socket.Options{
		AppToken: appToken, APIURL: "http://slack.test/api/", HTTPClient: &http.Client{Transport: transport}, Dial: w.dial,
		Now: time.Now, Rand: func() float64 { return 0.5 }, Logger: slog.New(slog.NewTextHandler(&locked{w: &w.log}, nil)),
		Accept: func(ctx context.Context, f socket.Frame) error { return w.accept(ctx, f) },
	})
	ctx, cancel := context.WithCancel(w.t.Context())
	var err error
	ended := make(chan struct{})
	parts.Go(func() {
		defer close(ended)
		err = w.client.Run(ctx)
	})
	fn()
	cancel()
	<-ended
	synctest.Wait() // until Slack has noticed
	w.mu.Lock()
	if w.live != 0 {
		w.t.Errorf("%d sockets are open after the end", w.live)
	}
	if w.most > 2 {
		w.t.Errorf("%d sockets were open at once", w.most)
	}
	w.mu.Unlock()
	_ = server.Close()
	parts.Wait()
	for _, secret := range []string{appToken, ticket} {
		if strings.Contains(w.log.String(), secret) || strings.Contains(fmt.Sprint(err, w.client.Status()), secret) {
			w.t.Errorf("%s is shown: %s %v %+v", secret, w.log.String(), err, w.client.Status())
		}
	}
	return err
}

func (w *world) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/api/apps.connections.open":
		if r.Method != http.MethodPost || r.Header.Get("Authorization") != "Bearer "+appToken || r.URL.RawQuery != "" {
			w.t.Errorf("asked by %s %s with %q", r.Method, r.URL, r.Header.Get("Authorization"))
		}
		w.mu.Lock()
		w.asked = append(w.asked, time.Now())
		n, open := len(w.asked), w.open
		w.mu.Unlock()
		if open != nil {
			open(n, rw)
			return
		}
		giveLink(rw)
	case "/link":
		if r.Header.Get("Authorization") != "" || r.URL.Query().Get("ticket") != ticket {
			w.t.Errorf("linked by %s with %q", r.URL, r.Header.Get("Authorization"))
		}
		w.serveLink(rw, r)
	default:
		w.t.Errorf("asked for %s", r.URL)
	}
}

func giveLink(w http.ResponseWriter) {
	fmt.Fprintf(w, `{"ok":true,"url":"ws://slack.test/link?ticket=%s"}`, ticket)
}

func (w *world) serveLink(rw http.ResponseWriter, r *http.Request) {
	var upgrader websocket.Upgrader
	conn, err := upgrader.Upgrade(rw, r, nil)
	if err != nil {
		w.t.Error(err)
		return
	}
	w.mu.Lock()
	w.linked++
	n := w.linked
	w.live++
	w.most = max(w.most, w.live)
	w.mu.Unlock()
	s := &slackSide{Conn: conn, acks: make(chan string, 100), gone: make(chan struct{})}
	var reading sync.WaitGroup
	reading.Go(func() {
		defer close(s.gone)
		for {
			_, text, err := conn.ReadMessage()
			if err != nil {
				break
			}
			s.acks <- string(text)
		}
		w.mu.Lock()
		w.live--
		w.mu.Unlock()
		w.note("closed", n)
	})
	w.note("opened", n)
	s.say(`{"type":"hello","num_connections":1,"connection_info":{"app_id":"A1"}}`)
	w.script(n, s)
	_ = conn.Close()
	reading.Wait()
}

// ack waits for the next acknowledgement over a link.
func (w *world) ack(s *slackSide) {
	text := <-s.acks
	w.mu.Lock()
	defer w.mu.Unlock()
	w.acks = append(w.acks, text)
}

func (w *world) note(what string, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, fmt.Sprint(what, " ", n))
}

func (w *world) history() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.events, ", ")
}

// say sends a frame. Who has gone does not hear it.
func (s *slackSide) say(text string) { _ = s.WriteMessage(websocket.TextMessage, []byte(text)) }

// pingUntilGone does what Slack does on a quiet day.
func (s *slackSide) pingUntilGone() { s.pingFor(1000 * time.Hour) }

func (s *slackSide) pingFor(d time.Duration) {
	end := time.After(d)
	for {
		select {
		case <-s.gone:
			return
		case <-end:
			return
		case <-time.After(5 * time.Second):
			_ = s.WriteControl(websocket.PingMessage, []byte("Ping from applink"), time.Now().Add(time.Second))
		}
	}
}

// Accept, Close and Addr make the world a listener.
func (w *world) Accept() (net.Conn, error) {
	select {
	case c := <-w.conns:
		return c, nil
	case <-w.closed:
		return nil, net.ErrClosed
	}
}

func (w *world) Close() error {
	close(w.closed)
	return nil
}

func (w *world) Addr() net.Addr { return &net.TCPAddr{} }

func (w *world) dial(ctx context.Context, _, addr string) (net.Conn, error) {
	if addr != "slack.test:80" {
		return nil, fmt.Errorf("dialled %s", addr)
	}
	ours, theirs := net.Pipe()
	select {
	case w.conns <- theirs:
		return ours, nil
	case <-w.closed:
		return nil, errors.New("refused")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// locked lets many write.
type locked struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
