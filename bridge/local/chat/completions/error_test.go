package completions

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		body string
		want Error
	}{
		"by the specification":  {`{"error":{"message":"no","type":"invalid_request_error","code":"model_not_found","param":null}}`, Error{Message: "no", Type: "invalid_request_error", Code: "model_not_found"}},
		"a code that is digits": {`{"error":{"message":"no","code":400}}`, Error{Message: "no", Code: "400"}},
		"a text":                {`{"error":"no"}`, Error{Message: "no"}},
		"no envelope":           {`{"message":"no","code":null}`, Error{Message: "no"}},
		"a detail":              {`{"detail":[{"msg":"required"}]}`, Error{Message: `[{"msg":"required"}]`}},
		"a list":                {` [{"error":{"message":"no"}}] `, Error{Message: "no"}},
		"an error that is null": {`{"error":null,"message":"no"}`, Error{}},
		"plain text":            {"no\n", Error{Message: "no"}},
		"a page":                {"<html>no</html>", Error{}},
		"nothing":               {"", Error{}},
		"too much":              {strings.Repeat("x", 2*testLimits.Error), Error{Message: strings.Repeat("x", testLimits.Error)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, ctx := connect(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("X-Request-Id", "req_1")
				w.WriteHeader(http.StatusTeapot)
				_, _ = w.Write([]byte(tt.body)) // the client may have gone
			})
			tt.want.Status, tt.want.RequestID, tt.want.RetryAfter = http.StatusTeapot, "req_1", -1
			_, err := c.Stream(ctx, Request{}, nil)
			var e *Error
			if !errors.As(err, &e) || *e != tt.want {
				t.Errorf("got %+v\nwant %+v", err, tt.want)
			}
			if _, err := c.Models(ctx); !errors.As(err, &e) || *e != tt.want {
				t.Errorf("the list: got %+v\nwant %+v", err, tt.want)
			}
		})
	}
}

func TestTheTextOfAnErrorLeavesTheEndpointsWordsOut(t *testing.T) {
	t.Parallel()
	e := &Error{Status: 401, Message: "wrong key " + key, Type: key, Code: key, RequestID: "req_1"}
	if got, want := e.Error(), `the endpoint answered with HTTP 401 (request "req_1")`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := (&Error{Message: key}).Error(), "the endpoint reported an error"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestHowLongToWait(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		header, value string
		want          time.Duration
	}{
		"nothing":       {"X-Other", "1", -1},
		"seconds":       {"Retry-After", " 7 ", 7 * time.Second},
		"parts of them": {"Retry-After", "0.5", 500 * time.Millisecond},
		"milliseconds":  {"Retry-After-Ms", "250", 250 * time.Millisecond},
		"a date":        {"Retry-After", testNow.Add(time.Minute).Format(http.TimeFormat), time.Minute},
		"a past date":   {"Retry-After", testNow.Add(-time.Minute).Format(http.TimeFormat), 0},
		"a past number": {"Retry-After", "-3", -1},
		"no number":     {"Retry-After", "NaN", -1},
		"an absurdity":  {"Retry-After", "1e300", 365 * 24 * time.Hour},
		"words":         {"Retry-After", "soon", -1},
	} {
		if got := retryAfter(http.Header{tt.header: {tt.value}}, testNow); got != tt.want {
			t.Errorf("%s: got %v, want %v", name, got, tt.want)
		}
	}
}

func TestAnEndpointMaySayThatItIsHopeless(t *testing.T) {
	t.Parallel()
	c, ctx := connect(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Should-Retry", "false")
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	var e *Error
	if _, err := c.Models(ctx); !errors.As(err, &e) || !e.Hopeless {
		t.Errorf("got %+v", err)
	}
}
