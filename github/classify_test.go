package github

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// The last request of the hour may be one that is not permitted; waiting for
// the next hour would not change the answer.
func TestARefusalThatUsedUpTheHourIsARefusal(t *testing.T) {
	t.Parallel()
	for message, limit := range map[string]bool{
		"Resource not accessible by integration":         false,
		"API rate limit exceeded for installation ID 31": true,
		"Forbidden": true,
	} {
		resp := &http.Response{StatusCode: http.StatusForbidden, Header: http.Header{}}
		resp.Header.Set("X-RateLimit-Remaining", "0")
		if _, got := limited(resp, refusal{Message: message}, time.Now()); got != limit {
			t.Errorf("%q: limit=%t", message, got)
		}
	}
}

// GitHub changed the link that names a secondary limit twice
// (https://github.com/google/go-github/pull/2229, https://github.com/google/go-github/pull/3001).
func TestSecondaryLimitsAreKnownByEachLink(t *testing.T) {
	t.Parallel()
	for _, link := range []string{
		"https://developer.github.com/v3/#abuse-rate-limits",
		"https://docs.github.com/en/rest/overview/resources-in-the-rest-api#secondary-rate-limits",
		"https://docs.github.com/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits",
		"https://docs.github.com/free-pro-team@latest/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits",
	} {
		resp := &http.Response{StatusCode: http.StatusForbidden, Header: http.Header{}}
		got, ok := limited(resp, refusal{Message: "Forbidden", DocumentationURL: link}, time.Now())
		if !ok || !got.Secondary || got.After != unknownWait {
			t.Errorf("%s: %+v, %t", link, got, ok)
		}
	}
}

// GraphQL says 200 to everything.
func TestLimitsOfGraphQL(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, c := range map[string]struct {
		body  string
		after time.Duration // zero: no limit
	}{
		"hourly":      {`{"data":null,"errors":[{"type":"RATE_LIMITED","message":"API rate limit exceeded"}]}`, 10*time.Minute + time.Second},
		"secondary":   {`{"errors":[{"type":"FORBIDDEN","message":"You have exceeded a secondary rate limit."}]}`, unknownWait},
		"too quickly": {`{"errors":[{"type":"UNPROCESSABLE","message":"was submitted too quickly"}]}`, unknownWait},
		"other error": {`{"errors":[{"type":"NOT_FOUND","message":"no such node"}]}`, 0},
		"all is well": {`{"data":{"viewer":{"login":"RATE_LIMITED"}}}`, 0},
		"no JSON":     {`<html>`, 0},
	} {
		resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(c.body))}
		resp.Header.Set("X-RateLimit-Reset", strconv.FormatInt(now.Add(10*time.Minute).Unix(), 10))
		got, ok := limitedQuery(resp, now)
		if ok != (c.after != 0) || ok && got.After != c.after {
			t.Errorf("%s: %+v, %t", name, got, ok)
		}
		if rest, err := io.ReadAll(resp.Body); err != nil || string(rest) != c.body {
			t.Errorf("%s: the body reads as %q, %v afterwards", name, rest, err)
		}
	}
}

// What GraphQL's own budget ends must not stop the REST API.
func TestALimitOfGraphQLStopsNothingElse(t *testing.T) {
	t.Parallel()
	c := &circuit{now: time.Now, log: textLogger(&logBuffer{}), open: map[int64]*breach{}}
	c.note(installation, &LimitError{Resource: "graphql", After: time.Hour})
	if err := c.check(installation); err != nil {
		t.Errorf("closed by %v", err)
	}
	c.note(installation, &LimitError{Resource: coreResource, After: time.Hour})
	if err := c.check(installation); err == nil {
		t.Error("the shared limit closes nothing")
	}
}

// An unsuspended installation is used again at once when GitHub tells of it
// (https://github.com/Mergifyio/mergify/pull/1462).
func TestTheEndOfASuspensionIsHeardOf(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.Suspend(installation)
		start := w.items(w.turn("trn_1"), started)[0]
		_, err := w.deliver(start)
		wantRetry(t, err)
		w.Unsuspend(installation)
		if _, err := w.deliver(start); err == nil {
			t.Fatal("nobody said that the suspension is over")
		}
		w.channel.Resumed(installation)
		w.mustDeliver(start)
		w.channel.Resumed(installation + 1) // of which nothing is known
		if n := w.logs.count("is open to us again"); n != 1 {
			t.Errorf("%d log lines", n)
		}
	})
}

// Work that can wait leaves what is left of the hour to reviews.
func TestBackgroundWorkStandsBackWhenLittleIsLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		q := w.channel.app.quota
		if !q.spare(installation) {
			t.Error("of an installation of which nothing is known")
		}
		for remaining, want := range map[int]bool{1001: true, 999: false} {
			w.SetRateLimit(remaining, time.Now().Add(20*time.Minute))
			must(t, w.getPull())
			if q.spare(installation) != want {
				t.Errorf("with %d of 5000 left: spare=%t", remaining, !want)
			}
		}
		time.Sleep(21 * time.Minute)
		if !q.spare(installation) {
			t.Error("after the reset")
		}
	})
}

// What broke off while it was looked into is seen to break off by the next reader.
func TestALookIntoABodyHidesNoFailure(t *testing.T) {
	t.Parallel()
	resp := &http.Response{Body: io.NopCloser(io.MultiReader(strings.NewReader("half"), failure{io.ErrUnexpectedEOF}))}
	if got := peek(resp); got != nil {
		t.Errorf("looked at %q", got)
	}
	if got, err := io.ReadAll(resp.Body); string(got) != "half" || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("read %q, %v", got, err)
	}
}
