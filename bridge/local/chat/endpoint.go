package chat

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/liaison-bot/liaison/bridge/local/chat/completions"
)

// Options say where the endpoint is.
type Options struct {
	// BaseURL is OpenAI's own when empty.
	BaseURL string
	// APIKey is sent as a bearer token; without one nothing is.
	APIKey string
	// Logger discards when nil.
	Logger *slog.Logger
	// Idle is how long the endpoint may send nothing during a request; 5 minutes when
	// zero. There is no limit to the whole of one.
	Idle time.Duration
	// Now, Sleep and Random, between 0 and 1, are the real ones when nil. Sleep ends
	// early with the error of ctx.
	Now    func() time.Time
	Sleep  func(ctx context.Context, d time.Duration) error
	Random func() float64
}

// Endpoint is a place that answers chat completions. It is safe for concurrent use.
type Endpoint struct {
	client    *completions.Client
	transport *http.Transport
	// where names the endpoint to a person, without what could be secret in its URL.
	where  string
	key    string
	logger *slog.Logger
	idle   time.Duration
	now    func() time.Time
	sleep  func(ctx context.Context, d time.Duration) error
	random func() float64
	// plain is set once the endpoint has refused to count tokens in streams.
	plain atomic.Bool
}

// New checks the options. It does not call the endpoint.
func New(o Options) (*Endpoint, error) {
	base := o.BaseURL
	if base == "" {
		base = defaultBaseURL
	}
	u, err := url.Parse(base)
	switch {
	case err != nil:
		// The URL is not repeated: it could hold a password.
		return nil, errors.New("the base URL is not a URL")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, errors.New("the base URL is not an http or https URL, such as https://models.example.com/v1")
	case u.User != nil:
		return nil, errors.New("the base URL holds credentials; use the API key")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("the base URL has a query; give it without")
	}
	if !strings.HasSuffix(u.Path, "/") {
		u.Path += "/"
	}
	key := strings.TrimSpace(o.APIKey)
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("the API key holds spaces or other characters that no key has")
	}
	e := &Endpoint{
		where: u.Scheme + "://" + u.Host + strings.TrimSuffix(u.Path, "/"), key: key,
		logger: o.Logger, idle: o.Idle, now: o.Now, sleep: o.Sleep, random: o.Random,
		// The environment's proxy is never asked about loopback addresses.
		transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			TLSHandshakeTimeout: 30 * time.Second,
			TLSClientConfig:     &tls.Config{MinVersion: tls.VersionTLS12},
			IdleConnTimeout:     90 * time.Second,
			ForceAttemptHTTP2:   true,
		},
	}
	if e.logger == nil {
		e.logger = slog.New(slog.DiscardHandler)
	}
	if e.idle == 0 {
		e.idle = defaultIdle
	}
	if e.now == nil {
		e.now = time.Now
	}
	if e.sleep == nil {
		e.sleep = sleep
	}
	if e.random == nil {
		e.random = rand.Float64
	}
	e.client = completions.New(completions.Options{
		BaseURL: u, Key: key, Limits: limits, Now: e.now,
		HTTP: &http.Client{
			Transport: e.transport,
			// The key goes to the endpoint that was named, and nowhere else.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	})
	return e, nil
}

// Close lets go of idle connections.
func (e *Endpoint) Close() { e.transport.CloseIdleConnections() }

// String names the endpoint to a person.
func (e *Endpoint) String() string { return e.where }

// sleep waits for d or the end of ctx.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// mask makes a text of the endpoint fit for a person: one line, not long, without the key.
func (e *Endpoint) mask(s string) string {
	if e.key != "" {
		s = strings.ReplaceAll(s, e.key, "[masked]")
	}
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	if len(s) > maxErrorText {
		s = strings.ToValidUTF8(s[:maxErrorText], "") + "…"
	}
	return s
}

// quoted is a text of the endpoint behind a reason of ours, if there is one.
func (e *Endpoint) quoted(message string) string {
	if message = e.mask(message); message == "" {
		return ""
	}
	return fmt.Sprintf("; it said: %q", message)
}
