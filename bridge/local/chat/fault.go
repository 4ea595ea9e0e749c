package chat

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/liaison-bot/liaison/bridge/local/chat/completions"
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

// faultOf is about an endpoint that answered with an error.
func (e *Endpoint) faultOf(said *completions.Error) *fault {
	f := e.classify(statusOf(said), said)
	f.after = said.RetryAfter
	if said.Hopeless && f.kind == faultPasses {
		f.kind = faultFinal
	}
	if said.RequestID != "" {
		f.detail = "request " + e.mask(said.RequestID)
	}
	return f
}

// statusOf is the status of an error, or for one that came in a stream, where
// there is none, the one that it would have had.
func statusOf(said *completions.Error) int {
	if said.Status != 0 {
		return said.Status
	}
	if status, err := strconv.Atoi(said.Code); err == nil && status >= 400 && status <= 599 {
		return status
	}
	mark := strings.ToLower(said.Code + said.Type)
	switch {
	case strings.Contains(mark, "rate_limit"), strings.Contains(mark, "ratelimit"):
		return http.StatusTooManyRequests
	case strings.Contains(mark, "invalid_request"):
		return http.StatusBadRequest
	}
	return http.StatusInternalServerError
}

// classify decides what can be done about a refusal.
func (e *Endpoint) classify(status int, said *completions.Error) *fault {
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

// requestFault is about a request that got no answer, or not all of one.
func (e *Endpoint) requestFault(err error) *fault {
	f := &fault{kind: faultPasses, code: CodeUpstream, after: -1}
	var said *completions.Error
	var certificate *tls.CertificateVerificationError
	var outer *url.Error
	switch {
	case errors.As(err, &said):
		return e.faultOf(said)
	case errors.As(err, &certificate):
		f.kind = faultFinal
		f.reason = "the certificate of the model endpoint cannot be trusted"
		f.detail = e.mask(certificate.Error())
	case errors.Is(err, completions.ErrTooLarge):
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
