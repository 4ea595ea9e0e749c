package sim

import (
	"bytes"
	"net/http"
	"strings"
)

// RecordedRequest is one request as the simulator saw it, for assertions.
type RecordedRequest struct {
	Method string
	// Path is escaped, without the REST prefix; Query is raw.
	Path, Query string
	// Status that was answered; 0 if the connection was dropped or hung.
	Status int
	// Auth is "none", "app" (a JSON web token) or "installation".
	Auth string
	// Authorization is the header itself, to check that no secret went astray.
	Authorization string
	Header        http.Header
	Body          []byte
}

// Requests returns every request so far, oldest first.
func (g *GitHub) Requests() []RecordedRequest {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]RecordedRequest(nil), g.requests...)
}

// ForgetRequests empties the record.
func (g *GitHub) ForgetRequests() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.requests = nil
}

// describe makes the record of a request.
func (g *GitHub) describe(r *http.Request, body []byte, status int) RecordedRequest {
	return RecordedRequest{
		Method: r.Method, Path: strings.TrimPrefix(r.URL.EscapedPath(), g.prefix), Query: r.URL.RawQuery,
		Status: status, Auth: string(authOf(r)), Authorization: r.Header.Get("Authorization"), Header: r.Header.Clone(), Body: bytes.Clone(body),
	}
}

// record appends to the record. Callers hold the lock; note takes it.
func (g *GitHub) record(r *http.Request, body []byte, status int) {
	g.requests = append(g.requests, g.describe(r, body, status))
	g.notify()
}

func (g *GitHub) note(r *http.Request, body []byte, status int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.record(r, body, status)
}

// authOf is the kind of credential that a request shows, good or bad.
func authOf(r *http.Request) authKind {
	_, value, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	switch {
	case value == "":
		return authNone
	case strings.Count(value, ".") == 2:
		return authApp
	}
	return authInstallation
}
