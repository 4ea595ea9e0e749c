package handlers_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/handlers"
	"github.com/liaison-bot/liaison/redact"
	"github.com/liaison-bot/liaison/state"
)

const secret = "It's a Secret to Everybody"

// inbox records what it is given.
type inbox struct {
	mu     sync.Mutex
	err    error
	stored []state.Delivery
}

func (i *inbox) Accept(_ context.Context, d state.Delivery) (state.Outcome, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.err != nil {
		return 0, i.err
	}
	for _, s := range i.stored {
		if s.ID == d.ID {
			return state.Duplicate, nil
		}
	}
	d.Body = bytes.Clone(d.Body) // it is lent until Accept returns
	i.stored = append(i.stored, d)
	return state.Fresh, nil
}

// service is a handler with what its tests look at.
type service struct {
	inbox *inbox
	log   *bytes.Buffer
	http.Handler
}

func newService(t *testing.T, change ...func(*handlers.Options)) *service {
	t.Helper()
	s := &service{inbox: &inbox{}, log: &bytes.Buffer{}}
	o := handlers.Options{
		Inbox:         s.inbox,
		Check:         func(context.Context) error { return nil },
		GitHubSecrets: []string{secret},
		Now:           func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) },
		Logger:        slog.New(redact.Handler(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug}), redact.New(secret))),
	}
	for _, f := range change {
		f(&o)
	}
	s.Handler = handlers.New(o)
	return s
}

func sign(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// delivery is a well-formed signed request; tests spoil it.
func delivery(body []byte) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/webhooks/github", bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-GitHub-Event", "pull_request")
	r.Header.Set("X-GitHub-Delivery", "72d3162e-cc78-11e3-81ab-4c9367dc0958")
	r.Header.Set("X-Hub-Signature-256", sign(secret, body))
	return r
}

func (s *service) post(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// GitHub's own published example of a signature
// (https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries).
func TestPublishedSignatureExample(t *testing.T) {
	t.Parallel()
	s := newService(t)
	r := delivery([]byte("Hello, World!"))
	r.Header.Set("X-Hub-Signature-256", "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17")
	if w := s.post(r); w.Code != http.StatusAccepted {
		t.Errorf("got %d: %s", w.Code, w.Body)
	}
}

func TestBodiesAreVerifiedAndStoredByteForByte(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"spacing and escapes":     `{ "a" :  "\u003c" , "n": 1.0, "a": "again" }`,
		"emoji":                   `{"title":"🚀 naïve"}`,
		"line separator":          "{\"t\":\"a\u2028b\"}",
		"lone surrogate escape":   `{"t":"\ud83d"}`,
		"invalid UTF-8":           "{\"t\":\"\xff\xfe\"}",
		"form characters":         `{"t":"+ = % & payload=%7B%7D"}`,
		"not JSON at all":         "null and void",
		"a NUL byte":              "{\"t\":\"\x00\"}",
		"empty":                   "",
		"more than the first cut": `{"t":"` + strings.Repeat("x", 5<<20) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newService(t)
			if w := s.post(delivery([]byte(body))); w.Code != http.StatusAccepted {
				t.Fatalf("got %d: %s", w.Code, w.Body)
			}
			if got := string(s.inbox.stored[0].Body); got != body {
				t.Errorf("stored %d bytes, want %d as they were", len(got), len(body))
			}
			if body == "" {
				return
			}
			changed := []byte(body)
			changed[len(changed)/2] ^= 1
			r := delivery(changed)
			r.Header.Set("X-Hub-Signature-256", sign(secret, []byte(body)))
			if w := s.post(r); w.Code != http.StatusUnauthorized {
				t.Errorf("a changed byte got %d", w.Code)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	body := []byte(`{"action":"opened"}`)
	sha1MAC := hmac.New(sha1.New, []byte(secret))
	sha1MAC.Write(body)
	sha1Hex := hex.EncodeToString(sha1MAC.Sum(nil))
	for _, tt := range []struct {
		name   string
		spoil  func(*http.Request)
		status int
		says   string
	}{
		{"no signature", func(r *http.Request) { r.Header.Del("X-Hub-Signature-256") }, 401, "X-Hub-Signature-256 is required"},
		{"empty signature", func(r *http.Request) { r.Header.Set("X-Hub-Signature-256", "") }, 401, "is required"},
		{"another secret", func(r *http.Request) { r.Header.Set("X-Hub-Signature-256", sign("other", body)) }, 401, "does not match"},
		{"signature of an empty secret", func(r *http.Request) { r.Header.Set("X-Hub-Signature-256", sign("", body)) }, 401, "does not match"},
		{"SHA-1 only", func(r *http.Request) {
			r.Header.Del("X-Hub-Signature-256")
			r.Header.Set("X-Hub-Signature", "sha1="+sha1Hex)
		}, 401, "is required"},
		{"SHA-1 in the SHA-256 header", func(r *http.Request) { r.Header.Set("X-Hub-Signature-256", "sha1="+sha1Hex) }, 401, "does not match"},
		{"no prefix", func(r *http.Request) {
			r.Header.Set("X-Hub-Signature-256", strings.TrimPrefix(sign(secret, body), "sha256="))
		}, 401, "does not match"},
		{"signature cut short", func(r *http.Request) { r.Header.Set("X-Hub-Signature-256", sign(secret, body)[:40]) }, 401, "does not match"},
		{"signature with more behind", func(r *http.Request) { r.Header.Set("X-Hub-Signature-256", sign(secret, body)+"00") }, 401, "does not match"},
		{"signature that is no hex", func(r *http.Request) { r.Header.Set("X-Hub-Signature-256", "sha256="+strings.Repeat("zz", 32)) }, 401, "does not match"},
		{"form", func(r *http.Request) { r.Header.Set("Content-Type", "application/x-www-form-urlencoded") }, 415, "application/json"},
		{"no content type", func(r *http.Request) { r.Header.Del("Content-Type") }, 415, "application/json"},
		{"two content types in one", func(r *http.Request) {
			r.Header.Set("Content-Type", "application/json, application/x-www-form-urlencoded")
		}, 415, "application/json"},
		{"compressed", func(r *http.Request) { r.Header.Set("Content-Encoding", "gzip") }, 415, "as it was signed"},
		{"no event", func(r *http.Request) { r.Header.Del("X-GitHub-Event") }, 400, "X-GitHub-Event"},
		{"no delivery id", func(r *http.Request) { r.Header.Del("X-GitHub-Delivery") }, 400, "X-GitHub-Delivery"},
		{"delivery id that is a path", func(r *http.Request) { r.Header.Set("X-GitHub-Delivery", "../../etc/passwd") }, 400, "X-GitHub-Delivery"},
		{"delivery id of a megabyte", func(r *http.Request) { r.Header.Set("X-GitHub-Delivery", strings.Repeat("a", 1<<20)) }, 400, "X-GitHub-Delivery"},
		{"GET", func(r *http.Request) { r.Method = http.MethodGet }, 405, "posted"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newService(t)
			r := delivery(body)
			tt.spoil(r)
			w := s.post(r)
			if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.says) {
				t.Errorf("got %d %s, want %d and %q", w.Code, w.Body, tt.status, tt.says)
			}
			if len(s.inbox.stored) != 0 {
				t.Error("it was stored all the same")
			}
		})
	}
}

