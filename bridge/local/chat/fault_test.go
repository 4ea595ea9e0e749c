package chat

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/bridge/local/chat/chattest"
)

func TestRefusalsEndTheRunWithAReason(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		turn  chattest.Turn
		code  string
		words []string
	}{
		"a wrong key":        {chattest.Refuse(401, "invalid_api_key", "Incorrect API key provided: "+chattest.Key), CodeUnauthorized, []string{"OPENAI_API_KEY", "HTTP 401"}},
		"a forbidden key":    {chattest.Refuse(403, "", "forbidden"), CodeUnauthorized, []string{"OPENAI_API_KEY"}},
		"a forbidden model":  {chattest.Refuse(403, "model_not_allowed", "no access to the model"), CodeModelNotFound, []string{"no access"}},
		"an unknown model":   {chattest.Refuse(404, "model_not_found", "The model `x` does not exist"), CodeModelNotFound, []string{"The model `x` does not exist"}},
		"a wrong address":    {chattest.RefuseRaw(404, "404 page not found"), CodeRefused, []string{"OPENAI_BASE_URL"}},
		"no quota":           {chattest.Refuse(429, "insufficient_quota", "You exceeded your current quota"), CodeQuotaExceeded, []string{"billing"}},
		"no balance":         {chattest.Refuse(402, "", "Insufficient Balance"), CodeQuotaExceeded, []string{"Insufficient Balance"}},
		"a content filter":   {chattest.Refuse(400, "content_filter", "filtered"), CodeContentFilter, []string{"filtered"}},
		"no tools":           {chattest.Refuse(400, "", "test-model does not support tools"), CodeRefused, []string{"does not support tools"}},
		"text only":          {chattest.RefuseRaw(400, "image input is not supported\n"), CodeRefused, []string{`it said: "image input is not supported"`}},
		"a list of errors":   {chattest.RefuseRaw(400, `[{"error":{"code":400,"message":"bad turn order","status":"INVALID"}}]`), CodeRefused, []string{"bad turn order"}},
		"a detail":           {chattest.RefuseRaw(422, `{"detail":[{"loc":["body"],"msg":"field required"}]}`), CodeRefused, []string{"field required"}},
		"a long message":     {chattest.Refuse(400, "", strings.Repeat("long ", 1000)+chattest.Key), CodeRefused, []string{"…"}},
		"a key in a message": {chattest.Refuse(400, "", "your key "+chattest.Key+" is odd"), CodeRefused, []string{"your key [masked] is odd"}},
		"a redirection": {chattest.With("Location", "https://elsewhere.example.com/", chattest.Refuse(307, "", "")), CodeRefused,
			[]string{"redirects", "OPENAI_BASE_URL"}},
		"in the stream": {chattest.Stream(`data: {"error":{"message":"bad request","code":400}}` + "\n\n"), CodeRefused, []string{"bad request"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, slept := connect(t, chattest.Start(t, tt.turn))
			_, err := e.Run(testContext(t), ask("Go."))
			got := wantError(t, err, tt.code, tt.words...)
			if len(slept.list) > 0 {
				t.Errorf("it was tried again after %v", slept.list)
			}
			if len(got.Reason) > 2*maxErrorText {
				t.Errorf("the reason has %d bytes", len(got.Reason))
			}
		})
	}
}

func TestTheLogNamesTheRequestThatWasRefused(t *testing.T) {
	t.Parallel()
	e, _ := connect(t, chattest.Start(t, chattest.With("X-Request-Id", "req_"+chattest.Key+"\n", chattest.Refuse(400, "", "bad"))))
	_, err := e.Run(testContext(t), ask("Go."))
	got := wantError(t, err, CodeRefused, "bad")
	if got.Detail != "request req_[masked]" || strings.Contains(got.Reason, "req_") {
		t.Errorf("the log says %q, people read %q", got.Detail, got.Reason)
	}
}

