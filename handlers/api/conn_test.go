package api_test

import (
	"log/slog"
	"net"
)

var discard = slog.New(slog.DiscardHandler)

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

// named is a connection from this machine.
type named struct{ net.Conn }

func (named) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 5000} }
