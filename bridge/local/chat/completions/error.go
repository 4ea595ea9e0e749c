package completions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Error is what an endpoint answers instead of a completion.
type Error struct {
	// Status is that of HTTP, 0 for an error that came in an answer.
	Status int
	// Message, Type and Code are the endpoint's own words, as they came: the message
	// can repeat what was sent, the key as well. A code that was a number is its digits.
	Message, Type, Code string
	// RequestID is by what the endpoint's operator finds the request; empty when unknown.
	RequestID string
	// RetryAfter is how long the endpoint wants to be left alone, negative when it
	// did not say.
	RetryAfter time.Duration
	// Hopeless is set when the endpoint says that trying again is of no use.
	Hopeless bool
}

// Error leaves the endpoint's words out, since they can hold what is secret.
func (e *Error) Error() string {
	text := "the endpoint reported an error"
	if e.Status != 0 {
		text = fmt.Sprintf("the endpoint answered with HTTP %d", e.Status)
	}
	if e.RequestID != "" {
		text += fmt.Sprintf(" (request %.100q)", e.RequestID)
	}
	return text
}

// refusal reads an answer that is none.
func (c *Client) refusal(res *http.Response) *Error {
	body, _ := io.ReadAll(io.LimitReader(res.Body, int64(c.o.Limits.Error))) // what there is of it will do
	e := readRefusal(body)
	e.Status = res.StatusCode
	e.RequestID = res.Header.Get("X-Request-Id")
	e.RetryAfter = retryAfter(res.Header, c.o.Now())
	e.Hopeless = res.Header.Get("X-Should-Retry") == "false"
	return e
}

// readRefusal reads {"error":{…}}, {"error":"…"}, {"message":…}, {"detail":…}, a
// list of one of them, or plain text.
func readRefusal(body []byte) *Error {
	e := &Error{RetryAfter: -1}
	body = bytes.TrimSpace(body)
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var outer map[string]json.RawMessage
	if json.Unmarshal(body, &outer) != nil {
		if !bytes.HasPrefix(body, []byte("<")) { // else a page of some proxy
			e.Message = string(body)
		}
		return e
	}
	inner := outer
	if raw, ok := outer["error"]; ok {
		if json.Unmarshal(raw, &inner) != nil {
			e.Message = plain(raw)
			return e
		}
	}
	if e.Message = plain(inner["message"]); e.Message == "" {
		e.Message = plain(inner["detail"])
	}
	e.Type, e.Code = plain(inner["type"]), plain(inner["code"])
	return e
}

// plain is a JSON value as text: a string without its quotes, others as they are.
func plain(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// retryAfter reads how long to wait; negative when the endpoint does not say.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms >= 0 {
		return seconds(ms / 1000)
	}
	given := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(given, 64); err == nil && s >= 0 {
		return seconds(s)
	}
	if at, err := http.ParseTime(given); err == nil {
		return max(at.Sub(now), 0)
	}
	return -1
}

// seconds is a number of seconds that may be absurd.
func seconds(s float64) time.Duration {
	const day = 24 * 60 * 60
	return time.Duration(min(s, 365*day) * float64(time.Second))
}