func TestJSONWithACharsetIsJSON(t *testing.T) {
	t.Parallel()
	s := newService(t)
	r := delivery([]byte(`{}`))
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	if w := s.post(r); w.Code != http.StatusAccepted {
		t.Errorf("got %d: %s", w.Code, w.Body)
	}
}

// A signed JSON body whose text holds a form field, sent again as a form, must
// not become that field.
func TestContentTypeConfusion(t *testing.T) {
	t.Parallel()
	s := newService(t)
	r := delivery([]byte(`{"title":"&payload=` + url.QueryEscape(`{"action":"opened"}`) + `&"}`))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if w := s.post(r); w.Code != http.StatusUnsupportedMediaType || len(s.inbox.stored) != 0 {
		t.Errorf("got %d, stored %d", w.Code, len(s.inbox.stored))
	}
}

func TestSecretsRotate(t *testing.T) {
	t.Parallel()
	s := newService(t, func(o *handlers.Options) { o.GitHubSecrets = []string{"new-secret", "old-secret"} })
	body := []byte(`{}`)
	for i, tt := range []struct {
		secret string
		status int
	}{{"new-secret", 202}, {"old-secret", 202}, {"third-secret", 401}} {
		r := delivery(body)
		r.Header.Set("X-GitHub-Delivery", fmt.Sprint("delivery-", i))
		r.Header.Set("X-Hub-Signature-256", sign(tt.secret, body))
		if w := s.post(r); w.Code != tt.status {
			t.Errorf("%s: got %d, want %d", tt.secret, w.Code, tt.status)
		}
	}
	if !strings.Contains(s.log.String(), "secret=2") {
		t.Error("the log does not tell that the old secret is still in use")
	}
}

