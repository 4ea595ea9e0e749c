package github

import (
	"context"
	"io"
	"net/http"
	"time"
)

// timed bounds each request, its answer's body included. http.Client.Timeout
// would do the same, but keeps a goroutine for every answer that go-github
// reads to its end without closing it.
type timed struct {
	next  http.RoundTripper
	limit time.Duration
}

// RoundTrip implements http.RoundTripper.
func (t timed) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(req.Context(), t.limit)
	resp, err := t.next.RoundTrip(req.WithContext(ctx))
	if err != nil {
		cancel()
		return nil, err
	}
	resp.Body = &timedBody{ReadCloser: resp.Body, cancel: cancel}
	return resp, nil
}

// timedBody ends the time limit with the body.
type timedBody struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.cancel()
	}
	return n, err
}

func (b *timedBody) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}
