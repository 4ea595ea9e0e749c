package chat

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// The codes of an [Error].
const (
	CodeUnauthorized   = "unauthorized"
	CodeRateLimited    = "rate_limited"
	CodeQuotaExceeded  = "quota_exceeded"
	CodeUpstream       = "upstream_error"
	CodeRefused        = "request_refused"
	CodeModelNotFound  = "model_not_found"
	CodeContextTooLong = "context_too_long"
	CodeContentFilter  = "content_filter"
	CodeOutputLimit    = "output_limit"
	CodeEmptyAnswer    = "empty_answer"
	CodeMalformedCalls = "malformed_tool_calls"
	CodeStepLimit      = "step_limit"
)

// Error is why a run failed.
type Error struct {
	// Code is one of the constants.
	Code string
	// Reason is for a person: what happened, and what to do. It may be shown in
	// public, so it names no host.
	Reason string
	// Detail is for the operator's log; empty when there is no more to say.
	Detail string
}

// Error is for logs.
func (e *Error) Error() string {
	if e.Detail == "" {
		return e.Reason
	}
	return e.Reason + ": " + e.Detail
}

// fault is why one request failed.
type fault struct {
	kind faultKind
	// status is that of HTTP, 0 when there was none.
	status  int
	message string
	// after is how long the endpoint wants to be left alone; negative when it did not say.
	after time.Duration
	// silent is set when nothing came for too long.
	silent bool
	// code and reason are those of the [Error] when the request is not made again.
	code, reason string
	// detail is the Detail of it.
	detail string
}

// tries is how often a request is made that fails like this.
func (f *fault) tries() int {
	if f.silent {
		return maxSilent
	}
	return maxTries
}

// faultKind is what can be done about a fault.
type faultKind int

const (
	faultFinal     faultKind = iota
	faultPasses              // try again
	faultRateLimit           // try again when the endpoint says so
	faultTooLong             // make the conversation shorter
	faultNoUsage             // do not ask for the count of tokens
)

func (f *fault) Error() string { return f.reason }

// faultOf reads an answer that is none.
func (e *Endpoint) faultOf(res *http.Response) *fault {
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxErrorBytes)) // what there is of it will do
	said := readRefusal(body)
	f := e.classify(res.StatusCode, said)
	f.after = retryAfter(res.Header, e.now())
	if res.Header.Get("X-Should-Retry") == "false" && f.kind == faultPasses {
		f.kind = faultFinal
	}
	return f
}

// refusal is an error as endpoints write it.
type refusal struct {
	Message string
	Type    string
	Code    string
}

// readRefusal reads {"error":{…}}, {"error":"…"}, {"message":…}, {"detail":…}, a
// list of one of them, or plain text.
func readRefusal(body []byte) refusal {
	body = bytes.TrimSpace(body)
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var outer map[string]json.RawMessage
	if json.Unmarshal(body, &outer) != nil {
		if bytes.HasPrefix(body, []byte("<")) {
			return refusal{} // a page of some proxy
		}
		return refusal{Message: string(body)}
	}
	inner := outer
	if raw, ok := outer["error"]; ok {
		if json.Unmarshal(raw, &inner) != nil {
			return refusal{Message: plain(raw)}
		}
	}
	message := plain(inner["message"])
	if message == "" {
		message = plain(inner["detail"])
	}
	return refusal{Message: message, Type: plain(inner["type"]), Code: plain(inner["code"])}
}

// plain is a JSON value as text: a string without its quotes, others as they are.
func plain(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	if string(raw) == "null" {
		return ""
	}
	return string(raw)
}

