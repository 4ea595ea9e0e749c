package handlers_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/handlers"
)

func admin(local bool) http.Handler {
	return handlers.NewAdmin(handlers.AdminOptions{
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "counted 1\n") }),
		Local:   local,
		Logger:  slog.New(slog.DiscardHandler),
	})
}

func TestAdminRoutes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		method, path string
		status       int
		says         string
	}{
		{http.MethodGet, "/metrics", 200, "counted 1"},
		{http.MethodHead, "/metrics", 200, ""},
		{http.MethodPost, "/metrics", 404, "not_found"},
		{http.MethodGet, "/healthz", 200, `"ok":true`},
		{http.MethodGet, "/debug/pprof/", 200, "goroutine"},
		{http.MethodGet, "/debug/pprof/goroutine?debug=1", 200, "goroutine profile"},
		{http.MethodGet, "/debug/pprof/heap", 200, ""},
		{http.MethodGet, "/debug/pprof/cmdline", 200, ""},
		{http.MethodPost, "/debug/pprof/symbol", 200, "num_symbols"},
		{http.MethodGet, "/debug/vars", 404, "not_found"},
		{http.MethodPost, "/webhooks/github", 404, "not_found"},
		{http.MethodGet, "/v1/info", 404, "not_found"},
		{http.MethodGet, "/", 404, "/metrics"},
	} {
		w := httptest.NewRecorder()
		admin(false).ServeHTTP(w, httptest.NewRequest(tt.method, tt.path, nil))
		if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.says) {
			t.Errorf("%s %s: got %d %.200s", tt.method, tt.path, w.Code, w.Body)
		}
	}
}

// A page in a browser can make its own name point at this machine; what the
// listener shows is not for it.
func TestAdminOfThisMachineRefusesOtherNames(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]int{
		"127.0.0.1:8081": 200, "127.0.0.2": 200, "localhost:8081": 200, "LOCALHOST": 200, "[::1]:8081": 200, "[::1]": 200,
		"evil.example:8081": 403, "localhost.evil.example": 403, "192.0.2.1:8081": 403, "127.0.0.1.evil.example": 403, "": 403,
	} {
		r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
		r.Host = host
		w := httptest.NewRecorder()
		admin(true).ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("Host %q: got %d, want %d", host, w.Code, want)
		}
	}
}

func TestMetricsAreNotPublic(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for _, path := range []string{"/metrics", "/debug/pprof/", "/debug/pprof/heap", "/debug/vars"} {
		if w := s.post(httptest.NewRequest(http.MethodGet, path, nil)); w.Code != http.StatusNotFound {
			t.Errorf("%s: got %d", path, w.Code)
		}
	}
}

// A client of an API gets an answer of its own shape for every path.
func TestOddPathsAreNotFound(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for _, path := range []string{"/v1", "//", "//v1/info", "/v1/../healthz", "/v1/./info", "/webhooks//github", "/healthz/"} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.URL.Path = path
		if w := s.post(r); w.Code != http.StatusNotFound || w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%s: got %d %s", path, w.Code, w.Header().Get("Content-Type"))
		}
	}
}
