package bridge

import (
	"context"
	"net"
	"net/http"
	"os"
	"sync"
	"testing"
)

// pipes is a network of one server inside the program, which works in a bubble
// of testing/synctest.
type pipes struct {
	accepted chan net.Conn
	closing  sync.Once
	closed   chan struct{}
}

func newPipes() *pipes {
	return &pipes{accepted: make(chan net.Conn), closed: make(chan struct{})}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.accepted:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.closing.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.accepted <- theirs:
		return ours, nil
	case <-p.closed:
		return nil, &net.OpError{Op: "dial", Net: "pipe", Err: net.ErrClosed}
	}
}

// pipedAgent returns an agent of a bridge that is served inside the program. It
// lives until the test ends, or the function that is returned is called.
func pipedAgent(t testing.TB, handler http.Handler, o Options) (*Agent, func()) {
	t.Helper()
	network := newPipes()
	server := &http.Server{Handler: handler}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(network) // until it is closed
	}()
	o.URL, o.Token, o.APIKey = "http://bridge", fakeToken, "k"
	client, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	client.supervisor.open = func(_ context.Context, generation uint64) (*connection, error) {
		c := newConnection(client.options.URL, fakeToken, noMask, &client.options)
		c.generation = generation
		c.http.Transport.(bearer).next.DialContext = network.dial
		return c, nil
	}
	ctx := context.Background()
	agent, err := client.Agents().Create(ctx, AgentOptions{Model: "m", Local: &LocalOptions{Dir: os.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	return agent, func() {
		if err := client.Close(ctx); err != nil {
			t.Error(err)
		}
		_ = server.Close() // its connections are of no use any more
		<-served
	}
}