// classify decides what can be done about a refusal.
func (e *Endpoint) classify(status int, said refusal) *fault {
	f := &fault{status: status, message: said.Message, after: -1, code: CodeRefused}
	text := strings.ToLower(said.Code + " " + said.Type + " " + said.Message)
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(text, p) {
				return true
			}
		}
		return false
	}
	answer := fmt.Sprintf("HTTP %d", status)
	switch {
	case status >= 300 && status < 400:
		f.reason = fmt.Sprintf("the model endpoint redirects (%s), which is not followed with a key; set OPENAI_BASE_URL to where it leads", answer)
	case status == 401 || status == 403 && !has("model", "region", "country"):
		f.code = CodeUnauthorized
		f.reason = fmt.Sprintf("the model endpoint refused the key (%s); check OPENAI_API_KEY", answer)
	case status == 402, has("insufficient_quota", "insufficient balance", "insufficient credits", "billing_hard_limit"):
		f.code = CodeQuotaExceeded
		f.reason = fmt.Sprintf("the account at the model endpoint has no quota left (%s); check its plan and billing%s", answer, e.quoted(said.Message))
	case status == 413, has(tooLongMarks...):
		f.kind, f.code = faultTooLong, CodeContextTooLong
		f.reason = "the conversation does not fit the model's context, even after it was shortened; use a model with a larger one" + e.quoted(said.Message)
	case (status == 400 || status == 422) && has("stream_options", "include_usage"):
		f.kind = faultNoUsage
		f.reason = fmt.Sprintf("the model endpoint refused the request (%s)%s", answer, e.quoted(said.Message))
	case status == 429:
		f.kind, f.code = faultRateLimit, CodeRateLimited
		f.reason = fmt.Sprintf("the model endpoint is at its rate limit (%s)%s", answer, e.quoted(said.Message))
	case status == 408 || status == 409 || status == 425 || status >= 500 && status != 501:
		f.kind, f.code = faultPasses, CodeUpstream
		f.reason = fmt.Sprintf("the model endpoint failed (%s)%s", answer, e.quoted(said.Message))
	case has("content_filter", "content_policy", "content management policy"):
		f.code = CodeContentFilter
		f.reason = fmt.Sprintf("the model endpoint refused the content (%s)%s", answer, e.quoted(said.Message))
	case has("model_not_found", "model not found"), status == 404 && has("model"), status == 403:
		f.code = CodeModelNotFound
		f.reason = fmt.Sprintf("the model endpoint does not offer this model (%s); choose one that it lists%s", answer, e.quoted(said.Message))
	case status == 404 || status == 405 || status == 501:
		f.reason = fmt.Sprintf("the model endpoint has no chat completions (%s); OPENAI_BASE_URL is what comes before /chat/completions", answer)
	default:
		f.reason = fmt.Sprintf("the model endpoint refused the request (%s)%s", answer, e.quoted(said.Message))
	}
	return f
}

// tooLongMarks are how endpoints say that a request is too long. Few give the
// code of the specification, which is the first.
var tooLongMarks = []string{
	"context_length_exceeded", "context length", "context window", "context size", "maximum context", "max_model_len",
	"too many tokens", "too many input tokens", "prompt is too long", "input is too long", "prompt too long", "token count exceeds", "exceeds the maximum number of tokens",
	"reduce the length", "request too large", "request_too_large", "string_above_max_length",
}

// streamFault reads an error that came in a stream, where there is no status.
func (e *Endpoint) streamFault(body []byte) *fault {
	said := readRefusal(body)
	status, err := strconv.Atoi(said.Code)
	if err != nil || status < 400 || status > 599 {
		status = http.StatusInternalServerError
		if mark := strings.ToLower(said.Code + said.Type); strings.Contains(mark, "rate_limit") || strings.Contains(mark, "ratelimit") {
			status = http.StatusTooManyRequests
		} else if strings.Contains(mark, "invalid_request") {
			status = http.StatusBadRequest
		}
	}
	return e.classify(status, said)
}

// transportFault is about a request that got no answer, or not all of it.
func (e *Endpoint) transportFault(err error) *fault {
	f := &fault{kind: faultPasses, code: CodeUpstream, after: -1}
	var already *fault
	var certificate *tls.CertificateVerificationError
	var outer *url.Error
	switch {
	case errors.As(err, &already):
		return already
	case errors.As(err, &certificate):
		f.kind = faultFinal
		f.reason = "the certificate of the model endpoint cannot be trusted"
		f.detail = e.mask(certificate.Error())
	case errors.Is(err, errTooMuch), errors.Is(err, bufio.ErrTooLong):
		f.kind = faultFinal
		f.reason = fmt.Sprintf("the model endpoint sent more than one answer may have, %d MiB of text", maxTextBytes>>20)
	case errors.Is(err, errIdle):
		f.silent = true
		f.reason = fmt.Sprintf("the model endpoint sent nothing for %v", e.idle)
	case errors.As(err, &outer):
		f.reason = "the model endpoint cannot be reached"
		f.detail = e.mask(outer.Err.Error())
	default:
		f.reason = "the answer of the model endpoint broke off"
		f.detail = e.mask(err.Error())
	}
	return f
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

// final is the fault as the end of the run, after a number of tries.
func (f *fault) final(tries int, now time.Time) *Error {
	out := &Error{Code: f.code, Reason: f.reason, Detail: f.detail}
	if tries > 1 {
		out.Reason += fmt.Sprintf("; tried %d times", tries)
	}
	if f.after >= 0 && (f.kind == faultRateLimit || f.kind == faultPasses) {
		out.Reason += "; try again after " + now.Add(f.after).UTC().Format("2006-01-02 15:04:05 MST")
	} else if f.kind == faultRateLimit || f.kind == faultPasses {
		out.Reason += "; try again later"
	}
	return out
}

// wait is how long to wait before another try; false when that is longer than a
// run should.
func (e *Endpoint) wait(f *fault, tries int) (time.Duration, bool) {
	if f.after > maxRetryAfter {
		return 0, false
	}
	if f.after >= 0 {
		// A little later than asked, so that not everyone comes back at once.
		return f.after + time.Duration(e.random()*float64(time.Second)), true
	}
	longest := min(firstWait<<(tries-1), longestWait)
	return longest/2 + time.Duration(e.random()*float64(longest/2)), true
}
