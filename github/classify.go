package github

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// refusal is the part of GitHub's error body that says why.
type refusal struct {
	Message          string `json:"message"`
	DocumentationURL string `json:"documentation_url"`
}

// readRefusal reads the reason from resp and puts the body back for the next reader.
func readRefusal(resp *http.Response) refusal {
	head, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	rest := resp.Body
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(head), rest), rest}
	var r refusal
	if err != nil || json.Unmarshal(head, &r) != nil || r.Message == "" {
		r.Message = resp.Status
	}
	return r
}

// limited reports whether resp is a rate limit, and how long to wait. GitHub
// says so by 429 or 403, with headers or in words only, and it has changed the
// link that libraries go by (https://github.com/google/go-github/pull/3001), so
// that all the signs count.
func limited(resp *http.Response, r refusal, now time.Time) (*LimitError, bool) {
	if resp.StatusCode != http.StatusForbidden && resp.StatusCode != http.StatusTooManyRequests {
		return nil, false
	}
	now = serverTime(resp, now) // the reset is a time of GitHub's clock
	message := strings.ToLower(r.Message)
	secondary := strings.Contains(message, "secondary rate limit") || strings.Contains(message, "abuse detection") ||
		strings.Contains(r.DocumentationURL, "secondary-rate-limits") || strings.Contains(r.DocumentationURL, "abuse-rate-limits")
	wait, named := retryAfter(resp.Header.Get("Retry-After"), now)
	spent := resp.Header.Get("X-RateLimit-Remaining") == "0"
	switch {
	case secondary, named, !spent && resp.StatusCode == http.StatusTooManyRequests:
		// A secondary limit may say "remaining: 0" as well; the reset is not its end.
		return &LimitError{Secondary: true, After: wait, Message: r.Message}, true
	case spent, strings.Contains(message, "rate limit exceeded"):
		return &LimitError{After: untilReset(resp.Header.Get("X-RateLimit-Reset"), now), Message: r.Message}, true
	}
	return nil, false
}

// retryAfter reads a Retry-After header, in seconds or as a date, and reports
// whether there was one. Without it the wait is unknownWait.
func retryAfter(header string, now time.Time) (time.Duration, bool) {
	if header = strings.TrimSpace(header); header == "" {
		return unknownWait, false
	}
	if seconds, err := strconv.ParseInt(header, 10, 32); err == nil {
		return clampWait(time.Duration(seconds) * time.Second), true
	}
	if date, err := http.ParseTime(header); err == nil {
		return clampWait(date.Sub(now)), true
	}
	return unknownWait, true
}

func untilReset(header string, now time.Time) time.Duration {
	seconds, err := strconv.ParseInt(header, 10, 64)
	if err != nil {
		return unknownWait
	}
	return clampWait(time.Unix(seconds, 0).Sub(now) + time.Second)
}

func clampWait(d time.Duration) time.Duration {
	return min(max(d, time.Second), maxWait)
}

// suspended reports whether a refusal is that of a suspended installation.
func suspended(statusCode int, r refusal) bool {
	return statusCode == http.StatusForbidden && strings.Contains(strings.ToLower(r.Message), "suspended")
}
