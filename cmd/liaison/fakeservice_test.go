package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// fakeService answers as a test wants it to. What the real one answers is tested
// with the real one; this is for what it seldom does.
type fakeService struct {
	*http.ServeMux
	url string

	mu       sync.Mutex
	requests []string // method, path and query
}

func newFakeService(t *testing.T) *fakeService {
	t.Helper()
	f := &fakeService{ServeMux: http.NewServeMux()}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.requests = append(f.requests, r.Method+" "+r.URL.RequestURI())
		f.mu.Unlock()
		f.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	f.url = server.URL
	return f
}

// answer makes a route answer with a status and a text.
func (f *fakeService) answer(route string, status int, text string) {
	f.HandleFunc(route, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprint(w, text)
	})
}

// asked returns what was asked, in order.
func (f *fakeService) asked() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.requests, "\n")
}

// outcome is how a command ended.
type outcome struct {
	status         int
	stdout, stderr string
}

func (o outcome) String() string {
	return fmt.Sprintf("status %d\nstdout:\n%s\nstderr:\n%s", o.status, o.stdout, o.stderr)
}

// invocation is a command to be run.
type invocation struct {
	environ []string
	stdin   io.Reader
	// stdout gets what the command prints too, as it is printed.
	stdout io.Writer
	ctx    context.Context
}

// command runs a command line in this process. Nothing of the tester's environment is in it.
func (i invocation) command(t *testing.T, args ...string) outcome {
	t.Helper()
	ctx := i.ctx
	if ctx == nil {
		ctx = t.Context()
	}
	// Bounds a hang; the machine may be slow.
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	if i.stdin == nil {
		i.stdin = strings.NewReader("")
	}
	var out, errs bytes.Buffer
	var w io.Writer = &out
	if i.stdout != nil {
		w = io.MultiWriter(&out, i.stdout)
	}
	status := run(ctx, args, i.environ, i.stdin, w, &errs)
	return outcome{status: status, stdout: out.String(), stderr: errs.String()}
}

// liaison runs a command line against a fake service.
func (f *fakeService) liaison(t *testing.T, args ...string) outcome {
	t.Helper()
	return invocation{}.command(t, append(args, "--url", f.url)...)
}

// wants fails unless a command ended as expected. Each text must be in the output
// that it is for; empty ones ask for nothing.
func (o outcome) wants(t *testing.T, status int, stdout, stderr string) {
	t.Helper()
	if o.status != status || !strings.Contains(o.stdout, stdout) || !strings.Contains(o.stderr, stderr) {
		t.Errorf("want status %d, %q on stdout and %q on stderr, but got %s", status, stdout, stderr, o)
	}
}

// record writes events of one session as the service does, with dense indexes.
type record struct {
	strings.Builder
	n int
}

func (r *record) add(typ, turn string, data any) *record {
	text, err := json.Marshal(map[string]any{
		"type": typ, "index": r.n, "sessionId": "ses_1", "turnId": turn, "at": "2031-03-04T12:00:00Z", "data": data,
	})
	if err != nil {
		panic(err)
	}
	r.n++
	r.Write(append(text, '\n'))
	return r
}

// data is the data of an event.
type data = map[string]any
