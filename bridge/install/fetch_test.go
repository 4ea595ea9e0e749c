package install

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// roundTrip is a transport without a network, so that time can be virtual.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answer(r *http.Request, status int, body io.Reader) *http.Response {
	return &http.Response{
		StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{}, ContentLength: -1, Body: io.NopCloser(body),
	}
}

// drip brings one byte each period until the request's context ends.
type drip struct {
	ctx    context.Context
	period time.Duration
	left   int
}

func (d *drip) Read(p []byte) (int, error) {
	if d.left == 0 {
		return 0, io.EOF
	}
	select {
	case <-time.After(d.period):
		n := min(1, len(p), d.left)
		d.left -= n
		return n, nil
	case <-d.ctx.Done():
		return 0, d.ctx.Err()
	}
}

func mustURL(t testing.TB, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// fetchWith fetches through a transport and returns what came last.
func fetchWith(t testing.TB, transport http.RoundTripper, limit int64) (string, error) {
	t.Helper()
	var got bytes.Buffer
	err := newFetcher(transport, false).fetch(t.Context(), mustURL(t, "https://mirror.test/file"), limit, func() (io.Writer, error) {
		got.Reset()
		return &got, nil
	})
	return got.String(), err
}

func TestFetchTriesAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for name, first := range map[string]func(*http.Request) (*http.Response, error){
			"connection refused": func(*http.Request) (*http.Response, error) { return nil, syscall.ECONNREFUSED },
			"502": func(r *http.Request) (*http.Response, error) {
				return answer(r, 502, strings.NewReader("bad gateway")), nil
			},
			"429": func(r *http.Request) (*http.Response, error) { return answer(r, 429, http.NoBody), nil },
			"cut off": func(r *http.Request) (*http.Response, error) {
				return answer(r, 200, io.MultiReader(strings.NewReader("ha"), failing{io.ErrUnexpectedEOF})), nil
			},
			"no answer": func(r *http.Request) (*http.Response, error) {
				<-r.Context().Done()
				return nil, r.Context().Err()
			},
			"nothing after the header": func(r *http.Request) (*http.Response, error) {
				return answer(r, 200, &drip{ctx: r.Context(), period: time.Hour, left: 1}), nil
			},
			"a byte a second": func(r *http.Request) (*http.Response, error) {
				return answer(r, 200, &drip{ctx: r.Context(), period: time.Second, left: 1 << 20}), nil
			},
		} {
			calls := 0
			got, err := fetchWith(t, roundTrip(func(r *http.Request) (*http.Response, error) {
				if calls++; calls < attempts {
					return first(r)
				}
				return answer(r, 200, strings.NewReader("whole")), nil
			}), 100)
			if err != nil || got != "whole" {
				t.Errorf("%s, then well: %q, %v", name, got, err)
			}
			calls = 0
			_, err = fetchWith(t, roundTrip(func(r *http.Request) (*http.Response, error) {
				calls++
				return first(r)
			}), 1<<30)
			if err == nil || calls != attempts {
				t.Errorf("%s each time: %d attempts, %v", name, calls, err)
			}
		}
	})
}

// failing is a body that breaks off.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// Only a stall ends a download: one that goes on slowly is waited for.
func TestFetchTellsSlowFromStalled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := roundTrip(func(r *http.Request) (*http.Response, error) {
			return answer(r, 200, &drip{ctx: r.Context(), period: stallWindow / stallBytes / 2, left: 10 * stallBytes}), nil
		})
		begin := time.Now()
		got, err := fetchWith(t, slow, 1<<30)
		if err != nil || len(got) != 10*stallBytes {
			t.Errorf("slow: %d bytes, %v", len(got), err)
		}
		if took := time.Since(begin); took < 4*stallWindow {
			t.Errorf("took %s: this was no slow download", took)
		}
		stalled := roundTrip(func(r *http.Request) (*http.Response, error) {
			return answer(r, 200, &drip{ctx: r.Context(), period: 2 * stallWindow / stallBytes, left: 10 * stallBytes}), nil
		})
		if _, err := fetchWith(t, stalled, 1<<30); !errors.Is(err, ErrStalled) {
			t.Errorf("stalled: %v", err)
		}
	})
}

