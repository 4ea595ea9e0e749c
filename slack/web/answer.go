package web

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
)

// answer takes the body of a call's answer, for the call that made it.
type answer struct {
	method string
	body   []byte
}

type answerKey struct{}

func withAnswer(ctx context.Context, a *answer) context.Context {
	return context.WithValue(ctx, answerKey{}, a)
}

// reader is the HTTP client that slack-go gets. It judges answers by their bytes,
// leaves them with the call, and lets slack-go see no more than that all is well.
type reader struct {
	http   *http.Client
	random func() float64
}

// Do implements slack-go's httpClient. Its errors are [*Error].
func (r *reader) Do(req *http.Request) (*http.Response, error) {
	a, _ := req.Context().Value(answerKey{}).(*answer)
	if a == nil {
		a = &answer{}
	}
	got, err := r.exchange(req, a.method)
	if err != nil {
		return nil, err
	}
	if err := r.judge(got, a.method); err != nil {
		return nil, err
	}
	a.body = got.body
	return &http.Response{
		StatusCode: got.status, Header: http.Header{"Content-Type": {"application/json"}},
		Request: req, Body: io.NopCloser(strings.NewReader(`{"ok":true}`)),
	}, nil
}

// received is an answer, read to its end.
type received struct {
	status int
	header http.Header
	body   []byte
}

// exchange makes a request and reads the whole answer. An error says whether
// anything can have reached Slack.
func (r *reader) exchange(req *http.Request, method string) (received, error) {
	var asked, wrote atomic.Bool
	ctx := httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
		GetConn:      func(string) { asked.Store(true) },
		WroteHeaders: func() { wrote.Store(true) },
	})
	fail := func(err error) error {
		class := ErrAmbiguous
		if asked.Load() && !wrote.Load() || neverSent(err) {
			class = ErrUnsent
		}
		return &Error{Class: class, Method: method, Err: withoutURL(err)}
	}
	resp, err := r.http.Do(req.WithContext(ctx))
	if err != nil {
		return received{}, fail(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err == nil && len(body) > maxAnswer {
		err = fmt.Errorf("the answer is larger than %d MiB", maxAnswer>>20)
	}
	if err != nil {
		return received{}, fail(err)
	}
	return received{resp.StatusCode, resp.Header, body}, nil
}

// neverSent reports whether no connection came about. Whatever else breaks may
// break after Slack has heard of it.
func neverSent(err error) bool {
	var (
		network *net.OpError
		name    *net.DNSError
		cert    *tls.CertificateVerificationError
	)
	return errors.As(err, &network) && (network.Op == "dial" || network.Op == "proxyconnect") ||
		errors.As(err, &name) || errors.As(err, &cert)
}

// withoutURL leaves out the address, which may be a credential.
func withoutURL(err error) error {
	var call *url.Error
	if errors.As(err, &call) {
		return call.Err
	}
	return err
}

// judge returns the failure that an answer is, or nil. Slack's status is 200 for
// failures too, except for 429.
func (r *reader) judge(got received, method string) error {
	if got.status == http.StatusTooManyRequests {
		return &Error{Class: ErrLimited, Method: method, After: got.wait(r.random)}
	}
	if got.status != http.StatusOK {
		return &Error{Class: ErrAmbiguous, Method: method, Err: fmt.Errorf("the answer's status is %d", got.status)}
	}
	var said struct {
		OK       *bool           `json:"ok"`
		Error    string          `json:"error"`
		Needed   json.RawMessage `json:"needed"`
		Metadata json.RawMessage `json:"response_metadata"`
	}
	if err := json.Unmarshal(got.body, &said); err != nil || said.OK == nil {
		return &Error{Class: ErrAmbiguous, Method: method, Err: errors.New("the answer is none of Slack's: " + got.kind())}
	}
	if *said.OK {
		return nil
	}
	if said.Error == "" {
		return &Error{Class: ErrAmbiguous, Method: method, Err: errors.New(`the answer is "not ok" and names no error`)}
	}
	failure := &Error{Class: classOf(said.Error), Method: method, Code: word(said.Error), Details: details(said.Metadata)}
	var needed string
	if json.Unmarshal(said.Needed, &needed) == nil {
		failure.Needed = word(needed)
	}
	if errors.Is(failure, ErrLimited) {
		failure.After = got.wait(r.random)
	}
	return failure
}

// kind says what an answer is, without its text.
func (a received) kind() string {
	kind, _, _ := strings.Cut(a.header.Get("Content-Type"), ";")
	if kind = word(strings.TrimSpace(kind)); kind == "" {
		kind = "no content type"
	}
	return fmt.Sprintf("%s, %d bytes", kind, len(bytes.TrimSpace(a.body)))
}

// word cuts a name of Slack's to one that can stand in a log.
func word(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, s[:min(len(s), maxDetail)])
}

// details are Slack's words about what it refuses.
func details(metadata json.RawMessage) []string {
	var said struct {
		Messages []string `json:"messages"`
	}
	if json.Unmarshal(metadata, &said) != nil {
		return nil
	}
	var all []string
	for _, m := range said.Messages[:min(len(said.Messages), maxDetails)] {
		if m = word(m); m != "" {
			all = append(all, m)
		}
	}
	return all
}
