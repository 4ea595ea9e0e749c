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

// readRefusal reads the reason from resp.
func readRefusal(resp *http.Response) refusal {
	var r refusal
	if json.Unmarshal(peek(resp), &r) != nil || r.Message == "" {
		r.Message = resp.Status
	}
	return r
}

// peek reads up to maxErrorBody of a body and puts it back for the next reader.
// What breaks off comes out as no JSON, and breaks off there again.
func peek(resp *http.Response) []byte {
	head, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	rest := resp.Body
	var more io.Reader = rest
	if err != nil {
		more = failure{err}
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(head), more), rest}
	if err != nil {
		return nil
	}
	return head
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
	wait, named := retryAfter(resp.Header.Get("Retry-After"), now)
	// What is not permitted may be the last request of the hour.
	spent := resp.Header.Get("X-RateLimit-Remaining") == "0" && !strings.Contains(message, "not accessible by")
	resource := resp.Header.Get("X-RateLimit-Resource")
	secondary := saysSecondary(message) ||
		strings.Contains(r.DocumentationURL, "secondary-rate-limits") || strings.Contains(r.DocumentationURL, "abuse-rate-limits")
	switch {
	case secondary, named, !spent && resp.StatusCode == http.StatusTooManyRequests:
		// A secondary limit may say "remaining: 0" as well; the reset is not its end.
		return &LimitError{Secondary: true, After: wait, Message: r.Message}, true
	case spent, strings.Contains(message, "rate limit exceeded"):
		return &LimitError{After: untilReset(resp.Header.Get("X-RateLimit-Reset"), now), Resource: resource, Message: r.Message}, true
	}
	return nil, false
}

// coreResource is GitHub's name for the limit that most of the REST API shares.
const coreResource = "core"

// saysSecondary reports whether a message in lower case speaks of a limit on bursts.
// The last is how requests to create content were refused, and still are in GraphQL.
func saysSecondary(message string) bool {
	return strings.Contains(message, "secondary rate limit") || strings.Contains(message, "abuse detection") ||
		strings.Contains(message, "submitted too quickly")
}

// limitedQuery reports whether an answer of the GraphQL API, whose status is 200
// whatever it says, is a rate limit.
// https://docs.github.com/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api#exceeding-the-rate-limit
func limitedQuery(resp *http.Response, now time.Time) (*LimitError, bool) {
	var said struct {
		Errors []struct{ Type, Message string } `json:"errors"`
	}
	_ = json.Unmarshal(peek(resp), &said) // what is no answer says nothing of a limit
	if date, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		now = date
	}
	for _, e := range said.Errors {
		switch {
		case saysSecondary(strings.ToLower(e.Message)):
			wait, _ := retryAfter(resp.Header.Get("Retry-After"), now)
			return &LimitError{Secondary: true, After: wait, Message: e.Message}, true
		case strings.EqualFold(e.Type, "RATE_LIMITED"), strings.EqualFold(e.Type, "RATE_LIMIT"):
			return &LimitError{After: untilReset(resp.Header.Get("X-RateLimit-Reset"), now), Resource: "graphql", Message: e.Message}, true
		}
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