func TestFetchDoesNotRepeatWhatIsFinal(t *testing.T) {
	t.Parallel()
	for _, code := range []int{301, 400, 401, 403, 404, 410} {
		calls := 0
		_, err := fetchWith(t, roundTrip(func(r *http.Request) (*http.Response, error) {
			calls++
			return answer(r, code, http.NoBody), nil
		}), 100)
		if status, ok := errors.AsType[*StatusError](err); calls != 1 || code != 301 && (!ok || status.Code != code) {
			t.Errorf("%d: %d attempts, %v", code, calls, err)
		}
	}
}

func TestFetchLimit(t *testing.T) {
	t.Parallel()
	const limit = 1000
	for _, tt := range []struct {
		size  int
		fails bool
	}{{limit - 1, false}, {limit, false}, {limit + 1, true}} {
		for _, declared := range []bool{true, false} {
			got, err := fetchWith(t, roundTrip(func(r *http.Request) (*http.Response, error) {
				a := answer(r, 200, strings.NewReader(strings.Repeat("x", tt.size)))
				if declared {
					a.ContentLength = int64(tt.size)
				}
				return a, nil
			}), limit)
			if tt.fails != errors.Is(err, ErrTooLarge) || !tt.fails && len(got) != tt.size {
				t.Errorf("%d bytes, declared %t: %d came, %v", tt.size, declared, len(got), err)
			}
		}
	}
}

// A disk that is full is no reason to download again.
func TestFetchDoesNotRepeatAFailedWrite(t *testing.T) {
	t.Parallel()
	calls := 0
	f := newFetcher(roundTrip(func(r *http.Request) (*http.Response, error) {
		calls++
		return answer(r, 200, strings.NewReader("whole")), nil
	}), false)
	err := f.fetch(t.Context(), mustURL(t, "https://mirror.test/file"), 100, func() (io.Writer, error) { return brokenWriter{}, nil })
	if !errors.Is(err, syscall.ENOSPC) || calls != 1 {
		t.Errorf("%d attempts, %v", calls, err)
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestFetchEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		why := errors.New("the caller went away")
		for name, transport := range map[string]roundTrip{
			"during a download": func(r *http.Request) (*http.Response, error) {
				return answer(r, 200, &drip{ctx: r.Context(), period: time.Microsecond, left: 1 << 40}), nil
			},
			"between attempts": func(*http.Request) (*http.Response, error) { return nil, syscall.ECONNREFUSED },
		} {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(300*time.Millisecond, func() { cancel(why) })
			err := newFetcher(transport, false).fetch(ctx, mustURL(t, "https://mirror.test/file"), 1<<50, func() (io.Writer, error) { return io.Discard, nil })
			if !errors.Is(err, why) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// Redirects are followed where they stay safe; what they carry is never shown.
func TestFetchRedirects(t *testing.T) {
	t.Parallel()
	serve := func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/file":
			_, _ = io.WriteString(w, "whole")
		case "/to":
			http.Redirect(w, r, r.URL.Query().Get("url"), http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop?signature=planted", http.StatusFound)
		case "/gone":
			w.WriteHeader(http.StatusNotFound)
		}
	}
	secure, plain := httptest.NewTLSServer(http.HandlerFunc(serve)), httptest.NewServer(http.HandlerFunc(serve))
	t.Cleanup(secure.Close)
	t.Cleanup(plain.Close)
	to := func(server *httptest.Server, target string) string {
		return server.URL + "/to?url=" + url.QueryEscape(target)
	}
	for _, tt := range []struct {
		name     string
		url      string
		insecure bool
		want     error // nil: fetched
	}{
		{"TLS to TLS", to(secure, secure.URL+"/file?signature=planted"), false, nil},
		{"loopback to TLS", to(plain, secure.URL+"/file?signature=planted"), false, nil},
		{"loopback to loopback", to(plain, plain.URL+"/file?signature=planted"), false, nil},
		{"TLS to none", to(secure, plain.URL+"/file?signature=planted"), false, ErrInsecure},
		{"TLS to none, insecure allowed", to(secure, plain.URL+"/file?signature=planted"), true, ErrInsecure},
		{"loopback to another host", to(plain, "http://mirror.test/file?signature=planted"), false, ErrInsecure},
		{"TLS to a file", to(secure, "file:///etc/passwd?signature=planted"), false, ErrInsecure},
		{"for ever", secure.URL + "/loop", false, errRedirects},
		{"to nothing", to(secure, secure.URL+"/gone?signature=planted"), false, &StatusError{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got bytes.Buffer
			f := newFetcher(secure.Client().Transport, tt.insecure)
			err := f.fetch(t.Context(), mustURL(t, tt.url), 100, func() (io.Writer, error) {
				got.Reset()
				return &got, nil
			})
			if tt.want == nil {
				if err != nil || got.String() != "whole" {
					t.Errorf("got %q, %v", got.String(), err)
				}
				return
			}
			if _, status := errors.AsType[*StatusError](tt.want); status {
				if _, ok := errors.AsType[*StatusError](err); !ok {
					t.Errorf("got %v", err)
				}
			} else if !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			// What was asked for may be quoted; the addresses after it may not.
			if strings.Contains(strings.ReplaceAll(err.Error(), tt.url, ""), "planted") {
				t.Errorf("a signature is shown: %v", err)
			}
		})
	}
}

// A server that nobody vouches for is refused, at once.
func TestFetchWantsACertificate(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls.Add(1) }))
	server.Config.ErrorLog = quiet()
	server.StartTLS()
	t.Cleanup(server.Close)
	err := newFetcher(nil, true).fetch(t.Context(), mustURL(t, server.URL), 100, func() (io.Writer, error) { return io.Discard, nil })
	if err == nil || !strings.Contains(err.Error(), "certificate") || calls.Load() != 0 {
		t.Errorf("%d calls, %v", calls.Load(), err)
	}
	if strings.Contains(err.Error(), strconv.Itoa(attempts)+" attempts") {
		t.Errorf("it was tried again: %v", err)
	}
}

