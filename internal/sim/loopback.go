package sim

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// loopback is a server on a free port of 127.0.0.1.
type loopback struct {
	server *http.Server
	done   chan struct{} // closed when the server's goroutine has ended
}

// listenLoopback serves a handler and returns the server with its base URL,
// which has no trailing slash.
func listenLoopback(h http.Handler) (*loopback, string, error) {
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", fmt.Errorf("sim: listen on loopback: %w", err)
	}
	b := &loopback{server: &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}, done: make(chan struct{})}
	go func() {
		defer close(b.done)
		_ = b.server.Serve(l) // always ErrServerClosed after close
	}()
	return b, "http://" + l.Addr().String(), nil
}

// close drops every connection and waits for the server to end. A nil loopback
// was never started.
func (b *loopback) close() error {
	if b == nil {
		return nil
	}
	err := b.server.Close()
	<-b.done
	return err
}

// errStarted is the answer to a second start.
var errStarted = errors.New("sim: the platform is already started")
