package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/liaison-bot/liaison/gen/api"
)

const (
	// maxAnswer bounds one answer in bytes: a delivery's body of 25 MB in base64 fits.
	maxAnswer = 64 << 20
	// callTimeout bounds a call that asks or changes one thing. The service itself
	// gives up earlier on its store.
	callTimeout = time.Minute
)

// Options say which service it is, and who asks.
type Options struct {
	// URL is the service's root, http or https.
	URL string
	// Token is the bearer token; empty sends none.
	Token string
	// UserAgent names the program.
	UserAgent string
}

// Service is a running Liaison.
type Service struct {
	url    string
	http   *http.Client
	client *api.Client
	// wait sleeps, or returns early with the context's error.
	wait func(context.Context, time.Duration) error
	now  func() time.Time
}

// New returns a Service. No connection is made yet. An URL that cannot be used
// is an error; one to which a token would go in the clear wraps [ErrInsecure].
func New(o Options) (*Service, error) {
	root, err := url.Parse(o.URL)
	if err != nil || root.Host == "" || root.Scheme != "http" && root.Scheme != "https" {
		return nil, fmt.Errorf("%q is not the address of a service, such as http://127.0.0.1:8080", o.URL)
	}
	if root.User != nil || root.RawQuery != "" || root.Fragment != "" {
		return nil, fmt.Errorf("%q has more than scheme, host and path", root.Redacted())
	}
	if root.Scheme == "http" && !loopback(root.Hostname()) {
		return nil, fmt.Errorf("%s: %w: tokens and code would be readable on the way; use https, or a tunnel to the machine itself", o.URL, ErrInsecure)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	s := &Service{
		url:  strings.TrimSuffix(root.String(), "/"),
		wait: sleep,
		now:  time.Now,
		http: &http.Client{
			Transport: transport,
			// A redirect would carry the request elsewhere; the caller shall know.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	s.client, err = api.NewClient(s.url, api.WithHTTPClient(s.http), api.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("User-Agent", o.UserAgent)
		if o.Token != "" {
			r.Header.Set("Authorization", "Bearer "+o.Token)
		}
		return nil
	}))
	if err != nil {
		return nil, err
	}
	return s, nil
}

// API makes single calls; pass their results to [Call].
func (s *Service) API() *api.Client { return s.client }

// Close ends idle connections.
func (s *Service) Close() { s.http.CloseIdleConnections() }

// loopback reports whether what is sent to a host stays on this machine.
func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

// Call makes one call and decodes its answer. An error is an [*UnreachableError],
// a [*Refusal], a [*CutError], or the context's.
func Call[T any](ctx context.Context, s *Service, call func(context.Context) (*http.Response, error)) (*T, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, callTimeout, fmt.Errorf("there was no answer within %s", callTimeout))
	defer cancel()
	return CallLong[T](ctx, s, call)
}

// CallLong is [Call] for what may take as long as it needs.
func CallLong[T any](ctx context.Context, s *Service, call func(context.Context) (*http.Response, error)) (*T, error) {
	body, err := s.Open(ctx, call)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	text, err := io.ReadAll(io.LimitReader(body, maxAnswer+1))
	if err != nil {
		return nil, &CutError{Doing: "read the answer", Cause: err}
	}
	if len(text) > maxAnswer {
		return nil, fmt.Errorf("read the answer: it is longer than %d bytes", maxAnswer)
	}
	v := new(T)
	if err := json.Unmarshal(text, v); err != nil {
		return nil, fmt.Errorf("the answer of %s is none of this version of Liaison (liaison version): %w", s.url, err)
	}
	return v, nil
}

// Open makes a call and returns the body of its answer when that is a success;
// the caller closes it. Errors are those of [Call].
func (s *Service) Open(ctx context.Context, call func(context.Context) (*http.Response, error)) (io.ReadCloser, error) {
	answer, err := call(ctx)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil, err
		}
		return nil, &UnreachableError{URL: s.url, Cause: root(err)}
	}
	if answer.StatusCode/100 == 2 {
		return answer.Body, nil
	}
	defer answer.Body.Close()
	return nil, refusal(answer)
}

// root takes the method and the URL off an error of net/http: they are said already.
func root(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

func refusal(answer *http.Response) error {
	r := &Refusal{Status: answer.StatusCode}
	var said api.Error
	text, err := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
	if err == nil && json.Unmarshal(text, &said) == nil {
		r.Code = said.Error
		if said.Message != nil {
			r.Message = *said.Message
		}
	}
	if to := answer.Header.Get("Location"); answer.StatusCode/100 == 3 && to != "" {
		r.Message = fmt.Sprintf("the service is at another place, %s: use that as --url", to)
	}
	if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil && seconds > 0 {
		r.RetryAfter = time.Duration(min(seconds, 3600)) * time.Second
	}
	return r
}

// Post sends a body as it is, with these headers and no token, and returns the
// answer's body.
func (s *Service) Post(ctx context.Context, path string, headers http.Header, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, callTimeout, fmt.Errorf("there was no answer within %s", callTimeout))
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+path, strings.NewReader(string(body)))
	if err != nil {
		return nil, err
	}
	r.Header = headers.Clone()
	opened, err := s.Open(ctx, func(context.Context) (*http.Response, error) { return s.http.Do(r) })
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	text, err := io.ReadAll(io.LimitReader(opened, 64<<10))
	if err != nil {
		return nil, &CutError{Doing: "read the answer", Cause: err}
	}
	return text, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