func TestSizeLimit(t *testing.T) {
	t.Parallel()
	const limit = 26 << 20
	for _, tt := range []struct {
		name    string
		size    int
		chunked bool
		status  int
	}{
		{"101 kB", 101_000, false, 202},
		{"25 MB", 25_000_000, false, 202},
		{"one below the limit", limit - 1, false, 202},
		{"at the limit", limit, false, 202},
		{"one above the limit", limit + 1, false, 413},
		{"at the limit without a length", limit, true, 202},
		{"above the limit without a length", limit + 1, true, 413},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newService(t)
			body := bytes.Repeat([]byte("x"), tt.size)
			r := delivery(body)
			if tt.chunked {
				r.ContentLength = -1
			}
			if w := s.post(r); w.Code != tt.status {
				t.Errorf("got %d: %s", w.Code, w.Body)
			}
		})
	}
}

func TestBodyThatBreaksOffIsNotStored(t *testing.T) {
	t.Parallel()
	s := newService(t)
	body := []byte(`{"action":"opened"}`)
	r := delivery(body)
	r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body[:5]), errorReader{}))
	if w := s.post(r); w.Code != http.StatusBadRequest || len(s.inbox.stored) != 0 {
		t.Errorf("got %d, stored %d", w.Code, len(s.inbox.stored))
	}
}

type errorReader struct{}

func (errorReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestStoreThatCannotTakeItIsA503(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.inbox.err = fmt.Errorf("accept: %w: disk full at /secret/path", state.ErrUnavailable)
	w := s.post(delivery([]byte(`{}`)))
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("got %d, Retry-After %q", w.Code, w.Header().Get("Retry-After"))
	}
	if strings.Contains(w.Body.String(), "/secret/path") {
		t.Errorf("the answer tells about the machine: %s", w.Body)
	}
}

func TestIDThatTheStoreCannotKeepIsA400(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.inbox.err = fmt.Errorf("accept: id: %w", state.ErrInvalid)
	if w := s.post(delivery([]byte(`{}`))); w.Code != http.StatusBadRequest {
		t.Errorf("got %d: %s", w.Code, w.Body)
	}
}

func TestUnknownEventsAndPingAreAccepted(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for _, event := range []string{"ping", "brand_new_event"} {
		r := delivery([]byte(`{}`))
		r.Header.Set("X-GitHub-Event", event)
		r.Header.Set("X-GitHub-Delivery", event)
		if w := s.post(r); w.Code != http.StatusAccepted {
			t.Errorf("%s: got %d", event, w.Code)
		}
	}
}

func TestRepeatIsAcknowledgedAsDuplicate(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.post(delivery([]byte(`{}`)))
	w := s.post(delivery([]byte(`{}`)))
	if w.Code != http.StatusAccepted || !strings.Contains(w.Body.String(), `"duplicate":true`) {
		t.Errorf("got %d: %s", w.Code, w.Body)
	}
}

func TestOnlyHarmlessHeadersAreKept(t *testing.T) {
	t.Parallel()
	s := newService(t)
	r := delivery([]byte(`{}`))
	r.Header.Set("Authorization", "Bearer abc")
	r.Header.Set("Cookie", "a=b")
	r.Header.Set("X-GitHub-Hook-ID", "7")
	r.Header.Set("User-Agent", "GitHub-Hookshot/"+strings.Repeat("x", 5000))
	s.post(r)
	got := s.inbox.stored[0].Headers
	if got["X-Github-Hook-Id"] != "7" || got["X-Github-Event"] != "pull_request" {
		t.Errorf("kept %v", got)
	}
	for name, value := range got {
		if strings.Contains(name, "Signature") || name == "Authorization" || name == "Cookie" || len(value) > 256 {
			t.Errorf("kept %s: %d bytes", name, len(value))
		}
	}
}

// Nothing of a body that is not believed may be logged or answered.
func TestUnverifiedBodyLeavesNoTrace(t *testing.T) {
	t.Parallel()
	const planted = "planted-ghs_" + "0123456789abcdef0123456789abcdef0123"
	s := newService(t)
	r := delivery([]byte(`{"title":"` + planted + `"}`))
	r.Header.Set("X-Hub-Signature-256", sign("wrong", nil))
	w := s.post(r)
	if w.Code != http.StatusUnauthorized {
		t.Fatalf("got %d", w.Code)
	}
	if text := s.log.String() + w.Body.String() + fmt.Sprint(w.Header()); strings.Contains(text, "planted") {
		t.Errorf("leaked: %s", text)
	}
	if !strings.Contains(s.log.String(), "72d3162e-cc78-11e3-81ab-4c9367dc0958") {
		t.Error("the log does not name the delivery")
	}
}