func TestWhatPassesIsTriedAgain(t *testing.T) {
	t.Parallel()
	busy := chattest.Refuse(429, "rate_limit_exceeded", "slow down")
	for name, tt := range map[string]struct {
		turn chattest.Turn
		wait time.Duration
	}{
		"a limit without a time":   {busy, 500 * time.Millisecond},
		"a limit in seconds":       {chattest.With("Retry-After", "7", busy), 7 * time.Second},
		"a limit in parts of them": {chattest.With("Retry-After", "0.5", busy), 500 * time.Millisecond},
		"a limit as a date":        {chattest.With("Retry-After", testNow.Add(time.Minute).Format(http.TimeFormat), busy), time.Minute},
		"a date that has passed":   {chattest.With("Retry-After", testNow.Add(-time.Minute).Format(http.TimeFormat), busy), 0},
		"a limit in milliseconds":  {chattest.With("Retry-After-Ms", "250", busy), 250 * time.Millisecond},
		"a time that is none":      {chattest.With("Retry-After", "soon", busy), 500 * time.Millisecond},
		"a server error":           {chattest.Refuse(500, "", "oops"), 500 * time.Millisecond},
		"an overload":              {chattest.With("Retry-After", "3", chattest.Refuse(529, "", "overloaded")), 3 * time.Second},
		"a page of a gateway":      {chattest.RefuseRaw(502, "<html>Bad gateway</html>"), 500 * time.Millisecond},
		"a limit in the stream":    {chattest.Stream(`data: {"error":{"message":"slow down","type":"rate_limit_error"}}` + "\n\n"), 500 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, slept := connect(t, chattest.Start(t, tt.turn, chattest.Say("Now.")))
			answer, err := e.Run(testContext(t), ask("Go."))
			if err != nil || answer.Text != "Now." || !slices.Equal(slept.list, []time.Duration{tt.wait}) {
				t.Errorf("got %q, %v after the waits %v, want one of %v", answer.Text, err, slept.list, tt.wait)
			}
		})
	}
}

func TestTriesEnd(t *testing.T) {
	t.Parallel()
	repeat := func(turn chattest.Turn) []chattest.Turn { return slices.Repeat([]chattest.Turn{turn}, maxTries) }
	t.Run("with a rate limit", func(t *testing.T) {
		t.Parallel()
		e, slept := connect(t, chattest.Start(t, repeat(chattest.With("Retry-After", "60", chattest.Refuse(429, "", "slow down")))...))
		_, err := e.Run(testContext(t), ask("Go."))
		wantError(t, err, CodeRateLimited, "rate limit", "slow down", "tried 6 times", "try again after 2026-03-01 12:01:00 UTC")
		if len(slept.list) != maxTries-1 {
			t.Errorf("it waited %v, want %d waits", slept.list, maxTries-1)
		}
	})
	t.Run("with a failure, at longer and longer intervals", func(t *testing.T) {
		t.Parallel()
		e, slept := connect(t, chattest.Start(t, repeat(chattest.Refuse(503, "", "down"))...))
		_, err := e.Run(testContext(t), ask("Go."))
		wantError(t, err, CodeUpstream, "HTTP 503", "tried 6 times", "later")
		want := []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}
		if !slices.Equal(slept.list, want) {
			t.Errorf("the waits were %v, want %v", slept.list, want)
		}
	})
	t.Run("at once when the wait would be too long", func(t *testing.T) {
		t.Parallel()
		e, slept := connect(t, chattest.Start(t, chattest.With("Retry-After", "1e18", chattest.Refuse(429, "", ""))))
		_, err := e.Run(testContext(t), ask("Go."))
		wantError(t, err, CodeRateLimited, "try again after 2027-03-01 12:00:00 UTC")
		if len(slept.list) > 0 {
			t.Errorf("it waited %v", slept.list)
		}
	})
	t.Run("when the endpoint says so", func(t *testing.T) {
		t.Parallel()
		e, _ := connect(t, chattest.Start(t, chattest.With("X-Should-Retry", "false", chattest.Refuse(500, "", "broken"))))
		_, err := e.Run(testContext(t), ask("Go."))
		wantError(t, err, CodeUpstream, "broken")
	})
	t.Run("with the context", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(testContext(t))
		e, _ := connect(t, chattest.Start(t, chattest.Refuse(500, "", "")), func(o *Options) {
			o.Sleep = func(ctx context.Context, _ time.Duration) error {
				cancel()
				return sleep(ctx, time.Hour)
			}
		})
		if _, err := e.Run(ctx, ask("Go.")); !errors.Is(err, context.Canceled) {
			t.Errorf("it ended with %v", err)
		}
	})
	t.Run("when nobody is there", func(t *testing.T) {
		t.Parallel()
		server := httptest.NewServer(nil)
		server.Close()
		e, err := New(Options{BaseURL: server.URL, Sleep: new(waits).sleep})
		if err != nil {
			t.Fatal(err)
		}
		_, err = e.Run(testContext(t), ask("Go."))
		wantError(t, err, CodeUpstream, "cannot be reached")
		// People in public read the reason, the operator reads the log.
		var failed *Error
		address := strings.TrimPrefix(server.URL, "http://")
		if !errors.As(err, &failed) || strings.Contains(failed.Reason, address) || !strings.Contains(failed.Error(), address) {
			t.Errorf("the reason is %q, the log says %q; only the log shall have the address", failed.Reason, failed)
		}
	})
}

func TestACertificateIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(nil)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	slept := new(waits)
	e, err := New(Options{BaseURL: server.URL, Sleep: slept.sleep})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	_, err = e.Run(testContext(t), ask("Go."))
	wantError(t, err, CodeUpstream, "certificate")
	if len(slept.list) > 0 {
		t.Errorf("it was tried again after %v", slept.list)
	}
}

func TestTheKeyDoesNotFollowARedirection(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 10)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.Header.Get("Authorization") }))
	defer other.Close()
	server := chattest.Start(t, chattest.With("Location", other.URL, chattest.Refuse(307, "", "")))
	server.List(http.RedirectHandler(other.URL, http.StatusFound).ServeHTTP)
	e, _ := connect(t, server)
	if _, err := e.Run(testContext(t), ask("Go.")); err == nil {
		t.Error("the redirection was followed")
	}
	if _, err := e.Models(testContext(t)); err == nil {
		t.Error("the redirection of the list was followed")
	}
	if len(asked) > 0 {
		t.Errorf("another server was asked with %q", <-asked)
	}
}

func TestOptionsThatAreNone(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]Options{
		"a URL of something else":      {BaseURL: "ftp://example.com"},
		"no host":                      {BaseURL: "https://"},
		"no URL":                       {BaseURL: "http://[::1"},
		"a password":                   {BaseURL: "https://user:hidden@example.com/v1"},
		"a query":                      {BaseURL: "https://example.com/v1?key=hidden"},
		"a key of two lines":           {APIKey: "hidden\nhidden"},
		"a key with invisible letters": {APIKey: "hidden\u200b"},
	} {
		if _, err := New(o); err == nil || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	e, err := New(Options{APIKey: " sk-x \n"})
	if err != nil || e.String() != "https://api.openai.com/v1" || e.key != "sk-x" {
		t.Errorf("got %v, %v", e, err)
	}
}

func TestModels(t *testing.T) {
	t.Parallel()
	server := chattest.Start(t)
	e, _ := connect(t, server)
	body := func(contentType, s string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			_, _ = w.Write([]byte(s)) // the client may have gone
		}
	}
	server.List(body("application/json", `{"data":[{"id":"text-embedding-3"},{"id":"big","context_length":200000},{"id":"big"},{"id":""},{"id":"a b"},
		{"id":"small","max_model_len":4096},{"id":"`+strings.Repeat("x", 500)+`"},{"id":7}]}`))
	got, err := e.Models(testContext(t))
	if want := []Model{{"big", 200000}, {"small", 4096}, {"7", 0}, {"text-embedding-3", 0}}; err != nil || !slices.Equal(got, want) && !slices.Equal(got, slices.Delete(want, 2, 3)) {
		t.Errorf("got %v, %v", got, err)
	}
	for name, tt := range map[string]struct {
		handler http.HandlerFunc
		none    bool
	}{
		"not there":   {http.NotFound, true},
		"not allowed": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusMethodNotAllowed) }, true},
		"empty":       {body("application/json", `{"data":[]}`), true},
		"null":        {body("application/json", `null`), true},
		"a page":      {body("text/html", `<html>`), false},
		"not JSON":    {body("application/json", `{"data":`), false},
		"failing":     {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }, false},
		"endless":     {body("application/json", `{"data":[`+strings.Repeat(`{"id":"x"},`, maxListBytes/10)), false},
	} {
		server.List(tt.handler)
		if got, err := e.Models(testContext(t)); err == nil || errors.Is(err, ErrNoList) != tt.none {
			t.Errorf("%s: got %d models, %v", name, len(got), err)
		}
	}
}
