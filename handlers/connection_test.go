package handlers_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/liaison-bot/liaison/handlers"
)

// However slowly a client sends or reads, its connection ends.
func TestSlowClientsAreCutOff(t *testing.T) {
	t.Parallel()
	const signed = "POST /webhooks/github HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n" +
		"X-GitHub-Event: ping\r\nX-GitHub-Delivery: id\r\nContent-Length: 9999\r\n"
	for name, request := range map[string]string{
		"headers":                  "GET /healthz HTTP/1.1\r\nHost: h\r\n",
		"idle":                     "GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n",
		"body":                     signed + "X-Hub-Signature-256: sha256=00\r\n\r\n{",
		"body without a signature": signed + "\r\n{",
		"body of no JSON":          "POST /webhooks/github HTTP/1.1\r\nHost: h\r\nContent-Length: 9999\r\n\r\n{",
		"body to nowhere":          "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na",
		"body nobody asked for":    "GET /healthz HTTP/1.1\r\nHost: h\r\nContent-Length: 9999\r\n\r\n{",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				client := connect(t)
				begun := time.Now()
				if _, err := io.WriteString(client, request); err != nil {
					t.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, client); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(begun); took > 3*time.Minute {
					t.Errorf("held for %s", took)
				}
			})
		})
	}
	t.Run("reads nothing", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			client := connect(t)
			begun := time.Now()
			for err := error(nil); err == nil; {
				_, err = io.WriteString(client, "GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n")
			}
			if took := time.Since(begun); took > 3*time.Minute {
				t.Errorf("held for %s", took)
			}
		})
	})
}

// connect returns a client's end of a connection to a server in virtual time.
// An hour without an end counts as one that is held for ever.
func connect(t *testing.T) net.Conn {
	t.Helper()
	client, end := net.Pipe()
	log := slog.New(slog.DiscardHandler)
	server := handlers.NewServer(handlers.New(handlers.Options{
		Inbox: acceptAll{}, GitHubSecrets: []string{secret}, Now: time.Now, Logger: log,
		Check: func(context.Context) error { return nil },
	}), log)
	listener := &oneConn{conn: make(chan net.Conn, 1)}
	listener.conn <- end
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close(); _ = client.Close() })
	if err := client.SetDeadline(time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	return client
}

// oneConn is a listener with one connection to accept.
type oneConn struct{ conn chan net.Conn }

func (l *oneConn) Accept() (net.Conn, error) {
	if conn, ok := <-l.conn; ok {
		return conn, nil
	}
	return nil, net.ErrClosed
}

func (l *oneConn) Close() error   { close(l.conn); return nil }
func (l *oneConn) Addr() net.Addr { return &net.TCPAddr{} }