func TestNothingIsTakenWhileTheChannelIsOff(t *testing.T) {
	t.Parallel()
	s := newService(t, func(o *handlers.Options) { o.GitHubSecrets = nil })
	w := s.post(delivery([]byte(`{}`)))
	if w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "GITHUB_APP_ID") || len(s.inbox.stored) != 0 {
		t.Errorf("got %d: %s", w.Code, w.Body)
	}
}

// GitHub follows no redirect of a webhook and counts it as a failure
// (https://github.com/changesets/bot/issues/24); an answer in words says more.
func TestNoWebhookIsRedirected(t *testing.T) {
	t.Parallel()
	s := newService(t, func(*handlers.Options) {})
	for path, want := range map[string]int{
		"/webhooks/github":             http.StatusAccepted,
		"/webhooks/github/":            http.StatusNotFound,
		"//webhooks/github":            http.StatusNotFound,
		"/webhooks//github":            http.StatusNotFound,
		"/webhooks/./github":           http.StatusNotFound,
		"/webhooks/x/../github":        http.StatusNotFound,
		"/Webhooks/GitHub":             http.StatusNotFound,
		"/webhooks/github/../../v1":    http.StatusNotFound,
		"/webhooks/slack/../github/..": http.StatusNotFound,
	} {
		r := delivery([]byte(`{}`))
		r.URL.Path = path
		if w := s.post(r); w.Code != want || w.Header().Get("Location") != "" {
			t.Errorf("%s: %d to %q, want %d", path, w.Code, w.Header().Get("Location"), want)
		}
	}
}

func TestWhatIsReadIsNotWritten(t *testing.T) {
	t.Parallel()
	s := newService(t, func(*handlers.Options) {})
	for _, path := range []string{"/healthz", "/readyz"} {
		w := s.post(httptest.NewRequest(http.MethodPost, path, nil))
		if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
			t.Errorf("POST %s: %d, allowed %q", path, w.Code, w.Header().Get("Allow"))
		}
	}
}

func TestHealthAndReadiness(t *testing.T) {
	t.Parallel()
	var calls int
	broken := errors.New("disk gone")
	s := newService(t, func(o *handlers.Options) {
		o.Check = func(context.Context) error { calls++; return broken }
	})
	if w := s.post(httptest.NewRequest(http.MethodGet, "/healthz", nil)); w.Code != http.StatusOK {
		t.Errorf("healthz: %d", w.Code)
	}
	for range 20 {
		if w := s.post(httptest.NewRequest(http.MethodGet, "/readyz", nil)); w.Code != http.StatusServiceUnavailable || strings.Contains(w.Body.String(), "disk gone") {
			t.Fatalf("readyz: %d %s", w.Code, w.Body)
		}
	}
	if calls != 1 {
		t.Errorf("the store was asked %d times within a second", calls)
	}
}

func TestPanicBecomesA500WithoutItsText(t *testing.T) {
	t.Parallel()
	s := newService(t, func(o *handlers.Options) {
		o.API = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("inner workings") })
	})
	if w := s.post(httptest.NewRequest(http.MethodGet, "/v1/info", nil)); w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "inner workings") {
		t.Errorf("got %d: %s", w.Code, w.Body)
	}
}

// Only a body signed with the secret is stored, and then exactly as it was sent.
func FuzzWebhook(f *testing.F) {
	f.Add([]byte(`{"action":"opened"}`), "sha256=00", "application/json", "pull_request", "id")
	f.Add([]byte("Hello, World!"), "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17", "application/json", "ping", "id")
	f.Add([]byte(nil), "", "application/x-www-form-urlencoded", "", "")
	f.Fuzz(func(t *testing.T, body []byte, signature, contentType, event, id string) {
		s := newService(t)
		r := delivery(body)
		r.Header["X-Hub-Signature-256"] = []string{signature}
		r.Header["Content-Type"] = []string{contentType}
		r.Header["X-Github-Event"] = []string{event}
		r.Header["X-Github-Delivery"] = []string{id}
		w := s.post(r)
		if (w.Code == http.StatusAccepted) != (len(s.inbox.stored) == 1) {
			t.Fatalf("answered %d with %d stored", w.Code, len(s.inbox.stored))
		}
		if w.Code == http.StatusAccepted {
			if !strings.EqualFold(signature, sign(secret, body)) {
				t.Fatalf("accepted signature %q", signature)
			}
			if !bytes.Equal(s.inbox.stored[0].Body, body) {
				t.Fatal("stored another body")
			}
		}
	})
}

type acceptAll struct{}

func (acceptAll) Accept(context.Context, state.Delivery) (state.Outcome, error) {
	return state.Fresh, nil
}
