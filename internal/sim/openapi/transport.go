package openapi

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Transport judges each request and its answer on their way.
type Transport struct {
	Judge *Judge
	// Base sends; nil means http.DefaultTransport.
	Base http.RoundTripper
	// Prefix of the REST root in URLs, such as "/api/v3"; may be empty.
	Prefix string
	// Report gets each complaint; in a test it is t.Error. It may be called
	// from several goroutines.
	Report func(err error)
	// AnswersOnly judges no requests, for tests that send bad ones on purpose.
	AnswersOnly bool
}

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	base := t.Base
	if base == nil {
		base = http.DefaultTransport
	}
	path := strings.TrimPrefix(r.URL.EscapedPath(), strings.TrimSuffix(t.Prefix, "/"))
	if r.Body != nil && r.Body != http.NoBody && !t.AnswersOnly {
		body, err := io.ReadAll(r.Body)
		_ = r.Body.Close()
		if err != nil {
			return nil, fmt.Errorf("openapi: read the request: %w", err)
		}
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(body))
		if err := t.Judge.Request(r.Method, path, body); err != nil {
			t.Report(err)
		}
	}
	resp, err := base.RoundTrip(r)
	if err != nil || !strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		return resp, err
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil {
		return nil, fmt.Errorf("openapi: read the answer: %w", err)
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	if err := t.Judge.Response(r.Method, path, resp.StatusCode, body); err != nil {
		t.Report(err)
	}
	return resp, nil
}
