package redeliver

import (
	"errors"
	"strings"
	"testing"
)

func TestParseFile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, event, body, wants string }{
		"HTTP message":        {"POST / HTTP/1.1\r\nX-GitHub-Event: push\r\nX-GitHub-Delivery: d-1\r\n\r\n{\"a\": 1}", "", `{"a": 1}`, "push"},
		"headers and body":    {"X-GitHub-Event: push\nX-GitHub-Delivery: d-1\n\n{\"a\":\n\n1}", "", "{\"a\":\n\n1}", "push"},
		"a body":              {`{"action":"opened"}`, "pull_request", `{"action":"opened"}`, "pull_request"},
		"as it was saved":     {`{"event":"push","id":"d-1","body":{"a":1}}`, "", `{"a":1}`, "push"},
		"as something else":   {`{"event":"push","id":"d-1","body":{"a":1}}`, "ping", `{"a":1}`, "ping"},
		"CRLF in a JSON text": {"X-GitHub-Event: push\n\n{\"a\":\"\r\n\r\n\"}", "", "{\"a\":\"\r\n\r\n\"}", "push"},
	} {
		got, err := ParseFile([]byte(c.file), c.event)
		if err != nil || string(got.Body) != c.body || got.Event != c.wants || got.Source != GitHub {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for file, says := range map[string]string{
		`{"action":"opened"}`:          "--event",
		`{"action":`:                   "no saved delivery",
		"X-GitHub-Event: push\n{}":     "no empty line",
		"no header\n\n{}":              "Name: value",
		"X-GitHub-Event: push\n\n":     "empty",
		"X-GitHub-Delivery: d-1\n\n{}": "where it came from",
	} {
		if _, err := ParseFile([]byte(file), ""); !errors.Is(err, ErrSaved) || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", file, err)
		}
	}
}

func FuzzParseFile(f *testing.F) {
	f.Add([]byte("POST / HTTP/1.1\r\nX-GitHub-Event: push\r\n\r\n{}"), "")
	f.Add([]byte(`{"body":"{}"}`), "push")
	f.Fuzz(func(t *testing.T, file []byte, event string) {
		if d, err := ParseFile(file, event); err == nil && (d.Source == "" || len(d.Body) == 0) {
			t.Fatalf("took %+v", d)
		}
	})
}
