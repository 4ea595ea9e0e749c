package sim_test

import (
	"bytes"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v4"
	"github.com/google/go-github/v66/github"

	"github.com/liaison-bot/liaison/internal/sim/openapi"
)

// appToken signs a JSON web token as the App does.
func appToken(t *testing.T, key *rsa.PrivateKey, claims jwt.MapClaims) string {
	t.Helper()
	s, err := jwt.NewWithClaims(jwt.SigningMethodRS256, claims).SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// goodClaims are those of an App with a right clock.
func (w *world) goodClaims() jwt.MapClaims {
	now := w.clock.Now()
	return jwt.MapClaims{"iss": "4711", "iat": now.Add(-30 * time.Second).Unix(), "exp": now.Add(5 * time.Minute).Unix()}
}

func (w *world) jwt() string { return appToken(w.t, appKey(), w.goodClaims()) }

// answer is a response with its body read.
type answer struct {
	*http.Response
	body []byte
}

func (a answer) message() string {
	var v struct {
		Message string `json:"message"`
		Errors  []struct{ Message string }
	}
	if json.Unmarshal(a.body, &v) != nil {
		return string(a.body)
	}
	for _, e := range v.Errors {
		v.Message += "; " + e.Message
	}
	return v.Message
}

// call sends one request without any client library. Path is below the REST root.
func (w *world) call(method, path, token, body string, header ...string) answer {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), method, strings.TrimSuffix(w.URL(), "/")+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := w.plain().Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return answer{resp, b}
}

// description is GitHub's own, which judges every test's traffic. It is nil
// where GITHUB_OPENAPI names none: "make contract" fetches it and names it.
var description = sync.OnceValues(func() (*openapi.Judge, error) {
	path := os.Getenv("GITHUB_OPENAPI")
	if path == "" {
		return nil, nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return openapi.New(data)
})

// judged puts the description between a client and the simulator.
func (w *world) judged(base http.RoundTripper, answersOnly bool) http.RoundTripper {
	w.t.Helper()
	judge, err := description()
	if err != nil {
		w.t.Fatal(err)
	}
	if judge == nil {
		return base
	}
	return &openapi.Transport{
		Judge: judge, Base: base, Prefix: w.prefix, AnswersOnly: answersOnly,
		Report: func(err error) {
			if !errors.Is(err, openapi.ErrNoOperation) || !answersOnly {
				w.t.Error(err)
			}
		},
	}
}

// plain is a client that follows no redirect and keeps no connection.
func (w *world) plain() *http.Client {
	return &http.Client{
		Transport:     w.judged(&http.Transport{DisableKeepAlives: true}, true),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// token mints an installation token; body narrows it and may be empty.
func (w *world) token(body string) string {
	w.t.Helper()
	a := w.call("POST", "/app/installations/99/access_tokens", w.jwt(), body)
	var v struct{ Token string }
	if a.StatusCode != http.StatusCreated || json.Unmarshal(a.body, &v) != nil {
		w.t.Fatalf("mint a token: %d %s", a.StatusCode, a.body)
	}
	return v.Token
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// decode reads an answer's JSON.
func decode[T any](t *testing.T, a answer) T {
	t.Helper()
	var v T
	d := json.NewDecoder(bytes.NewReader(a.body))
	if err := d.Decode(&v); err != nil {
		t.Fatalf("decode %s: %v", a.body, err)
	}
	return v
}

// checkOptions is a legal check run on the pull request's head.
func (w *world) checkOptions() github.CreateCheckRunOptions {
	return github.CreateCheckRunOptions{Name: "Liaison", HeadSHA: w.pull.HeadSHA}
}