func TestBaseURL(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		url      string
		insecure bool
		want     error
	}{
		{LatestURL, false, nil},
		{VersionURL("v1.2.3"), false, nil},
		{"https://mirror.test", false, nil},
		{"http://127.0.0.1:80/x", false, nil},
		{"http://[::1]:80/x", false, nil},
		{"http://localhost/x", false, nil},
		{"http://mirror.test/x", true, nil},

		{"http://mirror.test/x", false, ErrInsecure},
		{"http://127.0.0.1.mirror.test/x", false, ErrInsecure},
		{"http://localhost.mirror.test/x", false, ErrInsecure},
		{"http://0.0.0.0/x", false, ErrInsecure},
		{"ftp://mirror.test/x", true, ErrInsecure},
		{"file:///x", true, ErrOptions},
		{"mirror.test/x", false, ErrOptions},
		{"https:mirror.test", false, ErrOptions},
		{"https://mirror.test/x?token=planted", false, ErrOptions},
		{"https://mirror.test/x#planted", false, ErrOptions},
		{"https://user:planted@mirror.test/x", false, ErrOptions},
		{"https://user:planted@mirror.test:port/x", false, ErrOptions},
		{"http://user:planted@mirror.test/x", true, ErrOptions},
	} {
		_, err := parseBaseURL(tt.url, tt.insecure)
		if tt.want == nil && err != nil || !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.url, err, tt.want)
		}
		if err != nil && strings.Contains(err.Error(), "planted") {
			t.Errorf("%s: a secret is shown: %v", tt.url, err)
		}
	}
	if got, want := VersionURL("1.2.3"), "https://github.com/cursor/sdk-bridge/releases/download/v1.2.3"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
