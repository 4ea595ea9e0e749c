package handlers_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/handlers"
)

// request sends one prepared request again and again, without what a client costs.
type request struct {
	*http.Request
	body *bytes.Reader
	w    discard
}

func newRequest(path string, body []byte, headers map[string]string) *request {
	r := &request{body: bytes.NewReader(body), w: discard{header: http.Header{}}}
	r.Request = httptest.NewRequest(http.MethodPost, path, r.body)
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	return r
}

func (r *request) send(h http.Handler) int {
	_, _ = r.body.Seek(0, io.SeekStart)
	clear(r.w.header)
	h.ServeHTTP(&r.w, r.Request)
	return r.w.status
}

// discard is a response that nobody reads.
type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header               { return d.header }
func (d *discard) WriteHeader(status int)            { d.status = status }
func (d *discard) Write(p []byte) (int, error)       { return len(p), nil }
func (d *discard) WriteString(s string) (int, error) { return len(s), nil }
func (d *discard) SetReadDeadline(time.Time) error   { return nil }
func (d *discard) SetWriteDeadline(time.Time) error  { return nil }

func newDoors() http.Handler {
	return handlers.New(handlers.Options{
		Inbox: acceptAll{}, GitHubSecrets: []string{secret}, SlackSecrets: []string{secret}, Now: time.Now,
		Logger: slog.New(slog.DiscardHandler),
		Check:  func(context.Context) error { return nil },
	})
}

// The door's own cost with a store that does nothing: it is to stay a small part
// of what the server costs around it.
func BenchmarkGitHubWebhook(b *testing.B) {
	for _, length := range []int{2 << 10, 24 << 10, 1 << 20} {
		b.Run(strconv.Itoa(length>>10)+"KB", func(b *testing.B) {
			h := newDoors()
			body := bytes.Repeat([]byte(`{"key": "value"},`), length/17)
			r := newRequest("/webhooks/github", body, map[string]string{
				"Content-Type": "application/json", "User-Agent": "GitHub-Hookshot/044aadd",
				"X-GitHub-Event": "pull_request", "X-GitHub-Delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958",
				"X-GitHub-Hook-ID": "292430182", "X-GitHub-Hook-Installation-Target-ID": "79929171",
				"X-GitHub-Hook-Installation-Target-Type": "repository", "X-Hub-Signature-256": sign(secret, body),
			})
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if status := r.send(h); status != http.StatusAccepted {
					b.Fatal(status)
				}
			}
		})
	}
}

func BenchmarkSlackWebhook(b *testing.B) {
	h := newDoors()
	body := []byte(`{"token":"t","team_id":"T1","api_app_id":"A1","event":{"type":"app_mention","text":"` +
		string(bytes.Repeat([]byte("hello "), 300)) + `"},"type":"event_callback","event_id":"Ev08ABCDEF","event_time":1767322945}`)
	timestamp := strconv.FormatInt(time.Now().Unix(), 10)
	r := newRequest("/webhooks/slack", body, map[string]string{
		"Content-Type": "application/json", "User-Agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
		"X-Slack-Request-Timestamp": timestamp, "X-Slack-Signature": slackSign(secret, timestamp, body),
	})
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if status := r.send(h); status != http.StatusOK {
			b.Fatal(status)
		}
	}
}
