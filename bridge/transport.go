package bridge

import (
	"net"
	"net/http"
	"time"
)

// maxReceive bounds one message of the bridge. The longest are tool results,
// which the vendor's bridge cuts far below this.
const maxReceive = 32 << 20

// newHTTPClient returns a client for one bridge: HTTP/1.1 only, as the protocol
// asks, no proxy, since an HTTP_PROXY meant for the world would catch loopback
// calls too, and no overall timeout, which would cut the stream of a long run.
// Deadlines come from contexts.
func newHTTPClient(token string) *http.Client {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Client{
		Transport: bearer{token: token, next: &http.Transport{
			Proxy:                 nil,
			DialContext:           (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
			Protocols:             protocols,
			MaxIdleConnsPerHost:   8,
			IdleConnTimeout:       90 * time.Second,
			ExpectContinueTimeout: time.Second,
		}},
		// A bridge has no reason to send us elsewhere, with the token.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// bearer puts the token on every request. It sits below Connect because an
// interceptor for unary calls alone would leave the streams without it.
type bearer struct {
	token string
	next  *http.Transport
}

// RoundTrip implements [http.RoundTripper].
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	if b.token != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+b.token)
	}
	return b.next.RoundTrip(r)
}

// CloseIdleConnections lets http.Client.CloseIdleConnections reach the transport.
func (b bearer) CloseIdleConnections() { b.next.CloseIdleConnections() }
