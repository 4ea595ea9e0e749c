package relay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Times.
const (
	// silence is how long a channel may say nothing: smee sends a ping every 30 s.
	silence = 2 * time.Minute
	// firstWait and longestWait bound the time between two attempts to connect.
	firstWait   = time.Second
	longestWait = time.Minute
	// tries is how often a delivery is offered to a door that is busy.
	tries = 5
)

// Relay takes deliveries from a channel.
type Relay struct {
	// URL is the channel. Who knows it can read what is relayed: it is never logged.
	URL *url.URL
	// Secrets are those of the App's webhook.
	Secrets []string
	// Door takes deliveries as the service's listener does, and checks them again.
	Door   http.Handler
	Logger *slog.Logger
	// UserAgent names the program.
	UserAgent string
	// Transport carries the requests; nil means one with Go's defaults.
	Transport http.RoundTripper

	// last is the id of the last event, with which a channel that has ids goes on.
	last string
}

// Run takes deliveries until ctx ends. A connection that ends is made again.
func (r *Relay) Run(ctx context.Context) {
	wait, troubled := firstWait, false
	for ctx.Err() == nil {
		connected, err := r.follow(ctx)
		if ctx.Err() != nil {
			return
		}
		if connected {
			wait, troubled = firstWait, false
		}
		if !troubled {
			troubled = true
			r.Logger.Warn("the relay of webhooks is interrupted; it is connected again by itself", "host", r.URL.Host, "error", err)
		}
		if pause(ctx, wait) != nil {
			return
		}
		wait = min(2*wait, longestWait)
	}
}

// follow takes deliveries from one connection until it ends.
func (r *Relay) follow(ctx context.Context) (connected bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	quiet := time.AfterFunc(silence, func() { cancel(fmt.Errorf("nothing was heard for %s", silence)) })
	defer quiet.Stop()
	resp, err := r.connect(ctx)
	if err != nil {
		return false, err
	}
	defer func() { _ = resp.Body.Close() }()
	r.Logger.Info("webhooks are relayed", "host", r.URL.Host)
	events := newStream(resp.Body, func() { quiet.Reset(silence) })
	for {
		e, err := events.next()
		if err != nil {
			if cause := context.Cause(ctx); cause != nil {
				err = cause
			}
			return true, err
		}
		r.last = e.id
		if e.kind == "" || e.kind == "message" {
			r.take(ctx, e.data)
		}
		quiet.Reset(silence)
	}
}

func (r *Relay) connect(ctx context.Context) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.URL.String(), nil)
	if err != nil {
		return nil, errors.New("its address cannot be used")
	}
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("User-Agent", r.UserAgent)
	if r.last != "" {
		req.Header.Set("Last-Event-ID", r.last)
	}
	client := &http.Client{
		Transport: r.Transport,
		// A redirect could lead to where nothing is encrypted.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	resp, err := client.Do(req)
	var call *url.Error
	switch {
	case errors.As(err, &call):
		return nil, call.Err // without the address
	case err != nil:
		return nil, err
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if resp.StatusCode != http.StatusOK || kind != "text/event-stream" {
		_ = resp.Body.Close()
		return nil, fmt.Errorf("WEBHOOK_PROXY_URL answers %s with %q and not with events", resp.Status, kind)
	}
	return resp, nil
}

// take offers one delivery to the service, or says why not.
func (r *Relay) take(ctx context.Context, data []byte) {
	m, err := parse(data)
	if err != nil {
		r.Logger.Debug("the relay sent something else than a delivery", "bytes", len(data))
		return
	}
	log := r.Logger.With("delivery", word(m.headers["x-github-delivery"]), "event", word(m.headers["x-github-event"]))
	body, err := m.signed(r.Secrets)
	if err != nil {
		log.Warn("a relayed delivery was refused", "reason", err)
		return
	}
	for try := 1; ; try++ {
		status, answer := r.offer(ctx, m, body)
		switch {
		case status < 300:
			log.Debug("a relayed delivery was taken")
			return
		case status < 500 || try == tries:
			log.Warn("a relayed delivery was refused", "status", status, "reason", answer)
			return
		}
		if pause(ctx, time.Duration(try)*firstWait) != nil {
			return
		}
	}
}

// offer posts a delivery to the service's own door.
func (r *Relay) offer(ctx context.Context, m message, body []byte) (status int, answer string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://relay.invalid/webhooks/github", bytes.NewReader(body))
	if err != nil {
		return http.StatusBadRequest, err.Error()
	}
	for name, value := range m.headers {
		if strings.HasPrefix(name, "x-github-") || name == "x-hub-signature-256" || name == "user-agent" {
			req.Header.Set(name, value)
		}
	}
	req.Header.Set("Content-Type", "application/json")
	w := &answerWriter{header: http.Header{}, status: http.StatusOK}
	r.Door.ServeHTTP(w, req)
	return w.status, w.text.String()
}

// answerWriter keeps the beginning of an answer.
type answerWriter struct {
	header http.Header
	status int
	text   strings.Builder
}

func (w *answerWriter) Header() http.Header    { return w.header }
func (w *answerWriter) WriteHeader(status int) { w.status = status }

func (w *answerWriter) Write(p []byte) (int, error) {
	const most = 512
	w.text.Write(p[:min(len(p), most-min(most, w.text.Len()))])
	return len(p), nil
}

// word bounds what a stranger chose, for a line of the log.
func word(s string) string { return s[:min(len(s), 64)] }

// pause waits, or returns early with the context's error.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
